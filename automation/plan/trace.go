package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"tombolo/automation/value"
)

// This file follows a change from core's outputs, and from what bootstrap has read of
// other stacks and of Parameter Store, to what GitOps reads. What GitOps reads is worked
// out by the program itself, of outputs and values in which each one that changes is a
// mark: wherever the mark is found, it has reached.

// Contents is what GitOps reads: texts by object, as namespace/name, and key.
type Contents struct {
	// Data of ConfigMaps, Annotations of registrations.
	Data, Annotations map[string]map[string]string
}

// Trace marks what in bootstrap follows the outputs of core that change, or the values
// of other stacks and of Parameter Store, and takes texts that core's preview does not
// know apart into what is known of them. contents works out what GitOps reads where core
// has these outputs and these values were read, by their sources in words.
func (c *Cluster) Trace(contents func(outputs, read map[string]any) (Contents, error)) error {
	core := slices.IndexFunc(c.Stacks, func(s Stack) bool { return s.Kind == "core" })
	if core < 0 || c.Stacks[core].told == nil {
		return nil
	}
	m := marked(c.Stacks[core])
	for _, s := range c.Stacks {
		m.addRead(s)
	}
	if len(m.changed) == 0 {
		return nil
	}
	found, err := contents(m.outputs, m.read)
	if err != nil {
		return err
	}
	for i := range c.Stacks {
		if c.Stacks[i].Kind == "core" {
			continue
		}
		for j := range c.Stacks[i].Resources {
			r := &c.Stacks[i].Resources[j]
			r.Diffs = m.trace(r.Diffs, found)
		}
	}
	return nil
}

// marks stand for the outputs of core, and for the values that were read, that change.
type marks struct {
	// changed are those outputs and values, by the number in their mark: the first ones
	// are of core, fromCore of them.
	changed  []Output
	fromCore int
	// outputs are all of core's, and read are all values, with the marks.
	outputs, read map[string]any
}

// mark of an output, or of an element of it.
var mark = regexp.MustCompile(`core-output-(\d+)-(\d+)\.`)

func markOf(output, element int) string { return fmt.Sprintf("core-output-%d-%d.", output, element) }

// marked has a mark in the place of each output of core that changes.
func marked(core Stack) marks {
	m := marks{
		changed: slices.Clone(core.Outputs), fromCore: len(core.Outputs),
		outputs: cleared(core.told).(map[string]any), read: map[string]any{},
	}
	for i, o := range m.changed {
		if o.After == nil {
			continue // it is gone, and reaches nothing
		}
		name, entry, isEntry := strings.Cut(o.Name, ".")
		if !isEntry {
			m.outputs[name] = markFor(i, o.After)
		} else if entries, ok := m.outputs[name].(map[string]any); ok {
			entries[entry] = markFor(i, o.After)
		}
	}
	return m
}

// addRead adds the values that a stack has read, with a mark in the place of each that
// changes.
func (m *marks) addRead(s Stack) {
	told, _ := s.told[readOutput].(map[string]any)
	maps.Copy(m.read, told)
	for _, o := range s.Outputs {
		if source, ok := o.source(); ok && o.After != nil {
			m.read[source] = markOf(len(m.changed), 0)
			m.changed = append(m.changed, Output{Name: source, Before: o.Before, After: o.After})
		}
	}
}

// markFor is the mark of an output with this value: one for each element of a list.
func markFor(i int, v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for e := range v {
			out[e] = markOf(i, e)
		}
		return out
	case map[string]any:
		return map[string]any{} // it has no entries, which would be outputs of their own
	}
	return markOf(i, 0)
}

// cleared are outputs without what has no value: what is unknown changes, and gets a mark.
func cleared(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := maps.Clone(v)
		maps.DeleteFunc(out, func(_ string, child any) bool { return value.IsUnknown(child) || value.IsSecret(child) })
		for key, child := range out {
			out[key] = cleared(child)
		}
		return out
	case []any:
		return slices.DeleteFunc(slices.Clone(v), func(child any) bool { return value.IsUnknown(child) || value.IsSecret(child) })
	}
	return v
}

