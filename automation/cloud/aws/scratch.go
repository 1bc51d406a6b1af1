package aws

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optdestroy"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optrefresh"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/automation/backend"
	"tombolo/automation/cloud/scratch"
	"tombolo/automation/teardown"
	"tombolo/config"
)

// Find looks by tag and by name. What a tagging API says may be a while old: so
// everything that the provider knows is read, and what is gone, or another owner's, is
// left out.
func (a Cloud) Find(ctx context.Context, c *config.Cluster, q teardown.Search) ([]teardown.Leftover, error) {
	const what = "look for leftovers of"
	var found []teardown.Leftover
	err := a.ask(ctx, what, c, func(p *pulumi.Context) error {
		account, err := lookupProvider(p, c)
		if err != nil {
			return err
		}
		found, err = candidates(p, c, q, account)
		return err
	})
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, q.Known)
	if !slices.ContainsFunc(found, readable) {
		return found, nil
	}
	s, done, err := a.open(ctx, c, what)
	if err != nil {
		return nil, err
	}
	defer done()
	return s.read(ctx, q.Owner, found)
}

// Remove deletes what it is given, in an order in which nothing is in the way of
// another.
func (a Cloud) Remove(ctx context.Context, c *config.Cluster, q teardown.Search, all []teardown.Leftover) error {
	for _, l := range all {
		if l.Proof == "" {
			return fmt.Errorf("delete leftovers of %s: nothing proves that %s is the cluster's", c.Name, l)
		}
	}
	if !slices.ContainsFunc(all, readable) {
		return nil
	}
	s, done, err := a.open(ctx, c, "delete leftovers of")
	if err != nil {
		return err
	}
	defer done()
	if _, err := s.read(ctx, q.Owner, all); err != nil {
		return err
	}
	return s.destroy(ctx)
}

// provided is a stack that is thrown away, with a provider in it.
type provided struct{ *scratch.Stack }

// open makes a scratch stack and puts a provider into it.
func (a Cloud) open(ctx context.Context, c *config.Cluster, what string) (provided, func(), error) {
	made, done, err := scratch.New(ctx, a.Pulumi, what, c.Name, func(p *pulumi.Context) error {
		_, err := lookupProvider(p, c)
		return err
	})
	s := provided{made}
	if err != nil {
		return s, nil, err
	}
	err = s.Run(ctx, func(ch chan<- events.EngineEvent) error {
		_, err := s.Up(ctx, optup.EventStreams(ch), optup.SuppressProgress())
		return err
	})
	if err != nil {
		done()
	}
	return s, done, err
}

// read has the provider read the resources that it can, and returns those that
// are there, and those that it cannot read. What turns out to be another owner's is
// neither returned nor left in the stack.
func (s provided) read(ctx context.Context, owner string, all []teardown.Leftover) ([]teardown.Leftover, error) {
	if err := s.edit(ctx, func(has []backend.Resource) []backend.Resource { return withLeftovers(has, all) }); err != nil {
		return nil, err
	}
	err := s.Run(ctx, func(ch chan<- events.EngineEvent) error {
		_, err := s.Refresh(ctx, optrefresh.EventStreams(ch), optrefresh.SuppressProgress())
		return err
	})
	if err != nil {
		return nil, err
	}
	raw, err := s.Export(ctx)
	if err != nil {
		return nil, s.Failure(ctx, err)
	}
	st, err := backend.ParseState(s.Name(), raw)
	if err != nil {
		return nil, err
	}
	if st, err = s.withoutStrangers(ctx, owner, st); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(all), func(l teardown.Leftover) bool {
		_, there := st.Object(l.Type, func(id string) bool { return id == l.ID })
		return readable(l) && !there
	}), nil
}

// readable says that the provider can read a leftover.
func readable(l teardown.Leftover) bool { return l.Type != "" }

