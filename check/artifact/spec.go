// Package artifact composes the trees that source-watcher makes of others, as an ArtifactGenerator says.
//
// Source: https://github.com/fluxcd/source-watcher, internal/builder/builder.go and internal/controller at v2.2.1.
package artifact

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Spec is that of an ArtifactGenerator.
type Spec struct {
	Sources     []Source `json:"sources"`
	PathPattern string   `json:"pathPattern"`
	Outputs     []Output `json:"artifacts"`
}

// Source is an object whose files are copied.
type Source struct {
	Alias     string `json:"alias"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// Output is an ExternalArtifact that is made.
type Output struct {
	Name           string      `json:"name"`
	Revision       string      `json:"revision"`
	OriginRevision string      `json:"originRevision"`
	Copy           []Operation `json:"copy"`
}

// Operation copies files of a source.
type Operation struct {
	From     string   `json:"from"`
	To       string   `json:"to"`
	Exclude  []string `json:"exclude"`
	Strategy string   `json:"strategy"`
	// written is From as the object has it.
	written string
}

// Uses says whether a text of a spec names a source by its alias.
func Uses(text, alias string) bool { return strings.HasPrefix(text, "@"+alias+"/") }

// Problem is why an ArtifactGenerator, or one of its artifacts, is not made.
type Problem struct {
	// Path of the value in the object, with [] for an item of a list, and the Value.
	Path            []string
	Value           string
	Message, Remedy string
}

// Error is the message.
func (p *Problem) Error() string { return p.Message }

var (
	aliasForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$`)
	fromForm  = regexp.MustCompile(`^@([a-z0-9]([a-z0-9_-]*[a-z0-9])?)/(.*)$`)
	toForm    = regexp.MustCompile(`^@(artifact)/(.*)$`)
	nameForm  = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)
)

// Kinds are those of sources, and Strategies those of copies, as the definition of v2.1 and later has them.
var (
	Kinds      = []string{"Bucket", "GitRepository", "OCIRepository", "HelmChart", "ExternalArtifact"}
	Strategies = []string{"Overwrite", "Merge", "Extract"}
)

// Check says what the API or source-watcher refuses. What its definition says is left out of one that was held to it.
func (s Spec) Check(held bool) []Problem {
	c := checks{aliases: map[string]bool{}, held: held}
	c.count("sources", len(s.Sources))
	c.count("artifacts", len(s.Outputs))
	for _, source := range s.Sources {
		c.source(source)
	}
	if alias, _, ok := strings.Cut(strings.TrimPrefix(s.PathPattern, "@"), "/"); s.PathPattern != "" {
		c.form(fromForm.MatchString(s.PathPattern), s.PathPattern, "write it as @<alias>/<pattern>", "pathPattern")
		c.alias(ok, alias, s.PathPattern, "pathPattern")
	}
	names := map[string]bool{}
	for _, o := range s.Outputs {
		c.output(o, s.PathPattern != "", names)
	}
	return c.problems
}

// checks are those of one spec.
type checks struct {
	problems []Problem
	aliases  map[string]bool
	held     bool
}

func (c *checks) add(message, remedy, value string, path ...string) {
	c.problems = append(c.problems, Problem{append([]string{"spec"}, path...), value, message, remedy})
}

func (c *checks) count(list string, n int) {
	if n == 0 {
		c.problems = append(c.problems, Problem{Path: []string{"metadata", "name"}, Message: "spec." + list + " is empty: the API refuses it", Remedy: "add one"})
	}
}

// form holds a text to the pattern that its definition gives.
func (c *checks) form(holds bool, value, remedy string, path ...string) {
	if !holds && !c.held {
		c.add(fmt.Sprintf("%q is not what %s takes: the API refuses it", value, strings.ReplaceAll(strings.Join(path, "."), ".[]", "")), remedy, value, path...)
	}
}

func (c *checks) source(s Source) {
	at := func(field string) []string { return []string{"sources", "[]", field} }
	c.form(aliasForm.MatchString(s.Alias) && len(s.Alias) <= 63, s.Alias, "take lower case letters, digits, - and _", at("alias")...)
	c.form(nameForm.MatchString(s.Name), s.Name, "take lower case letters, digits and -", at("name")...)
	c.form(s.Namespace == "" || len(validation.IsDNS1123Label(s.Namespace)) == 0, s.Namespace, "take lower case letters, digits and -", at("namespace")...)
	c.form(slices.Contains(Kinds, s.Kind), s.Kind, "write one of "+strings.Join(Kinds, ", "), at("kind")...)
	if c.aliases[s.Alias] {
		c.add(fmt.Sprintf("two sources have the alias %q", s.Alias), "give one of them another alias", s.Alias, at("alias")...)
	}
	c.aliases[s.Alias] = true
}

func (c *checks) output(o Output, rendered bool, names map[string]bool) {
	at := func(fields ...string) []string { return append([]string{"artifacts", "[]"}, fields...) }
	if names[o.Name] {
		c.add(fmt.Sprintf("two artifacts have the name %q", o.Name), "give one of them another name", o.Name, at("name")...)
	}
	names[o.Name] = true
	if !rendered && len(validation.IsDNS1123Subdomain(o.Name)) > 0 {
		c.add(fmt.Sprintf("%q is no name of an object", o.Name), "take lower case letters, digits, - and .", o.Name, at("name")...)
	}
	if alias, ok := c.revision(o.Revision, at("revision")); ok {
		c.alias(o.Revision != "", alias, o.Revision, at("revision")...)
	}
	c.revision(o.OriginRevision, at("originRevision")) // one without a source has no effect
	if len(o.Copy) == 0 {
		c.add(fmt.Sprintf("artifact %q has no copy: the API refuses it", o.Name), "say what is copied", o.Name, at("name")...)
	}
	for _, op := range o.Copy {
		c.form(fromForm.MatchString(op.From), op.From, "write it as @<alias>/<pattern>", at("copy", "[]", "from")...)
		c.form(toForm.MatchString(op.To), op.To, "write it as @artifact/<path>", at("copy", "[]", "to")...)
		c.form(op.Strategy == "" || slices.Contains(Strategies, op.Strategy), op.Strategy, "write one of "+strings.Join(Strategies, ", "), at("copy", "[]", "strategy")...)
		if m := fromForm.FindStringSubmatch(op.From); m != nil {
			c.alias(true, m[1], op.From, at("copy", "[]", "from")...)
		}
	}
}

// revision is @ and an alias, or nothing.
func (c *checks) revision(text string, at []string) (alias string, ok bool) {
	alias, marked := strings.CutPrefix(text, "@")
	ok = text == "" || marked && aliasForm.MatchString(alias)
	c.form(ok, text, "write it as @<alias>", at...)
	return alias, ok
}

func (c *checks) alias(given bool, alias, value string, path ...string) {
	if given && !c.aliases[alias] {
		c.add(fmt.Sprintf("no source has the alias %q", alias), "write one of the aliases in spec.sources, or add the source", value, path...)
	}
}
