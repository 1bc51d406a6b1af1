// Package policy reads policies of Vault, and says what they allow:
// https://developer.hashicorp.com/vault/docs/concepts/policies
package policy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl"
)

// capabilities that a rule may have: https://developer.hashicorp.com/vault/docs/concepts/policies#capabilities
var capabilities = []string{"create", "read", "update", "patch", "delete", "list", "sudo", "deny"}

// Rule of a policy.
type Rule struct {
	path         string
	capabilities []string
}

// Parse reads a policy. Parameters and templates are refused: they are not known here.
func Parse(policy string) ([]Rule, error) {
	var parsed struct {
		Path []map[string]map[string]any `hcl:"path"`
	}
	var keys map[string]any
	if err := errors.Join(hcl.Decode(&parsed, policy), hcl.Decode(&keys, policy)); err != nil {
		return nil, fmt.Errorf("failed to parse policy: %w", err)
	}
	for key := range keys {
		if key != "path" {
			return nil, fmt.Errorf("failed to parse policy: invalid key %q", key)
		}
	}
	var out []Rule
	for _, block := range parsed.Path {
		for path, body := range block {
			r, err := ruleOf(path, body)
			if err != nil {
				return nil, fmt.Errorf("failed to parse policy: path %q: %w", path, err)
			}
			out = append(out, r)
		}
	}
	return out, nil
}

func ruleOf(path string, body map[string]any) (Rule, error) {
	r := Rule{path: strings.TrimPrefix(path, "/")}
	switch {
	case strings.Contains(path, "{{"):
		return r, errors.New("this server has no templates")
	case strings.Contains(path, "+*"):
		return r, errors.New("invalid use of wildcards ('+*' is forbidden)")
	}
	for key, value := range body {
		words, is := value.([]any)
		if key != "capabilities" || !is {
			return r, fmt.Errorf("invalid key %q", key)
		}
		for _, word := range words {
			if !slices.Contains(capabilities, fmt.Sprint(word)) {
				return r, fmt.Errorf("invalid capability %q", word)
			}
			r.capabilities = append(r.capabilities, fmt.Sprint(word))
		}
	}
	return r, nil
}

// matches says whether a rule is for a path: + is one segment, and * at the end any rest.
func (r Rule) matches(path string) bool {
	pattern, open := strings.CutSuffix(r.path, "*")
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(got) < len(want) || len(got) > len(want) && !open {
		return false
	}
	for i, segment := range want {
		rest := got[i]
		last := open && i == len(want)-1
		if last {
			rest = strings.Join(got[i:], "/")
		}
		if segment != "+" && segment != rest && (!last || !strings.HasPrefix(rest, segment)) {
			return false
		}
	}
	return true
}

// priority compares rules of one path: https://developer.hashicorp.com/vault/docs/concepts/policies#priority-matching
func priority(a, b Rule) int {
	wild := func(r Rule) int {
		if i := strings.IndexAny(r.path, "+*"); i >= 0 {
			return i
		}
		return len(r.path) + 1
	}
	exact := func(r Rule) int {
		if strings.HasSuffix(r.path, "*") {
			return 0
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(wild(a), wild(b)), cmp.Compare(exact(a), exact(b)),
		cmp.Compare(strings.Count(b.path, "+"), strings.Count(a.path, "+")),
		cmp.Compare(len(a.path), len(b.path)), cmp.Compare(a.path, b.path),
	)
}

// Allow says whether rules, of all policies of a token, allow something on a path: those of the path
// that is nearest count, and deny wins.
func Allow(rules []Rule, capability, path string) bool {
	of := slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool { return !r.matches(path) })
	if len(of) == 0 {
		return false
	}
	best, given := slices.MaxFunc(of, priority).path, []string{}
	for _, r := range of {
		if r.path == best {
			given = append(given, r.capabilities...)
		}
	}
	return !slices.Contains(given, "deny") && slices.Contains(given, capability)
}
