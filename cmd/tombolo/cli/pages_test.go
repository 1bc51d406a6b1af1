package cli

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gotest.tools/v3/assert"
)

const checkout = "../../.."

// pages are the files that people read, by their path from the checkout's root.
func pages(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	add := func(path string) {
		text, err := os.ReadFile(filepath.Join(checkout, path))
		assert.NilError(t, err)
		out[path] = string(text)
	}
	add("README.md")
	add("CONTRIBUTING.md")
	add("CHANGELOG.md")
	add("SECURITY.md")
	err := fs.WalkDir(os.DirFS(checkout), "docs", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" {
			add(path)
		}
		return err
	})
	assert.NilError(t, err)
	return out
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	fence   = regexp.MustCompile("(?ms)^```[^\n]*\n(.*?)^```$")
	span    = regexp.MustCompile("`([^`\n]*(?:\n[^`\n]+)?)`")
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	// noWord is what an anchor leaves out of a heading.
	noWord = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// TestLinks: every link to a file of the project, and to a heading in it, leads
// somewhere.
func TestLinks(t *testing.T) {
	all := pages(t)
	links := 0
	for page, text := range all {
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			target, err := url.Parse(m[1])
			if err != nil {
				t.Errorf("%s: link %q: %v", page, m[1], err)
				continue
			}
			if target.Scheme != "" {
				continue
			}
			links++
			to := page
			if target.Path != "" {
				to = filepath.Join(filepath.Dir(page), target.Path)
			}
			if _, err := os.Stat(filepath.Join(checkout, to)); err != nil {
				t.Errorf("%s: link to %s: %v", page, m[1], err)
				continue
			}
			if target.Fragment != "" && !slices.Contains(anchors(all[to]), target.Fragment) {
				t.Errorf("%s: link to %s: %s has no such heading", page, m[1], to)
			}
		}
	}
	if links < 20 {
		t.Errorf("%d links were found: the test sees nothing", links)
	}
}

// anchors are those that viewers of Markdown give to a page's headings.
func anchors(text string) []string {
	var out []string
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		words := noWord.ReplaceAllString(strings.ToLower(m[1]), "")
		out = append(out, strings.ReplaceAll(words, " ", "-"))
	}
	return out
}

// TestPagesSayWhatWasNotRun: the lab has neither AWS nor a host of pull requests,
// and no operator. A page about them says at its top what has not been run.
func TestPagesSayWhatWasNotRun(t *testing.T) {
	elsewhere := regexp.MustCompile(`GitHub|GitLab|Azure DevOps|Kubernetes Operator|(?i)without .--lab|in AWS`)
	found := 0
	for page, text := range pages(t) {
		if filepath.Dir(page) != "docs/guide" || !elsewhere.MatchString(text) {
			continue
		}
		found++
		_, top, _ := strings.Cut(text, "\n\n")
		assert.Check(t, strings.HasPrefix(top, "> Not run: "), "%s is about %q, and does not begin with what was not run (> Not run: …)", page, elsewhere.FindString(text))
	}
	if found < 5 {
		t.Errorf("%d pages were found: the test sees nothing", found)
	}
}

// TestCommandsInPages: every command line of tombolo's that a page has is one
// that tombolo understands: the command exists, and so do its flags.
func TestCommandsInPages(t *testing.T) {
	root := testRoot(t)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	seen := 0
	for page, text := range pages(t) {
		for _, line := range commandLines(text) {
			seen++
			if problem := misunderstood(root, strings.Fields(line)[1:]); problem != "" {
				t.Errorf("%s: `%s`: %s", page, line, problem)
			}
		}
	}
	if seen < 50 {
		t.Errorf("%d commands were found: the test sees nothing", seen)
	}
}

