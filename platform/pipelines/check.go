package pipelines

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"tombolo/check/finding"
	"tombolo/config/strict"
	"tombolo/internal/file"
)

// Finding is one thing about a project's pipelines. An error stops jobs, or gives a secret to who
// must not have it; a warning is a secret that nobody needs; a note is what files cannot show.
type Finding struct {
	Severity finding.Severity `json:"severity"`
	strict.Problem
}

// String is the finding on one line: file:line:column: severity: message; remedy.
func (f Finding) String() string {
	p := f.Problem
	p.Message = string(f.Severity) + ": " + p.Message
	return p.String()
}

// Use is a place where a file of the project names a secret.
type Use struct {
	Name, File   string
	Line, Column int
}

// checker reads the files of one project.
type checker struct {
	root string
	uses []Use
	// version that tombolo.sha256 pins; empty where it is not known. pinned are the archives.
	version string
	pinned  []string
	found   []Finding
	// calls counts the pipelines that call those of a release, or are those themselves.
	calls int
}

// Check compares the pipelines of the project at the root with the secrets that its files name,
// and the versions that they call with the one that tombolo.sha256 pins. Files that are not
// understood are findings. They are in the order of their places, with paths below the root.
// Only the hosts that are named are looked at; without any, all are.
func Check(root string, hosts ...string) ([]Finding, []Use, error) {
	c := &checker{root: root}
	for _, pattern := range []string{"clusters/*.yaml", "accounts/*.yaml", "tombolo.policy.yaml"} {
		names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			return nil, nil, err
		}
		for _, name := range names {
			c.named(c.read(name))
		}
	}
	c.pin()
	for _, of := range []struct {
		host, files string
		check       func(place)
	}{{GitHub, ".github/workflows/*.y*ml", c.gitHub}, {GitLab, ".gitlab-ci.yml", c.gitLab}, {AzureDevOps, "azure-pipelines.yml", c.azure}} {
		names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(of.files)))
		if err != nil {
			return nil, nil, err
		}
		for _, name := range names {
			if len(hosts) == 0 || slices.Contains(hosts, of.host) {
				of.check(c.read(name))
			}
		}
	}
	for _, archive := range []string{"tombolo", "tombolo-tools"} {
		if c.calls > 0 && c.version != "" && !slices.Contains(c.pinned, archive) {
			c.say(finding.Error, place{file: "tombolo.sha256"}, "take the line "+archive+"_… of the release's SHA256SUMS", "pins no archive %s, which jobs install", archive)
		}
	}
	if c.calls == 0 {
		c.say(finding.Warning, place{file: "."}, "`tombolo pipelines write` writes them", "no pipeline of this project calls those of a release")
	}
	slices.SortStableFunc(c.found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return c.found, c.uses, nil
}

// place is a node with its file; without a node it is the file as a whole.
type place struct {
	file string
	*yaml.Node
}

func (c *checker) say(s finding.Severity, at place, remedy, format string, args ...any) {
	p := strict.Problem{File: at.file, Line: 1, Column: 1, Message: fmt.Sprintf(format, args...), Remedy: remedy}
	if at.Node != nil && at.Line > 0 {
		p.Line, p.Column = at.Line, at.Column
	}
	c.found = append(c.found, Finding{s, p})
}

// read reads a file of YAML. The node is nil where there is none, or where it is not understood,
// which is a finding.
func (c *checker) read(name string) place {
	at := place{file: name}
	if rel, err := filepath.Rel(c.root, name); err == nil {
		at.file = filepath.ToSlash(rel)
	}
	text, err := file.ReadInside(name, file.MostOfSettings)
	if errors.Is(err, fs.ErrNotExist) {
		return at
	}
	var document yaml.Node
	if err == nil {
		err = yaml.Unmarshal(text, &document)
	}
	switch {
	case err != nil:
		c.say(finding.Error, at, "correct the file", "is not understood: %v", err)
	case len(document.Content) == 0 || document.Content[0].Kind != yaml.MappingNode:
		c.say(finding.Error, at, "correct the file", "is not understood: it is no mapping")
	default:
		at.Node = document.Content[0]
	}
	return at
}

// field is the value of a key of a mapping; its node is nil where there is none.
func (p place) field(key string) place {
	if p.Node != nil && p.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(p.Content); i += 2 {
			if p.Content[i].Value == key {
				return place{p.file, p.Content[i+1]}
			}
		}
	}
	return place{p.file, nil}
}

