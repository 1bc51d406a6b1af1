package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/hashicorp/vault/sdk/logical"

	"tombolo/tools/externalsecrets/policy"
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

// may says whether policies allow an operation on a path.
func (c *core) may(policies []string, op logical.Operation, path string) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var rules []policy.Rule
	for _, name := range policies {
		text := c.policies[name]
		switch name {
		case rootPolicy:
			return true
		case defaultPolicy:
			text = defaultRules
		}
		all, _ := policy.Parse(text) // which was read when it was written
		rules = slices.Concat(rules, all)
	}
	return policy.Allow(rules, string(op), path) // operations have the names of capabilities
}

// setPolicy writes a policy.
func (c *core) setPolicy(ctx context.Context, name, text string) error {
	if name == rootPolicy || name == defaultPolicy {
		return invalid("cannot update %q policy", name)
	}
	if _, err := policy.Parse(text); err != nil {
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