// TestCommandsInPipelines: pipelines call tombolo as it can be called.
func TestCommandsInPipelines(t *testing.T) {
	root := testRoot(t)
	files, err := filepath.Glob(filepath.Join(checkout, ".github", "workflows", "*.yml"))
	assert.NilError(t, err)
	seen := 0
	for _, file := range append(files, filepath.Join(checkout, ".gitlab-ci.yml"), filepath.Join(checkout, ".gitlab/pipelines.yml"), filepath.Join(checkout, ".azure/pipelines.yml")) {
		text, err := os.ReadFile(file)
		assert.NilError(t, err)
		for _, m := range called.FindAllStringSubmatch(string(text), -1) {
			seen++
			line := beforeShell("tombolo " + m[1])
			if problem := misunderstood(root, strings.Fields(line)[1:]); problem != "" {
				t.Errorf("%s: `%s`: %s", filepath.Base(file), line, problem)
			}
		}
	}
	if seen < 10 {
		t.Errorf("%d commands were found: the test sees nothing", seen)
	}
}

// called is a call of tombolo in a pipeline.
var called = regexp.MustCompile(`(?m)^[^#\n]*(?:\$TOMBOLO|\btombolo"?) ([a-z]+.*)$`)

// beforeShell is a command line without what is a shell's.
func beforeShell(line string) string {
	for _, end := range []string{" | ", " >", " #", " && ", " || ", ";"} {
		line, _, _ = strings.Cut(line, end)
	}
	return strings.TrimRight(line, "'")
}

// commandLines are the lines of a page that call tombolo, without what comes
// after them in a shell.
func commandLines(text string) []string {
	var candidates []string
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		candidates = append(candidates, strings.Split(strings.ReplaceAll(m[1], "\\\n", " "), "\n")...)
	}
	for _, m := range span.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		candidates = append(candidates, strings.ReplaceAll(m[1], "\n", " "))
	}
	var out []string
	for _, line := range candidates {
		line = strings.TrimPrefix(strings.TrimSpace(line), "$ ")
		line = strings.TrimPrefix(line, "bin/")
		line = strings.TrimPrefix(line, "go run ./cmd/")
		if !strings.HasPrefix(line, "tombolo ") {
			continue
		}
		line = beforeShell(line)
		if words := strings.Fields(line); len(words) > 1 && words[1] != "…" && words[1] != "<command>" {
			out = append(out, line)
		}
	}
	return out
}

// misunderstood says why a command line is none, or "".
func misunderstood(root *cobra.Command, words []string) string {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "..." || w == "…" })
	for i, w := range words {
		words[i] = strings.Trim(w, "[]\"'")
	}
	cmd, rest, err := root.Find(words)
	if err != nil {
		return err.Error()
	}
	if cmd == root && !strings.HasPrefix(words[0], "-") {
		return "there is no such command"
	}
	if cmd.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") && cmd.Name() != "help" {
		if !strings.HasPrefix(rest[0], "<") && !strings.Contains(rest[0], "|") {
			return cmd.CommandPath() + " has no command " + rest[0]
		}
	}
	for _, w := range rest {
		if !strings.HasPrefix(w, "-") || w == "-" || w == "--" {
			continue
		}
		if flagOf(cmd, w) == nil && w != "--help" && w != "-h" {
			return cmd.CommandPath() + " has no flag " + w
		}
	}
	return ""
}

// flagOf finds the flag that a word gives.
func flagOf(cmd *cobra.Command, word string) *pflag.Flag {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	lookup := func(set *pflag.FlagSet) *pflag.Flag {
		if strings.HasPrefix(word, "--") {
			return set.Lookup(name)
		}
		return set.ShorthandLookup(name[:1])
	}
	if f := lookup(cmd.Flags()); f != nil {
		return f
	}
	return lookup(cmd.InheritedFlags())
}

// TestMisunderstood: the check itself sees what is wrong.
func TestMisunderstood(t *testing.T) {
	root := testRoot(t)
	for line, want := range map[string]string{
		"up demo --lab -o json":  "",
		"export matrix --all":    "",
		"upp demo":               `unknown command "upp" for "tombolo"`,
		"up demo --lob":          "tombolo up has no flag --lob",
		"export matrixes --all":  "tombolo export has no command matrixes",
		"lab fault add --nosuch": "tombolo lab fault add has no flag --nosuch",
	} {
		got := misunderstood(root, strings.Fields(line))
		if first, _, _ := strings.Cut(got, "\n"); first != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	if got := anchors("# A `b-c`: d, (e)\n"); !slices.Equal(got, []string{"a-b-c-d-e"}) {
		t.Errorf("anchors %q", got)
	}
}
