package standin

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// diff compares a resource's inputs and decides between an update and a
// replacement.
func (t *Type) diff(olds, oldInputs, news Props, ignore []string) *pulumirpc.DiffResponse {
	d := &differ{typ: t, ignore: ignore, out: &pulumirpc.DiffResponse{
		Changes: pulumirpc.DiffResponse_DIFF_NONE, HasDetailedDiff: true,
		DetailedDiff: map[string]*pulumirpc.PropertyDiff{},
	}}
	for _, key := range UnionKeys(oldInputs, news) {
		// What the cloud filled in and somebody now writes down is no change.
		if !oldInputs.Has(key) && olds.Has(key) && t.Same(key, olds[key], news[key]) {
			continue
		}
		d.compare(key, key, oldInputs[key], news[key])
	}
	d.out.DeleteBeforeReplace = len(d.out.Replaces) > 0 && t.nameInTheWay(oldInputs, news)
	return d.out
}

var madeName = regexp.MustCompile(`-[0-9a-f]{7}$`)

// nameInTheWay reports whether the replacement would have the name of what it
// replaces: then that must go first, as the bridged provider says.
func (t *Type) nameInTheWay(olds, news Props) bool {
	name := news.Str(t.Autoname.Property)
	if t.native.DeletesFirst {
		return t.Autoname.Made == nil || !t.Autoname.Made(olds.Str(t.Autoname.Property))
	}
	return name != "" && name == olds.Str(t.Autoname.Property) && !madeName.MatchString(name)
}

// differ gathers the differences between two sets of inputs.
type differ struct {
	typ    *Type
	ignore []string
	out    *pulumirpc.DiffResponse
}

// compare walks down nested objects. pattern is the path without list indices,
// as in Type.ForceNew.
func (d *differ) compare(path, pattern string, old, new any) {
	if slices.Contains(d.ignore, path) || d.typ.Same(pattern, old, new) {
		return
	}
	oldMap, isOld := old.(map[string]any)
	newMap, isNew := new.(map[string]any)
	if isOld && isNew {
		for _, key := range UnionKeys(oldMap, newMap) {
			name := path + "." + key
			if strings.ContainsAny(key, ".:/[\" ") {
				name = fmt.Sprintf("%s[%q]", path, key)
			}
			d.compare(name, pattern+"."+key, oldMap[key], newMap[key])
		}
		return
	}
	oldList, isOldList := old.([]any)
	newList, isNewList := new.([]any)
	if d.typ.native.Alike != nil && isOldList && isNewList {
		for i := range max(len(oldList), len(newList)) {
			d.compare(fmt.Sprintf("%s[%d]", path, i), pattern+"[]", item(oldList, i), item(newList, i))
		}
		return
	}
	d.add(path, pattern, old, new)
}

// item of a list, nil where the list has ended.
func item(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

func (d *differ) add(path, pattern string, old, new any) {
	top := pattern[:topLength(pattern)]
	kind, replaceKind := pulumirpc.PropertyDiff_UPDATE, pulumirpc.PropertyDiff_UPDATE_REPLACE
	switch {
	case old == nil:
		kind, replaceKind = pulumirpc.PropertyDiff_ADD, pulumirpc.PropertyDiff_ADD_REPLACE
	case new == nil:
		kind, replaceKind = pulumirpc.PropertyDiff_DELETE, pulumirpc.PropertyDiff_DELETE_REPLACE
	}
	if d.typ.replaces(pattern) && (old != nil || !slices.Contains(d.typ.Addable, pattern)) {
		kind = replaceKind
		d.out.Replaces = AppendNew(d.out.Replaces, top)
	}
	d.out.Changes = pulumirpc.DiffResponse_DIFF_SOME
	d.out.Diffs = AppendNew(d.out.Diffs, top)
	d.out.DetailedDiff[path] = &pulumirpc.PropertyDiff{Kind: kind, InputDiff: true}
}

// topLength is the length of the property at the beginning of a pattern.
func topLength(pattern string) int {
	if end := strings.IndexAny(pattern, ".["); end >= 0 {
		return end
	}
	return len(pattern)
}

func (t *Type) replaces(pattern string) bool {
	return slices.ContainsFunc(t.ForceNew, func(f string) bool {
		return pattern == f || strings.HasPrefix(pattern, f+".") || strings.HasPrefix(pattern, f+"[]") || strings.HasPrefix(f, pattern+".")
	})
}

// Same compares two values as the cloud would.
func (t *Type) Same(pattern string, a, b any) bool {
	if HasUnknown(a) || HasUnknown(b) {
		return false
	}
	if t.native.Alike != nil {
		return t.native.Alike(pattern, a, b)
	}
	if slices.Contains(t.Documents, pattern) {
		return Equal(document(a), document(b))
	}
	if slices.Contains(t.Ordered, pattern) {
		return Equal(a, b)
	}
	return Equal(unordered(a), unordered(b))
}

// unordered sorts lists: most lists of clouds are sets.
func unordered(value any) any {
	switch v := value.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = unordered(e)
		}
		slices.SortFunc(out, func(a, b any) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = unordered(e)
		}
		return out
	default:
		return value
	}
}

// document decodes a JSON document, in which single values and lists of one
// mean the same.
func document(value any) any {
	text, ok := value.(string)
	if !ok {
		return value
	}
	var decoded any
	if json.Unmarshal([]byte(text), &decoded) != nil {
		return value
	}
	return unordered(unwrapSingles(decoded))
}

func unwrapSingles(value any) any {
	switch v := value.(type) {
	case []any:
		if len(v) == 1 {
			return unwrapSingles(v[0])
		}
		for i, e := range v {
			v[i] = unwrapSingles(e)
		}
	case map[string]any:
		for k, e := range v {
			v[k] = unwrapSingles(e)
		}
	}
	return value
}

// UnionKeys are the keys of two objects, those of the first before the others.
func UnionKeys(a, b map[string]any) []string {
	keys := SortedKeys(a)
	for _, k := range SortedKeys(b) {
		keys = AppendNew(keys, k)
	}
	return keys
}

// AppendNew appends a text to a list that does not have it yet.
func AppendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// Renews reports whether an update from one set of inputs to another changes
// the renewed outputs.
func (t *Type) Renews(olds, news Props) bool {
	for _, key := range UnionKeys(olds, news) {
		if !slices.Contains(t.RenewedNotBy, key) && !t.Same(key, olds[key], news[key]) {
			return true
		}
	}
	return false
}
