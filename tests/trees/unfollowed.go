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
	// Says is in a note or warning of check there, which names what it does not follow.
	Says *regexp.Regexp
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
		Engines: both,
		What:    "an API version or kind that the cluster does not have, outside of Flux's group",
		Why:     "which definitions a cluster has depends on its version and on what else is installed there",
		Stops:   regexp.MustCompile(`no matches for kind|failed to discover server resources|synchronization tasks are not valid: \S+ "" not found`),
	},
	{
		Engines: both,
		What:    "the API's other rules for an object: fields that it does not know, numbers in quotes, required fields, names, choices",
		Why:     "they are in the definitions of the cluster's version; `check` knows for Flux which fields have to be text",
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
		What:    "the path of a HelmRelease's chart in the tree",
		Why:     "charts of Flux are not rendered",
		Stops:   regexp.MustCompile(`invalid chart reference`),
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
		What:    "a generator other than the cluster generator and its matrix with a Git generator, and an ApplicationSet without `goTemplate`",
		Why:     "`check` names each in a note or warning, and looks at nothing that they make",
		Says:    regexp.MustCompile(`its generator \S+ is not followed|is not followed: without goTemplate`),
	},
	{
		Engines: []Engine{ArgoCD},
		What:    "a cluster in the destination that the hub does not have",
		Why:     "registrations are made by others too",
		Stops:   regexp.MustCompile(`there are no clusters with this name`),
	},
	{
		Engines: []Engine{ArgoCD},
		What:    "a field that the API drops: Argo CD applies the object again and again, and never calls it synced",
		Why:     "as for the API's other rules",
		Stops:   regexp.MustCompile(`OutOfSync, operation Succeeded`),
	},
}

// Excuse is the number of the row that covers what an engine says of a tree where it stops, the errors of
// check, and what else check says; -1 when none does.
func Excuse(by Engine, engine, errors, notes []string) int {
	for i, row := range Unfollowed {
		silent := len(engine) > 0 && len(errors) == 0
		switch {
		case !slices.Contains(row.Engines, by):
		case silent && row.Stops != nil && row.Stops.MatchString(strings.Join(engine, "\n")),
			silent && row.Says != nil && row.Says.MatchString(strings.Join(notes, "\n")),
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
