package apimodel

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/standin"
)

// TestMutations: each value that AWS's models limit is given as one beyond, wherever it is in what
// a type sends, and is refused by its path; each value of an enumeration and each bound is taken.
func TestMutations(t *testing.T) {
	refused, taken := 0, 0
	for token := range read().types {
		w := walker{check: newCheck(token), within: map[string]bool{}}
		for _, path := range w.Sent {
			w.object(w.sent(path), "")
		}
		for _, leaf := range w.leaves {
			for _, value := range beyond(leaf.shape) {
				refused++
				var paths []string
				for _, p := range Check(token, leaf.holding(value)) {
					paths = append(paths, p.Path)
				}
				assert.Check(t, slices.Contains(paths, leaf.indexed()), "%s: %.80v as %s is taken", token, value, leaf.path)
			}
			for _, value := range within(leaf.shape) {
				taken++
				assert.Check(t, is.Len(Check(token, leaf.holding(value)), 0), "%s: %.80v as %s", token, value, leaf.path)
			}
		}
	}
	t.Logf("%d mutations are refused, %d values are taken", refused, taken)
	assert.Check(t, refused > 300 && taken > 300, "%d and %d", refused, taken)
}

// leaf is a text or a number within what is sent, with [] behind a list.
type leaf struct {
	path string
	shape
}

type walker struct {
	*check
	leaves []leaf
	within map[string]bool
}

func (w *walker) object(at shape, path string) {
	for _, name := range slices.Sorted(maps.Keys(at.Members)) {
		w.shape(at.Members[name], join(path, strings.ToLower(name[:1])+name[1:]))
	}
}

func (w *walker) shape(name, path string) {
	of := w.service.shape(name)
	if w.within[name] || w.unsent(plain(path)) {
		return
	}
	switch of.Type {
	case "structure":
		w.within[name] = true
		w.object(of, path)
		delete(w.within, name)
	case "list":
		w.shape(of.Member, path+"[]")
	case "string", "integer", "long", "double":
		if key := plain(path)[strings.LastIndexByte(plain(path), '.')+1:]; !strings.HasSuffix(strings.ToLower(key), "arn") {
			w.leaves = append(w.leaves, leaf{path, of})
		}
	}
}

func plain(path string) string { return strings.ReplaceAll(path, "[]", "") }

func (l leaf) indexed() string { return strings.ReplaceAll(l.path, "[]", "[0]") }

// holding are inputs with a value at the leaf.
func (l leaf) holding(value any) standin.Props {
	parts := strings.Split(l.path, ".")
	for i := len(parts) - 1; i >= 0; i-- {
		name := plain(parts[i])
		for range strings.Count(parts[i], "[]") {
			value = []any{value}
		}
		value = map[string]any{name: value}
	}
	return value.(map[string]any)
}

// beyond are values that a shape does not let through.
func beyond(of shape) []any {
	low, high := limits(of)
	if of.Type != "string" {
		var values []any
		if of.Min != nil {
			values = append(values, low-1)
		}
		if of.Max != nil {
			values = append(values, high+1)
		}
		return values
	}
	var values []any
	if len(of.Enum) > 0 {
		return []any{"Bogus"}
	}
	if of.Min != nil && low > 1 {
		values = append(values, strings.Repeat("a", int(low)-1))
	}
	if of.Max != nil && high < 10_000 {
		values = append(values, strings.Repeat("a", int(high)+1))
	}
	if p := pattern(of.Pattern); p != nil && !p.MatchString("\x00") {
		values = append(values, strings.Repeat("\x00", max(int(low), 1)))
	}
	return values
}

// within are values that it lets through.
func within(of shape) []any {
	low, high := limits(of)
	var values []any
	switch {
	case len(of.Enum) > 0:
		for _, value := range of.Enum {
			values = append(values, value)
		}
	case of.Type != "string" && of.Min != nil:
		values = append(values, low)
	case of.Type != "string" && of.Max != nil:
		values = append(values, high)
	}
	return values
}
