// Package lab runs Tombolo's lab: real control planes and GitOps controllers
// as host processes, behind stand-ins for the cloud, the Git server and the
// chart repository.
//
// One daemon (Serve) supervises all of it. Up starts the daemon, Down ends it,
// and both live in the checkout: state in .lab, tools in .tools.
package lab

import (
	"path/filepath"

	"tombolo/lab/control"
)

// The account and region that the lab's stand-in answers for.
const (
	Account = "111122223333"
	Region  = "eu-central-1"
)

// ErrNotRunning is wrapped by what needs a running lab.
var ErrNotRunning = control.ErrNotRunning

// ErrHangs is wrapped by what needs a lab that answers.
var ErrHangs = control.ErrHangs

// Lab is the lab of one checkout.
type Lab struct{ root string }

// daemon is who answers for the lab.
func (l *Lab) daemon() control.Client { return control.Client{File: l.paths().daemon()} }

// Open returns the lab of a checkout. It starts nothing and makes no files.
func Open(root string) *Lab {
	if abs, err := filepath.Abs(root); err == nil {
		root = abs
	}
	return &Lab{root: root}
}

// Status is what the lab consists of now.
type Status = control.Status

// Endpoint, Process and Item are what a status has.
type (
	// Endpoint is something the lab serves.
	Endpoint = control.Endpoint
	// Process is a supervised process.
	Process = control.Process
	// Item is a resource that exists in the account.
	Item = control.Item
)

// Step is the progress of Up and Down.
type Step = control.Step

// The states of a step.
const (
	StepDoing  = control.StepDoing
	StepDone   = control.StepDone
	StepFailed = control.StepFailed
	StepNote   = control.StepNote
)

// Processes lists the names that have a log, whether they run or not.
func (l *Lab) Processes() ([]string, error) { return control.Processes(l.root) }

// LogFile is the path of a process's log. An unknown process is an error that
// lists the known ones.
func (l *Lab) LogFile(process string) (string, error) { return control.LogFile(l.root, process) }
