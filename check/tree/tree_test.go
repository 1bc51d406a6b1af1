package tree

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/manifest"
)

const patched = `# A comment with region.
kind: Kustomization
patches:
  - patch: |
      kind: Release
      metadata: {name: app}
      spec: {ünit: region}
`

func index(t *testing.T) *Files {
	t.Helper()
	f, err := Index(fstest.MapFS{
		".git/config": {Data: []byte("region")}, "a/kustomization.yaml": {Data: []byte(patched)},
		"a/b/text.txt": {Data: []byte("one\n# the region\n")}, "a/off.yaml": {Data: []byte("kind: A\nmetadata: {annotations: {" + manifest.Substitute + ": disabled}}\nspec: region\n")},
	})
	assert.NilError(t, err)
	return f
}

func TestIndex(t *testing.T) {
	f := index(t)
	assert.Check(t, is.Equal(strings.Join(f.Names(), " "), "a/b/text.txt a/kustomization.yaml a/off.yaml"))
	assert.Check(t, is.Equal(strings.Join(f.Dirs(), " "), "a a/b"))
	assert.Check(t, is.Equal(strings.Join(f.Entries("a"), " "), "b kustomization.yaml off.yaml"))
	_, err := f.Read(".git/config")
	assert.Check(t, err != nil && strings.Contains(err.Error(), ".git/config: file does not exist"), "reading what is not in the index: %v", err)
}

// TestLoad: what is read of all files is bounded, a file that is larger than any is not read to
// its end, and Load keeps nothing.
func TestLoad(t *testing.T) {
	data := make([]byte, MostOfAFile)
	tree := fstest.MapFS{"larger": {Data: append(data, 0)}}
	for i := range 5 {
		tree[strconv.Itoa(i)] = &fstest.MapFile{Data: data}
	}
	f, err := Index(tree)
	assert.NilError(t, err)
	_, err = f.Load("larger")
	assert.ErrorContains(t, err, "read larger: it has over 16777216 bytes")
	f.total = 0
	for i := range 4 {
		_, err = f.Load(strconv.Itoa(i))
		assert.NilError(t, err)
	}
	_, err = f.Load("4")
	assert.Error(t, err, "read 4: with it, files have over 67108864 bytes, which is the most that check reads of a tree; take it out of what the clusters follow")
	assert.Equal(t, len(f.content), 0)
}

func TestRelative(t *testing.T) {
	for name, want := range map[string]string{"./a/": "a", "/a/../b": "b", "../../a": "a", "": ".", "/": "."} {
		assert.Check(t, is.Equal(Relative(name), want), name)
	}
}

func TestField(t *testing.T) {
	what := Wanted{Path: []string{"spec", "ünit"}, Value: "eu"}
	what.Object.Kind, what.Object.Metadata.Name = "Release", "app"
	at, ok := index(t).Field([]string{"a/kustomization.yaml"}, what, func(text string) string { return strings.ReplaceAll(text, "region", "eu") })
	want := Place{"a/kustomization.yaml", 7, 20}
	assert.Check(t, ok && at == want, "found %v at %v, want %v", ok, at, want)
	what.Object.Kind = "Other"
	if at, ok := index(t).Field([]string{"a/kustomization.yaml"}, what, strings.Clone); ok {
		t.Errorf("another object has it at %v", at)
	}
}

// TestOccurrences: values count, comments do not, and a text that is no manifest
// only when no value has it.
func TestOccurrences(t *testing.T) {
	find := func(text string) []int {
		if at := strings.Index(text, "region"); at >= 0 {
			return []int{at}
		}
		return nil
	}
	all := []string{"a/b/text.txt", "a/kustomization.yaml", "a/off.yaml"}
	if got, want := index(t).Occurrences(all, find), []Place{{"a/kustomization.yaml", 7, 20}}; !slices.Equal(got, want) {
		t.Errorf("in values %v, want %v", got, want)
	}
	if got, want := index(t).Occurrences(all[:1], find), []Place{{"a/b/text.txt", 2, 7}}; !slices.Equal(got, want) {
		t.Errorf("in text %v, want %v", got, want)
	}
}

func TestExpands(t *testing.T) {
	bomb := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'k'; c++ {
		before := string(c - 1)
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+before+", ", 9) + "*" + before + "]\n"
	}
	for text, want := range map[string]string{
		"a: 1\n":                         "",
		"a: &x {b: 1}\nc: *x\nd: *x\n":   "",
		"**bold** is no YAML: [\n":       "",
		bomb:                             "its aliases stand for too many values",
		"a: &a {b: *a}\n":                "an alias is in the value that it stands for",
		"---\na: 1\n---\na: &a [[*a]]\n": "an alias is in the value that it stands for",
		strings.Repeat("[", 300) + strings.Repeat("]", 300): "it is nested over 200 deep",
		strings.Repeat("- ", 300) + "a":                     "it is nested over 200 deep",
		strings.Repeat("[", 150) + strings.Repeat("]", 150): "",
	} {
		got := ""
		if err := Expands([]byte(text)); err != nil {
			got = err.Error()
		}
		assert.Check(t, got == want, "%.40q: %q, want %q", text, got, want)
	}
}
