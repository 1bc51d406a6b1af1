package aws

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
func (t *resourceType) diff(olds, oldInputs, news props, ignore []string) *pulumirpc.DiffResponse {
	d := &differ{typ: t, ignore: ignore, out: &pulumirpc.DiffResponse{
		Changes: pulumirpc.DiffResponse_DIFF_NONE, HasDetailedDiff: true,
		DetailedDiff: map[string]*pulumirpc.PropertyDiff{},
	}}
	for _, key := range unionKeys(oldInputs, news) {
		// What AWS filled in and somebody now writes down is no change.
		if !oldInputs.has(key) && olds.has(key) && t.same(key, olds[key], news[key]) {
			continue
		}
		d.compare(key, key, oldInputs[key], news[key])
	}
	d.out.DeleteBeforeReplace = len(d.out.Replaces) > 0 && t.nameInTheWay(oldInputs, news)
	return d.out
}

var madeName = regexp.MustCompile(`-[0-9a-f]{7}(\.fifo)?$`)

// nameInTheWay reports whether the replacement would have the name of what it
// replaces: then that must go first, as the bridged provider says.
func (t *resourceType) nameInTheWay(olds, news props) bool {
	name := news.str(t.autoname.property)
	return name != "" && name == olds.str(t.autoname.property) && !madeName.MatchString(name)
}

// differ gathers the differences between two sets of inputs.
type differ struct {
	typ    *resourceType
	ignore []string
	out    *pulumirpc.DiffResponse
}

// compare walks down nested objects. pattern is the path without list indices,
// as in resourceType.forceNew.
func (d *differ) compare(path, pattern string, old, new any) {
	if slices.Contains(d.ignore, path) || d.typ.same(pattern, old, new) {
		return
	}
	oldMap, isOld := old.(map[string]any)
	newMap, isNew := new.(map[string]any)
	if isOld && isNew {
		for _, key := range unionKeys(oldMap, newMap) {
			name := path + "." + key
			if strings.ContainsAny(key, ".:/[\" ") {
				name = fmt.Sprintf("%s[%q]", path, key)
			}
			d.compare(name, pattern+"."+key, oldMap[key], newMap[key])
		}
		return
	}
	d.add(path, pattern, old, new)
}

func (d *differ) add(path, pattern string, old, new any) {
	top, _, _ := strings.Cut(pattern, ".")
	kind, replaceKind := pulumirpc.PropertyDiff_UPDATE, pulumirpc.PropertyDiff_UPDATE_REPLACE
	switch {
	case old == nil:
		kind, replaceKind = pulumirpc.PropertyDiff_ADD, pulumirpc.PropertyDiff_ADD_REPLACE
	case new == nil:
		kind, replaceKind = pulumirpc.PropertyDiff_DELETE, pulumirpc.PropertyDiff_DELETE_REPLACE
	}
	if d.typ.replaces(pattern) && (old != nil || !slices.Contains(d.typ.addable, pattern)) {
		kind = replaceKind
		d.out.Replaces = appendNew(d.out.Replaces, top)
	}
	d.out.Changes = pulumirpc.DiffResponse_DIFF_SOME
	d.out.Diffs = appendNew(d.out.Diffs, top)
	d.out.DetailedDiff[path] = &pulumirpc.PropertyDiff{Kind: kind, InputDiff: true}
}

func (t *resourceType) replaces(pattern string) bool {
	return slices.ContainsFunc(t.forceNew, func(f string) bool {
		return pattern == f || strings.HasPrefix(pattern, f+".") || strings.HasPrefix(f, pattern+".")
	})
}

// same compares two values as AWS would.
func (t *resourceType) same(pattern string, a, b any) bool {
	if hasUnknown(a) || hasUnknown(b) {
		return false
	}
	if slices.Contains(t.documents, pattern) {
		return equal(document(a), document(b))
	}
	if slices.Contains(t.ordered, pattern) {
		return equal(a, b)
	}
	return equal(unordered(a), unordered(b))
}

// unordered sorts lists: most of AWS's lists are sets.
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

func unionKeys(a, b map[string]any) []string {
	keys := sortedKeys(a)
	for _, k := range sortedKeys(b) {
		keys = appendNew(keys, k)
	}
	return keys
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
