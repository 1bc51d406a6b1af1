package operation

import (
	"context"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/backend"
	"tombolo/automation/recovery"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
)

// Recovery recovers stacks of the cluster.
func (r *Runner) Recovery(c *config.Cluster) recovery.Recoverer {
	return recovery.Recoverer{
		Backend: r.Backend, Cloud: r.Cloud(c), Open: r.openToRecover,
		Note: r.Observer.Note, Now: r.Now, Pauses: r.Pauses,
	}
}

func (r *Runner) openToRecover(ctx context.Context, c *config.Cluster, k stacks.Kind, env map[string]string) (recovery.Stack, error) {
	s, err := r.Open(ctx, c, k, catalog.Options{}, true)
	if err != nil {
		return nil, err
	}
	s.SetEnv(env)
	return recovering{s}, nil
}

// recovering is a session as a recovery uses it.
type recovering struct{ *Session }

// Import replaces the state of the stack.
func (r recovering) Import(ctx context.Context, read *backend.State, edited apitype.UntypedDeployment) error {
	return r.Session.Import(ctx, "recover", read, edited)
}
