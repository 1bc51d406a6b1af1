// Package pipelines is the program of the stack <account>-pipelines: the roles that
// jobs of the pipelines assume in a cloud account, or in a subscription of Azure the managed
// identities.
package pipelines

import (
	"fmt"
	"maps"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/config"
	"tombolo/internal/names"
	"tombolo/stacks/owner"
)

// Run makes what jobs sign in with. The backend is the URL of the state.
func Run(ctx *pulumi.Context, a *config.Account, backend string) error {
	if err := build(ctx, a, backend); err != nil {
		return fmt.Errorf("pipelines of %s: %w", a.Name, err)
	}
	return nil
}

func build(ctx *pulumi.Context, a *config.Account, backend string) error {
	own, err := owner.New(ctx, backend)
	if err != nil {
		return err
	}
	if a.Cloud.Provider == config.Azure {
		return buildInAzure(ctx, a, own)
	}
	return buildInAWS(ctx, a, own)
}

// tags are on everything of the stack.
func tags(a *config.Account, own owner.Owner) map[string]string {
	all := map[string]string{}
	maps.Copy(all, a.Tags)
	all[names.PipelinesTag] = a.Name
	maps.Copy(all, own.Tags())
	return all
}
