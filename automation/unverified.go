package automation

import (
	"context"
	"fmt"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"tombolo/automation/backend"
	"tombolo/automation/pulumicli"
	"tombolo/config"
	"tombolo/stacks"
)

// verifyAdopted asks the cloud for what an earlier command has adopted without an
// answer, and says what became of it.
func (d *Driver) verifyAdopted(ctx context.Context, c *config.Cluster, k stacks.Kind, st *backend.State, env map[string]string) error {
	urns := st.Unverified()
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
func (s *session) confirm(ctx context.Context, st *backend.State) error {
	if !st.ListsUnverified() {
		return nil
	}
	edited, err := backend.WithUnverified(st.Raw, nil)
	if err != nil {
		return fmt.Errorf("recover stack %s: %w", s.name, err)
	}
	if err := s.importState(ctx, edited); err != nil {
		return s.driver.pulumi.Failure(ctx, pulumicli.Failed{Stack: s.name, Operation: "recover", Err: err})
	}
	return nil
}

// adopted is the state with the creations of a plan that have an id. They and what
// else is compared with the cloud count as not verified, as the import that brings
// them in forgets what was pending.
func adopted(st *backend.State, plan *recovery) (apitype.UntypedDeployment, error) {
	edited, err := adopt(st.Raw, plan.adoptions())
	if err != nil {
		return edited, err
	}
	urns := slices.Concat(plan.refresh(), st.Unverified())
	slices.Sort(urns)
	return backend.WithUnverified(edited, slices.Compact(urns))
}
