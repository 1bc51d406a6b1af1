package connect

import (
	"context"
	"fmt"
	"slices"

	"tombolo/automation/unchanged"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
)

// GivenSecrets are the secrets that are given from outside of Pulumi, by the key of the file that
// names them, and the keys of those that cannot be read here, sorted. Those that are in the settings
// of a stack are in neither.
func (r Connector) GivenSecrets(c *config.Cluster) (values map[string]string, missing []string) {
	values = map[string]string{}
	for key, ref := range unchanged.SecretRefs(c) {
		if ref.Config != "" {
			continue
		}
		value, err := r.Programs.ReadSecret(c, r.Env, key, ref)
		if err != nil {
			missing = append(missing, key)
			continue
		}
		values[key] = value
	}
	slices.Sort(missing)
	return values, missing
}

// Kept reads secrets of the cluster's bootstrap from the stack's encrypted config.
func (r Connector) Kept(ctx context.Context, c *config.Cluster) catalog.Kept {
	return func(key string) (string, error) {
		stack := stacks.Name(c.Name, stacks.Bootstrap)
		ws, err := r.CLI.Reading(ctx)
		if err != nil {
			return "", err
		}
		value, err := ws.GetConfig(ctx, stack, key)
		if err != nil && ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err != nil || value.Value == "" {
			return "", fmt.Errorf("stack %s has no secret %s that can be read here; set it: pulumi config set --secret %s -s %s", stack, key, key, stack)
		}
		return value.Value, nil
	}
}
