package recovery

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"tombolo/automation/backend"
	"tombolo/automation/pulumicli"
	"tombolo/config"
	"tombolo/internal/sleep"
	"tombolo/stacks"
)

// opened is a stack that is being recovered.
type opened struct {
	Recoverer
	Stack
	name string
}

func (r Recoverer) open(ctx context.Context, c *config.Cluster, k stacks.Kind, env map[string]string) (*opened, error) {
	s, err := r.Open(ctx, c, k, env)
	return &opened{Recoverer: r, Stack: s, name: stacks.Name(c.Name, k)}, err
}

// settle adopts the creations of a plan that have an id, and returns the state
// after the refresh. A cloud may say of what it has just made that it does not
// exist: what was seen there a moment ago is looked for again.
func (s *opened) settle(ctx context.Context, st *backend.State, p *plan) (*backend.State, error) {
	for tries := 0; ; tries++ {
		if p.creates() {
			edited, err := adopted(st, p)
			if err != nil {
				return nil, fmt.Errorf("recover stack %s: %w", s.name, err)
			}
			if err := s.Import(ctx, st, edited); err != nil {
				return nil, err
			}
		}
		after, err := s.refreshSettled(ctx, p.refresh(st))
		if err != nil {
			return nil, err
		}
		if after, err = s.giveBack(ctx, after, p.strangers(s.Cloud, after)); err != nil {
			return nil, err
		}
		hidden := p.hidden(after)
		if len(hidden) == 0 || tries == len(s.Pauses) {
			return after, s.confirm(ctx, after)
		}
		if err := sleep.For(ctx, s.Pauses[tries]); err != nil {
			return nil, pulumicli.Interrupted(pulumicli.Failed{Stack: s.name, Operation: "recover"}, err)
		}
		if st, err = withPending(after, hidden); err != nil {
			return nil, fmt.Errorf("recover stack %s: %w", s.name, err)
		}
	}
}

// giveBack takes resources of others out of the state.
func (s *opened) giveBack(ctx context.Context, st *backend.State, urns []resource.URN) (*backend.State, error) {
	if len(urns) == 0 {
		return st, nil
	}
	edited, err := backend.Without(st.Raw, urns)
	if err != nil {
		return nil, fmt.Errorf("recover stack %s: %w", s.name, err)
	}
	if err := s.Import(ctx, st, edited); err != nil {
		return nil, err
	}
	return s.Backend.State(ctx, s.name)
}

// hidden are the creations that were seen in the cloud by their tags, and are
// not in the state after the refresh.
func (p *plan) hidden(after *backend.State) []apitype.ResourceV3 {
	var out []apitype.ResourceV3
	for _, c := range p.creations {
		if c.lookup == nil || c.id == "" || after == nil {
			continue
		}
		if _, found := after.Find(c.resource.URN); !found {
			out = append(out, c.resource)
		}
	}
	return out
}

// settleTimeout bounds the wait for an adopted resource that the cloud is
// still making; the slowest, a managed control plane, takes 10 to 15 minutes.
const settleTimeout = 30 * time.Minute

// settlePoll is how often such a resource is looked at.
const settlePoll = 5 * time.Second

// refreshSettled refreshes the resources, again as long as the cloud is still
// working on one of them, and returns the state. What a refresh has found gone is
// not refreshed again: the engine refuses a target that is not in the state.
func (s *opened) refreshSettled(ctx context.Context, urns []string) (*backend.State, error) {
	deadline := s.Now().Add(settleTimeout)
	for {
		if len(urns) > 0 {
			if err := s.Refresh(ctx, urns); err != nil {
				return nil, err
			}
		}
		st, err := s.Backend.State(ctx, s.name)
		if err != nil {
			return nil, err
		}
		urns = st.Present(urns)
		busy := unsettled(st, urns)
		if busy == "" {
			return st, nil
		}
		if s.Now().After(deadline) {
			return nil, &pulumicli.Error{
				Stack: s.name, Operation: "recover",
				Reasons: []string{fmt.Sprintf("%s is still being made after %s", busy, settleTimeout)},
				Remedy:  "look at it in the cloud's console and run the same command again",
			}
		}
		if err := sleep.For(ctx, settlePoll); err != nil {
			return nil, pulumicli.Interrupted(pulumicli.Failed{Stack: s.name, Operation: "recover"}, err)
		}
	}
}

// provisioned are the states in which Azure no longer works on a resource. A network that is
// being made is "Updating". Source:
// https://learn.microsoft.com/azure/azure-resource-manager/management/async-operations#provisioningstate-values
var provisioned = []string{"Succeeded", "Failed", "Canceled"}

// unsettled names the first of the resources that the cloud is still making
// or deleting; empty when there is none.
func unsettled(s *backend.State, urns []string) string {
	for _, u := range urns {
		r, ok := s.Find(resource.URN(u))
		if !ok {
			continue
		}
		for _, key := range []string{"status", "state"} {
			switch status, _ := r.Outputs[key].(string); strings.ToUpper(status) {
			case "CREATING", "PENDING", "DELETING":
				return pulumicli.ResourceName(u)
			}
		}
		if state, tells := r.Outputs["provisioningState"].(string); tells && !slices.Contains(provisioned, state) {
			return pulumicli.ResourceName(u)
		}
	}
	return ""
}

// confirm takes the list of what is not verified out of the state.
func (s *opened) confirm(ctx context.Context, st *backend.State) error {
	if !st.ListsUnverified() {
		return nil
	}
	edited, err := backend.WithUnverified(st.Raw, nil)
	if err != nil {
		return fmt.Errorf("recover stack %s: %w", s.name, err)
	}
	return s.Import(ctx, st, edited)
}

// adopted is the state with the creations of a plan that have an id. They and what
// else is compared with the cloud count as not verified, as the import that brings
// them in forgets what was pending.
func adopted(st *backend.State, p *plan) (apitype.UntypedDeployment, error) {
	edited, err := adopt(st.Raw, p.adoptions())
	if err != nil {
		return edited, err
	}
	urns := slices.Concat(p.refresh(st), st.Unverified())
	slices.Sort(urns)
	return backend.WithUnverified(edited, slices.Compact(urns))
}
