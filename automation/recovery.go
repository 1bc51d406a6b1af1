package automation

import (
	"context"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/backend"
	"tombolo/automation/recovery"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
)

// recovery recovers stacks of the cluster.
func (d *Driver) recovery(c *config.Cluster) recovery.Recoverer {
	return recovery.Recoverer{
		Backend: d.backend, Cloud: d.cloud(c), Open: d.openToRecover,
		Note: d.opts.Observer.Note, Now: d.now, Pauses: d.pauses,
	}
}

func (d *Driver) openToRecover(ctx context.Context, c *config.Cluster, k stacks.Kind, env map[string]string) (recovery.Stack, error) {
	s, err := d.open(ctx, c, k, catalog.Options{}, true)
	if err != nil {
		return nil, err
	}
	s.setEnv(env)
	return recovering{s}, nil
}

// recovering is a session as a recovery uses it.
type recovering struct{ *session }

// Import replaces the state of the stack.
func (r recovering) Import(ctx context.Context, read *backend.State, edited apitype.UntypedDeployment) error {
	return r.importState(ctx, "recover", read, edited)
}
