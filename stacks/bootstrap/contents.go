package bootstrap

import (
	"context"
	"fmt"
	"maps"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals"

	"tombolo/components/registration"
	"tombolo/config"
	"tombolo/internal/names"
	"tombolo/stacks/catalog"
	"tombolo/stacks/handoff"
)

// ContentsOf works out what GitOps reads on a cluster where core has these outputs: the
// program publishes the same. It asks no stack and no cluster. Outputs that are missing
// are empty; of one that is unknown the caller may give a text to recognise. read are the
// values of other stacks and of Parameter Store, as ValuesOutput has them.
func ContentsOf(ctx context.Context, c, hub *config.Cluster, outputs, read map[string]any) (catalog.Contents, error) {
	h, err := handoff.Of(string(c.Cloud.Provider), outputs)
	if err != nil {
		return catalog.Contents{}, fmt.Errorf("work out what GitOps reads on %s: %w", c.Name, err)
	}
	out := catalog.Contents{Data: map[string]map[string]string{}, Annotations: map[string]map[string]string{}}
	all := infraConfigArgs(c, hub, h, sources(c, read)).ConfigMaps()
	for _, m := range all {
		if out.Data[m.Namespace+"/"+m.Name], err = resolved(ctx, m.Data); err != nil {
			return catalog.Contents{}, fmt.Errorf("work out what GitOps reads on %s: %w", c.Name, err)
		}
	}
	if c.GitOps.Engine != config.ArgoCD {
		return out, nil
	}
	object := names.ArgoCDNamespace + "/" + registration.SecretName(c.Name)
	annotations := pulumi.StringMap{}
	maps.Copy(annotations, registered(c, hub, h, all[0].Data))
	if out.Annotations[object], err = resolved(ctx, annotations); err != nil {
		return catalog.Contents{}, fmt.Errorf("work out what Argo CD reads of %s: %w", c.Name, err)
	}
	return out, nil
}

// resolved are the texts of outputs that wait for no resource.
func resolved(ctx context.Context, in pulumi.StringMap) (map[string]string, error) {
	found, err := internals.UnsafeAwaitOutput(ctx, in.ToStringMapOutput())
	if err != nil {
		return nil, err
	}
	texts, _ := found.Value.(map[string]string)
	return texts, nil
}

// sources are values that were read, by their sources.
func sources(c *config.Cluster, read map[string]any) map[config.Source]any {
	out := map[config.Source]any{}
	for _, ref := range c.References() {
		if v, ok := read[ref.Source.String()]; ok {
			out[ref.Source] = v
		}
	}
	return out
}
