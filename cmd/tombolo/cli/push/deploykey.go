package push

import (
	"context"
	"fmt"

	"tombolo/cmd/tombolo/cli/fleet"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

// registered is the result in the JSON format.
type registered struct {
	Type       string `json:"type"`
	Cluster    string `json:"cluster"`
	Repository string `json:"repository"`
	// Changed says that the host did not have the key before.
	Changed bool `json:"changed"`
}

// register has the host of the repository let the cluster's key read it.
func (o *Options) register(ctx context.Context, t fleet.Terminal, driver Driver, c *config.Cluster) error {
	public, err := driver.DeployKey(ctx, c)
	if err != nil {
		return err
	}
	keys, err := o.DeployKeys(c.GitOps.URL)
	if err != nil {
		return err
	}
	keys.HTTP = o.HTTP
	made, err := keys.Ensure(ctx, "tombolo "+c.Name, public)
	if err != nil {
		return fmt.Errorf("deploy key of %s: %w", c.Name, err)
	}
	switch {
	case o.JSON():
		return render.WriteJSON(t.Out, registered{"deploy-key", c.Name, c.GitOps.URL, made})
	case made:
		t.Status.Done("%s: its key may read %s", c.Name, c.GitOps.URL)
	default:
		t.Status.Done("%s: its key could read %s before", c.Name, c.GitOps.URL)
	}
	return nil
}
