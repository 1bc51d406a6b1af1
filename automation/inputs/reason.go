package inputs

import (
	"fmt"
	"strings"
)

// Input is a kind of what an up of a cluster depends on.
type Input string

// The inputs of a cluster.
const (
	// ClusterFile is the cluster's own file.
	ClusterFile Input = "cluster file"
	// SharedFile is a file of settings that clusters share, by which the cluster, or a spoke's hub,
	// is another one.
	SharedFile Input = "shared settings"
	// HubFile is the file of a spoke's hub.
	HubFile Input = "hub's cluster file"
	// NamedFile is a file that the cluster file names: the engine's install
	// manifest, or a secret.
	NamedFile Input = "file it names"
	// StackFile is the file of a cluster, or an account, whose stack the cluster takes
	// values from.
	StackFile Input = "file of a stack it reads"
	// Settings are the files Pulumi.<stack>.yaml.
	Settings Input = "stack settings"
	// OwnStack is the file that names own stacks, and what is in the directories of their programs.
	OwnStack Input = "own stack"
	// ProjectFile is Pulumi.yaml.
	ProjectFile Input = "project file"
	// Program is the source of the stacks, and all other of Go.
	Program Input = "program"
	// Modules are go.mod and go.sum: what the program is built with.
	Modules Input = "modules"
	// Tree is the platform tree.
	Tree Input = "platform tree"
)

// Reason is an input that is not what it was.
type Reason struct {
	Input   Input    `json:"input"`
	Changes []Change `json:"changes"`
}

// Change is one file that is not what it was.
type Change struct {
	// Name is the file's path, below the project's directory where it is in it.
	Name string `json:"name"`
	// How it differs: added, changed or removed.
	How string `json:"how"`
}

// shown is how many changes a line of text names.
const shown = 3

// String is a line such as "program: stacks/core/core.go changed and 2 more".
func (r Reason) String() string {
	var parts []string
	for _, c := range r.Changes[:min(shown, len(r.Changes))] {
		parts = append(parts, c.Name+" "+c.How)
	}
	text := fmt.Sprintf("%s: %s", r.Input, strings.Join(parts, ", "))
	if more := len(r.Changes) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
