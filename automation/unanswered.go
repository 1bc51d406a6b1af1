package automation

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"

	"tombolo/automation/backend"
	"tombolo/automation/pulumicli"
	"tombolo/config"
	"tombolo/internal/names"
	"tombolo/stacks"
)

// noAnswer is how providers report a request of which nobody knows whether it
// worked: no answer came, or the answer was an error of the server's own.
var noAnswer = regexp.MustCompile(`StatusCode: (0|5\d\d)\b|request send failed|timeout awaiting|i/o timeout|Client\.Timeout|` +
	`TLS handshake timeout|connection reset by peer|client connection lost|\bEOF\b|code = Unavailable`)

// unanswered are the creations among what failed that may have happened all the
// same. The engine forgets them: nothing of them is in the state.
func (r *recorded) unanswered() []apitype.StepEventMetadata {
	var out []apitype.StepEventMetadata
	for _, m := range r.FailedCreations {
		if slices.ContainsFunc(r.Causes[m.URN], noAnswer.MatchString) {
			out = append(out, m)
		}
	}
	return out
}

// adoptUnanswered finds out, after a failed up, whether creations without an
// answer happened, and puts what exists into the state, so that the next up
// does not make it twice. It goes the way of creations that an interruption
// left pending. A failure is a note: the up has failed for a reason of its own.
func (d *Driver) adoptUnanswered(ctx context.Context, c *config.Cluster, k stacks.Kind, creations []apitype.StepEventMetadata) {
	if len(creations) == 0 || ctx.Err() != nil {
		return
	}
	stack := stacks.Name(c.Name, k)
	st, err := d.backend.State(ctx, stack)
	if err == nil && st != nil && len(st.Raw.Deployment) > 0 {
		unanswered := 0
		if st, unanswered, err = withUnanswered(st, creations); err == nil && unanswered > 0 {
			err = d.settlePending(ctx, c, k, st, unanswered, nil)
		}
	}
	if err != nil {
		names := make([]string, len(creations))
		for i, m := range creations {
			names[i] = pulumicli.ResourceName(m.URN)
		}
		d.opts.Observer.Note(stack, fmt.Sprintf("it is not known whether %s was made: %v; look for it before the next up, which would make another",
			strings.Join(names, ", "), err))
	}
}

// withUnanswered is the state with creations as an interruption would have left
// them, and how many these are. They depend on all that is there: nothing in the state can depend on
// them, so that whatever order a destruction takes is right, and the next up
// writes down what they really depend on. Creations with secret inputs are left
// out: the engine's events do not tell those.
func withUnanswered(s *backend.State, creations []apitype.StepEventMetadata) (*backend.State, int, error) {
	var existing []resource.URN
	for _, r := range s.Deployment.Resources {
		if r.Custom && !r.Delete && !strings.HasPrefix(string(r.Type), "pulumi:providers:") {
			existing = append(existing, r.URN)
		}
	}
	var resources []apitype.ResourceV3
	for _, m := range creations {
		if r, ok := created(m); ok {
			r.Dependencies = existing
			resources = append(resources, r)
		}
	}
	out, err := withPending(s, resources)
	return out, len(resources), err
}

// withPending is the state with pending creations.
func withPending(s *backend.State, resources []apitype.ResourceV3) (*backend.State, error) {
	out := &backend.State{Raw: s.Raw, Deployment: s.Deployment}
	pending := slices.Clone(s.Deployment.PendingOperations)
	for _, r := range resources {
		pending = append(pending, apitype.OperationV2{Resource: r, Type: apitype.OperationTypeCreating})
	}
	out.Deployment.PendingOperations = pending
	var deployment map[string]json.RawMessage
	if err := json.Unmarshal(s.Raw.Deployment, &deployment); err != nil {
		return nil, fmt.Errorf("read deployment: %w", err)
	}
	deployment["pending_operations"] = backend.Encode(pending)
	out.Raw.Deployment = backend.Encode(deployment)
	return out, nil
}

// created is the resource of a creation; false when its inputs are not known.
func created(m apitype.StepEventMetadata) (apitype.ResourceV3, bool) {
	if m.New == nil || strings.Contains(string(backend.Encode(m.New.Inputs)), names.Secret) {
		return apitype.ResourceV3{}, false
	}
	return apitype.ResourceV3{
		URN: resource.URN(m.URN), Type: tokens.Type(m.Type), Custom: m.New.Custom, Inputs: m.New.Inputs,
		Parent: resource.URN(m.New.Parent), Provider: m.New.Provider, Protect: m.New.Protect,
	}, true
}

// settle adopts the creations of a plan that have an id, and returns the state
// after the refresh. A cloud may say of what it has just made that it does not
// exist: what was seen there a moment ago is looked for again.
func (s *session) settle(ctx context.Context, st *backend.State, plan *recovery) (*backend.State, error) {
	for tries := 0; ; tries++ {
		if plan.creates() {
			edited, err := adopted(st, plan)
			if err != nil {
				return nil, fmt.Errorf("recover stack %s: %w", s.name, err)
			}
			if err := s.importState(ctx, edited); err != nil {
				return nil, s.driver.pulumi.Failure(ctx, pulumicli.Failed{Stack: s.name, Operation: "recover", Err: err})
			}
		}
		after, err := s.refreshSettled(ctx, plan.refresh())
		if err != nil {
			return nil, err
		}
		hidden := plan.hidden(after)
		if len(hidden) == 0 || tries == len(s.driver.pauses) {
			return after, s.confirm(ctx, after)
		}
		if err := linger(ctx, s.driver.pauses[tries]); err != nil {
			return nil, pulumicli.Interrupted(pulumicli.Failed{Stack: s.name, Operation: "recover"}, err)
		}
		if st, err = withPending(after, hidden); err != nil {
			return nil, fmt.Errorf("recover stack %s: %w", s.name, err)
		}
	}
}

// hidden are the creations that were seen in the cloud by their tags, and are
// not in the state after the refresh.
func (p *recovery) hidden(after *backend.State) []apitype.ResourceV3 {
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