// withoutStrangers takes out of the stack what has another owner's tag.
func (s provided) withoutStrangers(ctx context.Context, owner string, st *backend.State) (*backend.State, error) {
	var strangers []resource.URN
	for _, r := range st.All() {
		if id, _ := (Cloud{}).Owner(r.Outputs); id != "" && id != owner {
			strangers = append(strangers, r.URN)
		}
	}
	if len(strangers) == 0 {
		return st, nil
	}
	left, err := backend.Without(st.Raw, strangers)
	if err != nil {
		return nil, err
	}
	if err := s.Import(ctx, left); err != nil {
		return nil, s.Failure(ctx, err)
	}
	return backend.ParseState(s.Name(), left)
}

// destroy deletes what was read. A security group is first taken out of the
// rules of others, or it could not go.
func (s provided) destroy(ctx context.Context) error {
	err := s.edit(ctx, func(has []backend.Resource) []backend.Resource {
		for _, r := range has {
			if backend.DecodeString(r["type"]) != "aws:ec2/securityGroup:SecurityGroup" {
				continue
			}
			for _, side := range []string{"inputs", "outputs"} {
				r[side] = with(r[side], "revokeRulesOnDelete", true)
			}
		}
		return has
	})
	if err != nil {
		return err
	}
	return s.Run(ctx, func(ch chan<- events.EngineEvent) error {
		_, err := s.Destroy(ctx, optdestroy.EventStreams(ch), optdestroy.SuppressProgress())
		return err
	})
}

// edit changes the stack's state.
func (s provided) edit(ctx context.Context, change func([]backend.Resource) []backend.Resource) error {
	raw, err := s.Export(ctx)
	if err != nil {
		return s.Failure(ctx, err)
	}
	if raw, err = backend.Rewrite(raw, change); err != nil {
		return fmt.Errorf("read the state of what was looked up: %w", err)
	}
	if err := s.Import(ctx, raw); err != nil {
		return s.Failure(ctx, err)
	}
	return nil
}

// withLeftovers are the resources of a state with those that the provider can read, by their ids.
// What is deleted later comes first, and what is deleted before depends on it.
func withLeftovers(has []backend.Resource, all []teardown.Leftover) []backend.Resource {
	var root, provider string
	for _, r := range has {
		switch kind := backend.DecodeString(r["type"]); {
		case kind == backend.RootType:
			root = backend.DecodeString(r["urn"])
		case strings.HasPrefix(kind, "pulumi:providers:"):
			provider = backend.DecodeString(r["urn"]) + "::" + backend.DecodeString(r["id"])
		}
	}
	last := slices.DeleteFunc(slices.Clone(all), func(l teardown.Leftover) bool { return !readable(l) })
	teardown.Sort(last)
	slices.Reverse(last)
	type placed struct {
		urn  string
		rank int
	}
	var before []placed
	for _, l := range last {
		urn := strings.Replace(root, backend.RootType, l.Type, 1)
		urn = urn[:strings.LastIndex(urn, "::")] + "::" + strings.ReplaceAll(l.ID, "::", ":")
		needs := []string{}
		for _, b := range before {
			if b.rank > l.Rank {
				needs = append(needs, b.urn)
			}
		}
		has = append(has, backend.Resource{
			"urn": backend.Encode(urn), "type": backend.Encode(l.Type), "id": backend.Encode(l.ID), "custom": backend.Encode(true),
			"inputs": backend.Encode(map[string]any{}), "outputs": backend.Encode(map[string]any{}),
			"parent": backend.Encode(root), "provider": backend.Encode(provider), "dependencies": backend.Encode(needs),
		})
		before = append(before, placed{urn, l.Rank})
	}
	return has
}

// with sets a field of an object.
func with(object json.RawMessage, key string, value any) json.RawMessage {
	fields := map[string]json.RawMessage{}
	if len(object) > 0 && json.Unmarshal(object, &fields) != nil {
		return object
	}
	fields[key] = backend.Encode(value)
	return backend.Encode(fields)
}
