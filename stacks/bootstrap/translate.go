package bootstrap

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals"

	"tombolo/components/argocd"
	"tombolo/components/flux"
	"tombolo/components/infraconfig"
	"tombolo/components/namespaces"
	"tombolo/components/registration"
	"tombolo/config"
	"tombolo/internal/names"
	"tombolo/stacks/catalog"
	"tombolo/stacks/handoff"
)

// This file translates cluster file and hand-off into the components'
// arguments.

// builtin tells the namespaces that every cluster has from its start: they are
// never ours to make or to delete.
func builtin(name string) bool {
	return slices.Contains([]string{"default", "kube-system", "kube-public", "kube-node-lease"}, name)
}

// namespaceArgs are the file's namespaces, the addons', and the engine's in any
// case. What the file says about an addon's namespace comes before what the
// addon asks for.
func namespaceArgs(c *config.Cluster) []namespaces.Namespace {
	var out []namespaces.Namespace
	for _, n := range c.Namespaces {
		if !builtin(n.Name) {
			out = append(out, namespaces.Namespace(n))
		}
	}
	for _, a := range c.Addons.Enabled() {
		if !builtin(a.Namespace) {
			out = withNamespace(out, a.Namespace, a.NamespaceLabels)
		}
	}
	if engine := c.EngineNamespace(); !slices.ContainsFunc(out, func(n namespaces.Namespace) bool { return n.Name == engine }) {
		out = append(out, namespaces.Namespace{Name: engine})
	}
	return out
}

// namespaces are those to make: that of an engine that was there before is others'.
func (p *program) namespaces() []namespaces.Namespace {
	all := namespaceArgs(p.c)
	for i, n := range all {
		all[i].Annotations = keeps(p.c.GitOps.Engine)
		maps.Copy(all[i].Annotations, n.Annotations)
	}
	if !p.takenOver {
		return all
	}
	return slices.DeleteFunc(all, func(n namespaces.Namespace) bool { return n.Name == p.c.EngineNamespace() })
}

// keeps are the annotations by which an engine leaves a namespace that Git had, for labels of its own, and
// has no more: it is bootstrap's, and all that is in it would go with it. Sources:
// https://fluxcd.io/flux/components/kustomize/kustomizations/#controlling-the-apply-behavior-of-resources ("prune")
// and https://argo-cd.readthedocs.io/en/stable/user-guide/sync-options/ ("No Prune Resources").
func keeps(e config.Engine) map[string]string {
	if e == config.ArgoCD {
		return argocd.Staying()
	}
	return flux.Staying()
}

// withNamespace adds a namespace, or only the labels that it lacks.
func withNamespace(all []namespaces.Namespace, name string, labels map[string]string) []namespaces.Namespace {
	i := slices.IndexFunc(all, func(n namespaces.Namespace) bool { return n.Name == name })
	if i < 0 {
		return append(all, namespaces.Namespace{Name: name, Labels: maps.Clone(labels)})
	}
	merged := maps.Clone(labels)
	if merged == nil {
		merged = map[string]string{}
	}
	maps.Copy(merged, all[i].Labels)
	all[i].Labels = merged
	return all
}

func infraConfigArgs(c, hub *config.Cluster, h handoff.Handoff, read map[config.Source]any) *infraconfig.InfraConfigArgs {
	args := &infraconfig.InfraConfigArgs{
		Cloud:       string(c.Cloud.Provider),
		Namespace:   c.EngineNamespace(),
		Extra:       c.ValueTexts(read),
		Labels:      c.Labels,
		Annotations: annotations(c),
		Facts: infraconfig.Facts{
			"cluster_name":     h.ClusterName,
			names.OwnerKey:     h.Owner,
			"environment":      pulumi.String(c.Environment),
			"cloud":            pulumi.String(c.Cloud.Provider),
			"region":           h.Region,
			"cluster_id":       h.ClusterID,
			"cluster_endpoint": h.ClusterEndpoint,
			"cluster_version":  h.ClusterVersion,
			"oidc_issuer":      h.OIDCIssuer,
			"gitops_path":      pulumi.String(gitOpsPath(hub)),
		},
	}
	maps.Copy(args.Facts, partOf(c).facts(h))
	for _, s := range c.Services {
		args.Services = append(args.Services, service(s, h, read))
	}
	addons(args, c, h)
	if kind := c.ChannelType(); kind != "" && c.GitOps.Engine == config.Flux {
		args.AddonKeys[names.ChannelType] = pulumi.String(kind)
	}
	return args
}

// gitOpsPath is the path as the tree's own references are built on it:
// ./${gitops_path}/<stage>.
func gitOpsPath(c *config.Cluster) string {
	return strings.TrimPrefix(strings.TrimPrefix(c.GitOps.Path, "./"), "/")
}

// annotations are the file's, and the names of the addons that are turned on:
// from them the next up knows which ones were turned off.
func annotations(c *config.Cluster) map[string]string {
	if len(c.Addons) == 0 {
		return c.Annotations
	}
	all := map[string]string{catalog.AddonsAnnotation: strings.Join(c.Addons.Names(), ",")}
	maps.Copy(all, c.Annotations)
	return all
}

func service(s config.Service, h handoff.Handoff, read map[config.Source]any) infraconfig.Service {
	out := infraconfig.Service{Name: s.Name, Namespace: s.Namespace, Values: s.ValuesWith(read)}
	if s.Identity == nil {
		return out
	}
	out.ServiceAccount = s.Identity.ServiceAccount
	switch s.Identity.Mode { // Pod Identity needs no annotation: the association names the account
	case config.IRSA:
		out.RoleARN = h.ServiceIdentity(s.Name)
	case config.WorkloadIdentity:
		out.ClientID = h.ServiceIdentity(s.Name)
	}
	return out
}

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