// each calls do with the keys and the values of a mapping, in their order; the key is nil for items of a
// list.
func (p place) each(do func(key, value place)) {
	switch {
	case p.Node == nil:
	case p.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(p.Content); i += 2 {
			do(place{p.file, p.Content[i]}, place{p.file, p.Content[i+1]})
		}
	case p.Kind == yaml.SequenceNode:
		for _, item := range p.Content {
			do(place{p.file, nil}, place{p.file, item})
		}
	}
}

// walk calls do with everything below, and the key that it has.
func (p place) walk(do func(key, value place)) {
	p.each(func(key, value place) {
		do(key, value)
		value.walk(do)
	})
}

// text is a scalar's; empty for everything else.
func (p place) text() string {
	if p.Node == nil || p.Kind != yaml.ScalarNode {
		return ""
	}
	return p.Value
}

// named gathers the secrets that a file names: wherever env is the name of a variable.
func (c *checker) named(at place) {
	at.walk(func(key, value place) {
		if key.text() == "env" && secretForm.MatchString(value.text()) {
			c.uses = append(c.uses, Use{value.text(), at.file, value.Line, value.Column})
		}
	})
}

// names are those of the secrets, sorted and each once.
func (c *checker) names() []string {
	var names []string
	for _, u := range c.uses {
		names = append(names, u.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// first is where a secret is named first.
func (c *checker) first(name string) string {
	i := slices.IndexFunc(c.uses, func(u Use) bool { return u.Name == name })
	return fmt.Sprintf("%s:%d", c.uses[i].File, c.uses[i].Line)
}

// pinLine is a line of tombolo.sha256.
var pinLine = regexp.MustCompile(`^[0-9a-f]{64}  (tombolo|tombolo-tools)_([^_]+)_[a-z0-9]+_[a-z0-9]+\.tar\.gz$`)

// pin reads which version tombolo.sha256 pins.
func (c *checker) pin() {
	at := place{file: "tombolo.sha256"}
	text, err := file.ReadInside(filepath.Join(c.root, at.file), file.MostOfSettings)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		c.say(finding.Error, at, "correct the file", "is not understood: %v", err)
		return
	}
	line := 0
	for text := range strings.Lines(string(text)) {
		line++
		at.Node = &yaml.Node{Line: line, Column: 1}
		m := pinLine.FindStringSubmatch(strings.TrimRight(text, "\n"))
		if m != nil {
			c.pinned = append(c.pinned, m[1])
		}
		switch {
		case m == nil:
			c.say(finding.Error, at, "take the lines of the release's SHA256SUMS", "is not understood: this is no checksum of an archive of tombolo")
		case c.version == "":
			c.version = "v" + m[2]
		case c.version != "v"+m[2]:
			c.say(finding.Error, at, "pin one release", "pins v%s beside %s", m[2], c.version)
		}
	}
}

// called compares the release that a pipeline calls with the one that is pinned.
func (c *checker) called(at place, ref string) {
	c.calls++
	switch {
	case !versionForm.MatchString(ref):
		c.say(finding.Error, at, "name a tag such as v1.2.3, or a commit with its tag in a comment behind it", "calls pipelines of no release: %q", ref)
	case c.version == "":
		c.say(finding.Error, at, "write tombolo.sha256 with the checksums of the release", "calls pipelines of %s, and tombolo.sha256 pins no release", ref)
	case ref != c.version:
		c.say(finding.Error, at, "name the same release in both", "calls pipelines of %s, and tombolo.sha256 pins %s", ref, c.version)
	}
}

// gets compares what a job gets with the secrets that it needs. Passed are the names with their
// places.
func (c *checker) gets(at place, what string, passed map[string]place, needsKey bool, remedy func(name string) string) {
	needed := c.names()
	if needsKey && len(needed) > 0 && !slices.Contains(needed, PlanKey) {
		if _, ok := passed[PlanKey]; !ok {
			c.say(finding.Error, at, remedy(PlanKey), "%s does not get %s, and so cannot compare secrets with the plan", what, PlanKey)
		}
	}
	for _, name := range needed {
		if _, ok := passed[name]; !ok {
			c.say(finding.Error, at, remedy(name), "%s does not get %s, which %s names", what, name, c.first(name))
		}
	}
	for name, from := range passed {
		if !slices.Contains(needed, name) && name != PlanKey && name != Passphrase && from.Node != nil {
			c.say(finding.Warning, from, "leave it out", "%s gets %s, which no file of the project names", what, name)
		}
	}
}
