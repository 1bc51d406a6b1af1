package trees

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Engine is one that follows trees.
type Engine string

// The engines.
const (
	Flux   Engine = "Flux"
	ArgoCD Engine = "Argo CD"
)

// Table is what the guide shows of the rows.
func Table() string {
	var b strings.Builder
	b.WriteString("| engine | `check` does not follow | because |\n|---|---|---|\n")
	for _, row := range Unfollowed {
		engine := "both"
		if len(row.Engines) == 1 {
			engine = string(row.Engines[0])
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", engine, row.What, row.Why)
	}
	return b.String()
}

// Row is something of which check says nothing, or something else than the engine, and why.
type Row struct {
	// Engines of which it is true.
	Engines []Engine
	// What it is, and Why check does not follow it.
	What, Why string
	// Stops is in what the engine says where it stops and check has no error.
	Stops *regexp.Regexp
	// Errors is each error of check where the engine is content.
	Errors *regexp.Regexp
}

// both engines.
var both = []Engine{Flux, ArgoCD}

// Unfollowed are all of them. docs/guide/tree.md shows them; tests/engines takes no other excuse, and fails
// for one that it has not needed.
var Unfollowed = []Row{
	{
		Engines: both,
		What:    "a namespace that nothing in the tree makes",
		Why:     "it may be there already, made by bootstrap, another repository or by hand",
		Stops:   regexp.MustCompile(`namespaces "[^"]*" not found`),
	},
	{
		Engines: both,
		What:    "an object whose `apiVersion`, `kind` or `namespace` is no text",
		Why:     "it has no name that a finding could be about",
		Stops:   regexp.MustCompile(`failed to decode Kubernetes apiVersion, kind and name|namespace not specified|groupVersion shouldn't be empty`),
	},
	{
		Engines: []Engine{ArgoCD},
		What:    "a kind that Argo CD's group does not have",
		Why:     "the group has kinds of Argo's other products too",
		Stops:   regexp.MustCompile(`synchronization tasks are not valid: .*argoproj\.io`),
	},
	{
		Engines: both,
		What:    "the API's rules for names, required fields, choices and empty values, and types in objects of others' kinds",
		Why:     "they are in the API server's code, and in definitions of the cluster's version",
		Stops: regexp.MustCompile(`dry-run failed \(Invalid\)|failed to create typed patch object|failed to convert new object|` +
			`cannot be handled as a|is invalid: `),
	},
	{
		Engines: []Engine{Flux},
		What:    "a source of another kind than GitRepository that is missing, in a Kustomization",
		Why:     "what a source of others brings is not known, and it could be there already: a warning",
		Stops:   regexp.MustCompile(`(Bucket|OCIRepository|ExternalArtifact)\.source\.toolkit\.fluxcd\.io "[^"]*" not found`),
	},
	{
		Engines: []Engine{Flux},
		What:    "a label that is a number",
		Why:     "Flux drops all labels of the object and goes on, and nobody means that: an error",
		Errors:  regexp.MustCompile(`metadata\.labels\.\S+ is a (number|boolean), and has to be text`),
	},
	{
		Engines: []Engine{Flux},
		What:    "a name that is a number",
		Why:     "Flux leaves out the object and goes on, and nobody means that: an error",
		Errors:  regexp.MustCompile(`metadata\.name is a (number|boolean), and has to be text|cannot be read once its variables are substituted`),
	},
	{
		Engines: []Engine{ArgoCD},
		What:    "a cluster in the destination that the hub does not have",
		Why:     "registrations are made by others too",
		Stops:   regexp.MustCompile(`there are no clusters with this name`),
	},
}

// Excuse is the number of the row that covers what an engine says of a tree where it stops, and the errors
// of check; -1 when none does.
func Excuse(by Engine, engine, errors []string) int {
	for i, row := range Unfollowed {
		silent := len(engine) > 0 && len(errors) == 0
		switch {
		case !slices.Contains(row.Engines, by):
		case silent && row.Stops != nil && row.Stops.MatchString(strings.Join(engine, "\n")),
			len(engine) == 0 && len(errors) > 0 && row.Errors != nil && allMatch(row.Errors, errors):
			return i
		}
	}
	return -1
}

func allMatch(e *regexp.Regexp, lines []string) bool {
	for _, line := range lines {
		if !e.MatchString(line) {
			return false
		}
	}
	return true
}