// trace says of each difference what it follows.
func (m marks) trace(all []Diff, found Contents) []Diff {
	var out []Diff
	for _, d := range all {
		text, inner, ok := textOf(d, found)
		switch {
		case !ok:
			out = append(out, d)
		case inner == "" && d.After == any(value.Unknown{}):
			out = append(out, m.apart(d, text)...)
		case inner == "":
			d.From, d.Read = m.in(text)
			out = append(out, d)
		default:
			d.From, d.Read = m.in(partsAt(text, d.Path))
			out = append(out, d)
		}
	}
	return out
}

// textOf is the marked text of which a difference is, or in which it is, behind inner.
func textOf(d Diff, found Contents) (text, inner string, ok bool) {
	if d.Published == nil {
		return "", "", false
	}
	outer, inner, _ := strings.Cut(d.Path, arrow)
	at, err := resource.ParsePropertyPath(outer)
	if err != nil || len(at) < 2 {
		return "", "", false
	}
	key, _ := at[len(at)-1].(string)
	from := found.Data
	if d.Published.Annotation {
		if len(at) < 3 || at[1] != "annotations" {
			return "", "", false
		}
		from = found.Annotations
	}
	text, ok = from[d.Published.Object][key]
	return text, inner, ok
}

// apart is a text that is not known as a whole, as the differences of its parts where it
// has any: what is known of them, and what each of them follows.
func (m marks) apart(d Diff, text string) []Diff {
	if _, ok := document(text); !ok {
		d.From, d.Read = m.in(text)
		return []Diff{d}
	}
	var out []Diff
	for _, part := range compare(d.Path, d.Before, text) {
		published := *d.Published
		if _, inner, ok := strings.Cut(part.Path, arrow); ok && !published.Annotation {
			published.Key = inner
		}
		part.From, part.Read = m.in(part.After)
		part.After = m.known(part.After)
		part.Published, part.ForcesReplace = &published, d.ForcesReplace
		if !reflect.DeepEqual(part.Before, part.After) {
			out = append(out, part)
		}
	}
	return out
}

// in are the outputs of core, and the values that were read, whose marks are in a value.
func (m marks) in(v any) (core, read []string) {
	for _, found := range mark.FindAllStringSubmatch(plain(v), -1) {
		switch i, err := strconv.Atoi(found[1]); {
		case err != nil || i >= len(m.changed):
		case i < m.fromCore:
			core = append(core, m.changed[i].Name)
		default:
			read = append(read, m.changed[i].Name)
		}
	}
	slices.Sort(core)
	slices.Sort(read)
	return slices.Compact(core), slices.Compact(read)
}

// known is a value with the outputs' values in the place of their marks; Unknown when
// one of these is.
func (m marks) known(v any) any {
	text, ok := v.(string)
	if !ok {
		return v
	}
	if whole := mark.FindStringSubmatch(text); whole != nil && whole[0] == text {
		if i, _ := strconv.Atoi(whole[1]); i >= m.fromCore && i < len(m.changed) {
			return m.changed[i].After // of any type
		}
	}
	unknown := false
	text = mark.ReplaceAllStringFunc(text, func(found string) string {
		numbers := mark.FindStringSubmatch(found)
		i, _ := strconv.Atoi(numbers[1])
		e, _ := strconv.Atoi(numbers[2])
		if i >= len(m.changed) {
			return found
		}
		after := m.changed[i].After
		if list, isList := after.([]any); isList && e < len(list) {
			after = list[e]
		}
		known, isText := after.(string)
		unknown = unknown || !isText
		return known
	})
	if unknown {
		return value.Unknown{}
	}
	return text
}

// partsAt are the parts of a marked text at a difference's path, below it, and above it:
// a mark may stand for an object.
func partsAt(text, path string) []any {
	outer, _, _ := strings.Cut(path, arrow)
	var out []any
	for _, d := range compare(outer, nil, text) {
		if isAt(d.Path, path) || isAt(path, d.Path) {
			out = append(out, d.After)
		}
	}
	return out
}

// isAt says that a path is another one, or leads on from it.
func isAt(path, other string) bool {
	rest, ok := strings.CutPrefix(path, other)
	return ok && (rest == "" || strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "[") || strings.HasPrefix(rest, arrow))
}

func plain(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
