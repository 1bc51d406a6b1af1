package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl"
	"github.com/hashicorp/vault/sdk/logical"
)

// The policies that are always there: https://developer.hashicorp.com/vault/docs/concepts/policies#built-in-policies
const (
	rootPolicy    = "root"
	defaultPolicy = "default"
	defaultRules  = `
path "auth/token/lookup-self" { capabilities = ["read"] }
path "auth/token/revoke-self" { capabilities = ["update"] }
path "sys/internal/ui/mounts/*" { capabilities = ["read"] }
`
)

// capabilities that a rule may have: https://developer.hashicorp.com/vault/docs/concepts/policies#capabilities
var capabilities = []string{"create", "read", "update", "patch", "delete", "list", "sudo", "deny"}

// needed is the capability that an operation needs.
var needed = map[logical.Operation]string{
	logical.CreateOperation: "create", logical.ReadOperation: "read", logical.UpdateOperation: "update",
	logical.PatchOperation: "patch", logical.DeleteOperation: "delete", logical.ListOperation: "list",
}

// rule of a policy.
type rule struct {
	path         string
	capabilities []string
}

// rules reads a policy. Parameters and templates are refused: this server does not know them.
func rules(policy string) ([]rule, error) {
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
	var out []rule
	for _, block := range parsed.Path {
		for path, body := range block {
			if strings.Contains(path, "{{") {
				return nil, fmt.Errorf("failed to parse policy: path %q: this server has no templates", path)
			}
			if strings.Contains(path, "+*") {
				return nil, fmt.Errorf("failed to parse policy: path %q: invalid use of wildcards ('+*' is forbidden)", path)
			}
			r := rule{path: strings.TrimPrefix(path, "/")}
			for key, value := range body {
				words, is := value.([]any)
				if key != "capabilities" || !is {
					return nil, fmt.Errorf("failed to parse policy: path %q: invalid key %q", path, key)
				}
				for _, word := range words {
					if !slices.Contains(capabilities, fmt.Sprint(word)) {
						return nil, fmt.Errorf("failed to parse policy: path %q: invalid capability %q", path, word)
					}
					r.capabilities = append(r.capabilities, fmt.Sprint(word))
				}
			}
			out = append(out, r)
		}
	}
	return out, nil
}

// matches says whether a rule is for a path: + is one segment, and * at the end any rest.
func (r rule) matches(path string) bool {
	pattern, open := strings.CutSuffix(r.path, "*")
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(got) < len(want) || len(got) > len(want) && !open {
		return false
	}
	for i, segment := range want {
		last := i == len(want)-1
		switch {
		case segment == "+":
		case last && open && strings.HasPrefix(strings.Join(got[i:], "/"), segment):
		case segment != got[i] || last && open:
			return false
		}
	}
	return true
}

// priority compares rules of one path: https://developer.hashicorp.com/vault/docs/concepts/policies#priority-matching
func priority(a, b rule) int {
	wild := func(r rule) int {
		if i := strings.IndexAny(r.path, "+*"); i >= 0 {
			return i
		}
		return len(r.path) + 1
	}
	open := func(r rule) int {
		if strings.HasSuffix(r.path, "*") {
			return 0
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(wild(a), wild(b)), cmp.Compare(open(a), open(b)),
		cmp.Compare(strings.Count(b.path, "+"), strings.Count(a.path, "+")),
		cmp.Compare(len(a.path), len(b.path)), cmp.Compare(a.path, b.path),
	)
}

// may says whether policies allow an operation on a path.
func (c *core) may(policies []string, op logical.Operation, path string) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if slices.Contains(policies, rootPolicy) {
		return true
	}
	var of []rule
	for _, name := range policies {
		text := c.policies[name]
		if name == defaultPolicy {
			text = defaultRules
		}
		all, _ := rules(text) // which was read when it was written
		for _, r := range all {
			if r.matches(path) {
				of = append(of, r)
			}
		}
	}
	if len(of) == 0 {
		return false
	}
	best, given := slices.MaxFunc(of, priority).path, []string{}
	for _, r := range of {
		if r.path == best {
			given = append(given, r.capabilities...)
		}
	}
	return !slices.Contains(given, "deny") && slices.Contains(given, needed[op])
}

// setPolicy writes a policy.
func (c *core) setPolicy(ctx context.Context, name, text string) error {
	if name == rootPolicy || name == defaultPolicy {
		return invalid("cannot update %q policy", name)
	}
	if _, err := rules(text); err != nil {
		return invalid("%s", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.policies[name] = text
	return c.keep(ctx, policiesEntry, c.policies)
}

// invalid is a request that is refused with status 400.
func invalid(format string, args ...any) error {
	return logical.CodedError(400, fmt.Sprintf(format, args...))
}
