package trees

import (
	"regexp"
	"strings"
)

// Row is something of which check says nothing, or something else than the engine, and why.
type Row struct {
	// What it is, and Why check does not follow it.
	What, Why string
	// Engine is in what the engine says where it stops and check says nothing; Check is in every error of
	// check where the engine is content.
	Engine, Check *regexp.Regexp
}

// Unfollowed are all of them. docs/guide/tree.md shows them; tests/engines takes no other excuse, and fails
// for one that it has not needed.
var Unfollowed = []Row{
	{
		What:   "a namespace that nothing in the tree makes",
		Why:    "it may be there already, made by bootstrap, another repository or by hand",
		Engine: regexp.MustCompile(`namespaces "[^"]*" not found`),
	},
	{
		What:   "an API version or kind that no cluster serves, outside of Flux's and Argo CD's groups",
		Why:    "which definitions a cluster has depends on its version and on what else is installed there",
		Engine: regexp.MustCompile(`no matches for kind`),
	},
	{
		What:   "the API's other rules for an object: fields and types of the kinds of others, required fields, names, choices",
		Why:    "they are in the definitions of the cluster's version; `check` knows which fields are text",
		Engine: regexp.MustCompile(`dry-run failed \(Invalid\)|failed to create typed patch object`),
	},
	{
		What:   "a source of another kind than GitRepository that is missing, in a Kustomization",
		Why:    "what a source of others brings is not known, and it could be there already: a warning",
		Engine: regexp.MustCompile(`(Bucket|OCIRepository|ExternalArtifact)\.source\.toolkit\.fluxcd\.io "[^"]*" not found`),
	},
	{
		What:   "the path of a HelmRelease's chart in the tree",
		Why:    "charts of Flux are not rendered",
		Engine: regexp.MustCompile(`invalid chart reference`),
	},
	{
		What:   "an object whose `apiVersion`, `kind` or `name` is no text",
		Why:    "it has no name that a finding could be about",
		Engine: regexp.MustCompile(`failed to decode Kubernetes apiVersion, kind and name`),
	},
	{
		What:  "a label that is a number",
		Why:   "Flux drops all labels of the object and goes on, and nobody means that: an error",
		Check: regexp.MustCompile(`metadata\.labels\.\S+ is a (number|boolean), and has to be text`),
	},
}

// Excuse is the number of the row that covers what an engine and check say of a tree; -1 when none does.
func Excuse(engine, check []string) int {
	for i, row := range Unfollowed {
		switch {
		case len(engine) > 0 && len(check) == 0 && row.Engine != nil && row.Engine.MatchString(strings.Join(engine, "\n")):
			return i
		case len(engine) == 0 && len(check) > 0 && row.Check != nil && allMatch(row.Check, check):
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
