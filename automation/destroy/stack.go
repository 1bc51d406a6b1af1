package destroy

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optdestroy"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/backend"
	"tombolo/automation/operation"
	"tombolo/automation/pulumicli"
	"tombolo/automation/teardown"
	"tombolo/config"
	"tombolo/internal/wording"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
)

// keptData says whether data is kept which no stack has: what guards it stays, too.
type keptData int

const (
	withoutData keptData = iota
	withData
)

// stack destroys what is in a stack, but for the identity. There is no session
// where there is no stack.
func (d Destroyer) stack(ctx context.Context, c *config.Cluster, k stacks.Kind, o Options,
	env map[string]string, kept keptData,
) (*operation.Session, operation.StackResult, error) {
	st, err := d.Runner.Recovery(c).Recover(ctx, c, k, env)
	if err != nil || st == nil {
		return nil, operation.StackResult{}, err
	}
	s, err := d.Runner.Open(ctx, c, k, catalog.Options{}, true)
	if err != nil {
		return nil, operation.StackResult{}, err
	}
	s.SetEnv(env)
	result := operation.StackResult{Stack: s.Name, Kind: k, Operation: "destroy", Changes: operation.Changes{}}
	if st.Destroyed() {
		return s, result, nil
	}
	left, err := d.prepare(ctx, s, st, o, kept)
	if err != nil {
		return s, result, err
	}
	staying := st.Identity()
	n := len(st.Deployment.Resources)
	if len(staying) > 0 {
		n -= 2 // it stays, below the stack itself
	}
	if c.Rebuild != "" && o.KeepData {
		data := d.data(c, st)
		staying, n = append(staying, data...), n-len(data)
	}
	d.Runner.Observer.StackPlanned(s.Name, n)
	result, err = s.Run(ctx, "destroy", func(ctx context.Context, ch chan<- events.EngineEvent) error {
		opts := []optdestroy.Option{optdestroy.EventStreams(ch), optdestroy.SuppressProgress(), optdestroy.Exclude(staying)}
		if o.Refresh {
			opts = append(opts, optdestroy.Refresh())
		}
		_, err := s.Stack.Destroy(ctx, opts...)
		return err
	})
	result.Kept = left
	if err != nil {
		d.protectAgain(ctx, s)
	}
	return s, result, err
}

// forget takes the identity of a cluster of which nothing is left out of the state.
func (d Destroyer) forget(ctx context.Context, s *operation.Session) error {
	st, err := d.Backend.State(ctx, s.Name)
	if err != nil || len(st.All()) == 0 || !st.Destroyed() {
		return err
	}
	empty, err := backend.Empty(st.Raw)
	if err != nil {
		return fmt.Errorf("take the identity of %s out of stack %s: %w", s.Cluster.Name, s.Name, err)
	}
	return s.Import(ctx, "take the cluster's identity out of", st, empty)
}

// data are the resources of a state that hold data, or guard it. A rebuild leaves them in
// the state, and not in the cloud alone: the new cluster goes on with them.
func (d Destroyer) data(c *config.Cluster, st *backend.State) []string {
	var urns []string
	for _, r := range st.All() {
		if d.Runner.Cloud(c).Data(string(r.Type)) != teardown.NoData && !r.Delete && !r.External {
			urns = append(urns, string(r.URN))
		}
	}
	return urns
}

// staying are the resources that core has after its destruction: in a rebuild the data that
// is kept, and what that needs. Without a rebuild nothing is known to stay.
func (d Destroyer) staying(ctx context.Context, c *config.Cluster) []apitype.ResourceV3 {
	if c.Rebuild == "" {
		return nil
	}
	st, _ := d.Backend.State(ctx, stacks.Name(c.Name, stacks.Core)) // else the search finds them, and says so
	return st.All()
}

// protectTimeout bounds protectAgain, also after an interruption: three calls of the
// CLI, half a second each, and a slow bucket.
const protectTimeout = 30 * time.Second

// protectAgain puts back the protection that was taken off for a destruction that
// failed. When it cannot, the next command does.
func (d Destroyer) protectAgain(ctx context.Context, s *operation.Session) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), protectTimeout)
	defer cancel()
	st, err := d.Backend.State(ctx, s.Name)
	if err != nil || st == nil {
		return
	}
	if _, err := d.Runner.Recovery(s.Cluster).Protect(ctx, s.Cluster, s.Kind, st); err != nil {
		d.Runner.Observer.Note(s.Name, "what is left is not protected: "+err.Error()+"; the next up or destroy protects it")
	}
}

// prepare writes into the state what the destruction needs there, and
// returns what it leaves in the cloud.
func (d Destroyer) prepare(ctx context.Context, s *operation.Session, st *backend.State, o Options, data keptData) ([]teardown.Kept, error) {
	p := teardown.Preparation{
		Cloud: d.Runner.Cloud(s.Cluster), KeepData: o.KeepData, ControlPlane: d.controlPlane(s.Cluster, st),
	}
	p.Guards = data == withData || len(p.Kept(st.Deployment.Resources)) > 0
	edited, n, err := backend.Edit(st.Raw, p.Edit)
	if err == nil {
		edited, err = backend.WithUnprotected(st, edited)
	}
	if err != nil {
		return nil, fmt.Errorf("prepare stack %s for its destruction: %w", s.Name, err)
	}
	if n == 0 {
		return nil, nil
	}
	if err := s.Import(ctx, "prepare the destruction of", st, edited); err != nil {
		return nil, err
	}
	note := func(message string) { d.Runner.Note(s.Name, message) }
	if p.Unprotected > 0 {
		note(fmt.Sprintf("the protection of %s was taken off", wording.Plural(p.Unprotected, "resource", "resources")))
	}
	kept := p.Kept(st.Deployment.Resources)
	for _, k := range kept {
		note("keeps " + k.String())
	}
	return kept, nil
}

// keep reports what the last search has found and leaves in the cloud, but for
// what was reported when the stack was destroyed.
func (d Destroyer) keep(s *operation.Session, result *operation.StackResult, found []teardown.Leftover) {
	for _, l := range found {
		if slices.ContainsFunc(result.Kept, func(k teardown.Kept) bool { return k.Is(l) }) {
			continue
		}
		result.Kept = append(result.Kept, teardown.Kept{Type: l.Type, ID: l.ID, Name: l.Name})
		d.Runner.Observer.Note(s.Name, "keeps "+l.String())
	}
}

// removed takes the stack out of the backend where that is wanted, and says so
// in the result.
func (d Destroyer) removed(ctx context.Context, s *operation.Session, result operation.StackResult, o Options) (operation.StackResult, error) {
	if !o.Remove {
		return result, nil
	}
	err := d.remove(ctx, s)
	result.Removed = err == nil
	return result, err
}

// remove takes the empty stack out of the backend. Its settings file stays
// where it is the user's: secrets in it are needed when the cluster is made
// again.
func (d Destroyer) remove(ctx context.Context, s *operation.Session) error {
	s.Command.PreserveConfig = true
	err := s.Stack.Workspace().RemoveStack(ctx, s.Name)
	if err != nil {
		return d.Runner.CLI.Failure(ctx, pulumicli.Failed{Stack: s.Name, Operation: "remove", Err: err})
	}
	return nil
}
