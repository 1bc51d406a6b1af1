package automation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"tombolo/config"
	"tombolo/stacks"
)

// unverifiedOutput is an output of a stack in which creations were adopted that
// the cloud has not confirmed yet: the list of their URNs. It is taken away with
// the confirmation. Without one, because the cloud did not answer, it stays for the
// next operation: to the engine an adopted resource exists, and it would never be
// made.
const unverifiedOutput = "tomboloUnverified"

// unverified are the resources whose adoption was not confirmed. One that has left
// the state meanwhile is not among them.
func (s *state) unverified() []string {
	listed, _ := s.outputs()[unverifiedOutput].([]any)
	var out []string
	for _, u := range listed {
		if urn, ok := u.(string); ok {
			if _, found := s.find(resource.URN(urn)); found {
				out = append(out, urn)
			}
		}
	}
	return out
}

// withUnverified is the state with that list; without any URNs the output goes.
func withUnverified(raw apitype.UntypedDeployment, urns []string) (apitype.UntypedDeployment, error) {
	return withOutput(raw, func(outputs map[string]json.RawMessage) {
		delete(outputs, unverifiedOutput)
		if len(urns) > 0 {
			outputs[unverifiedOutput] = mustJSON(urns)
		}
	})
}

// withOutput is the state with other outputs of the stack.
func withOutput(raw apitype.UntypedDeployment, change func(map[string]json.RawMessage)) (apitype.UntypedDeployment, error) {
	var failed error
	out, _, err := edit(raw, func(r map[string]json.RawMessage) bool {
		if stringOf(r["type"]) != rootType {
			return false
		}
		outputs := map[string]json.RawMessage{}
		if len(r["outputs"]) > 0 {
			failed = json.Unmarshal(r["outputs"], &outputs)
		}
		change(outputs)
		r["outputs"] = mustJSON(outputs)
		return true
	})
	return out, errors.Join(err, failed)
}

// verifyAdopted asks the cloud for what an earlier command has adopted without an
// answer, and says what became of it.
func (d *Driver) verifyAdopted(ctx context.Context, c *config.Cluster, k stacks.Kind, st *state, env map[string]string) error {
	urns := st.unverified()
	s, err := d.open(ctx, c, k, stacks.Options{}, true)
	if err != nil {
		return err
	}
	s.setEnv(env)
	after, err := s.refreshSettled(ctx, urns)
	if err != nil {
		return err
	}
	if err := s.confirm(ctx, after); err != nil {
		return err
	}
	var plan recovery
	for _, u := range urns {
		plan.others = append(plan.others, resource.URN(u))
	}
	d.opts.Observer.Note(s.name, plan.report(after))
	return nil
}

// confirm takes the list of what is not verified out of the state.
func (s *session) confirm(ctx context.Context, st *state) error {
	if _, listed := st.outputs()[unverifiedOutput]; !listed {
		return nil
	}
	edited, err := withUnverified(st.raw, nil)
	if err != nil {
		return fmt.Errorf("recover stack %s: %w", s.name, err)
	}
	if err := s.importState(ctx, edited); err != nil {
		return s.driver.failure(ctx, failed{stack: s.name, operation: "recover", err: err})
	}
	return nil
}

// adopted is the state with the creations of a plan that have an id. They and what
// else is compared with the cloud count as not verified, as the import that brings
// them in forgets what was pending.
func adopted(st *state, plan *recovery) (apitype.UntypedDeployment, error) {
	edited, err := adopt(st.raw, plan.adoptions())
	if err != nil {
		return edited, err
	}
	urns := slices.Concat(plan.refresh(), st.unverified())
	slices.Sort(urns)
	return withUnverified(edited, slices.Compact(urns))
}
