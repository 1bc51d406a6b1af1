package hubs

import (
	"context"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"tombolo/automation/argocd"
	"tombolo/automation/backend"
	"tombolo/automation/kube"
	"tombolo/automation/plan"
	"tombolo/config"
	"tombolo/internal/names"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
)

// RegistrationOf is the Secret by which the cluster is registered with a hub.
func RegistrationOf(s *backend.State, cluster string) (apitype.ResourceV3, bool) {
	return s.Object("kubernetes:core/v1:Secret", func(id string) bool {
		return id == argocd.Namespace+"/"+argocd.SecretName(cluster)
	})
}

// hubIn is the name of the cluster that a resource is on, by its provider's
// identity: the cluster's ARN, or that of a hub that others run.
func hubIn(s *backend.State, r apitype.ResourceV3) string {
	arn := identityOf(s, r)
	return arn[strings.LastIndex(arn, "/")+1:]
}

func identityOf(s *backend.State, r apitype.ResourceV3) string {
	p, _ := s.Find(backend.ProviderOf(r))
	identity, _ := p.Inputs["clusterIdentifier"].(string)
	return identity
}

// IsExternal says whether others run the hub that a resource is on.
func IsExternal(s *backend.State, r apitype.ResourceV3) bool {
	return strings.HasPrefix(identityOf(s, r), names.ExternalHub)
}

// onHub are the URNs of what a destruction takes from the hub before bootstrap
// is destroyed: registrations, and root Applications.
func onHub(s *backend.State) []string {
	var out []string
	for _, r := range s.Deployment.Resources {
		isRoot := string(r.Type) == "kubernetes:argoproj.io/v1alpha1:Application" && string(r.ID) == argocd.Namespace+"/"+argocd.Root
		if isRoot || plan.IsRegistration(string(r.Type), string(r.ID)) {
			out = append(out, string(r.URN))
		}
	}
	return out
}

// argoCD is the Argo CD of a hub, for what concerns the cluster.
func (h Hubs) argoCD(ctx context.Context, c *config.Cluster, hub kube.Cluster) (argocd.Hub, error) {
	core, err := h.Backend.State(ctx, stacks.Name(c.Name, stacks.Core))
	return argocd.Hub{Client: hub.Client, Owner: core.Owner()}, err
}

// leaveRegistration leaves a hub alone that has registered another owner's cluster of the
// name: a registration that the state has is forgotten, or the destruction would delete
// the other's.
func (h Hubs) leaveRegistration(ctx context.Context, c *config.Cluster, theirs argocd.Registration) error {
	stack := stacks.Name(c.Name, stacks.Bootstrap)
	h.Runner.Note(stack, fmt.Sprintf("the hub has registered another cluster %s, whose owner is %s: its registration and its applications are left alone",
		c.Name, theirs.Owner()))
	return h.forgetRegistration(ctx, c)
}

// forgetRegistration takes the cluster's registration out of the state, if it is there.
func (h Hubs) forgetRegistration(ctx context.Context, c *config.Cluster) error {
	st, err := h.Backend.State(ctx, stacks.Name(c.Name, stacks.Bootstrap))
	if err != nil {
		return err
	}
	ours, ok := RegistrationOf(st, c.Name)
	if !ok {
		return nil
	}
	edited, err := backend.Without(st.Raw, []resource.URN{ours.URN})
	if err != nil {
		return fmt.Errorf("forget the registration of %s: %w", c.Name, err)
	}
	s, err := h.Runner.Open(ctx, c, stacks.Bootstrap, catalog.Options{}, true)
	if err != nil {
		return err
	}
	return s.Import(ctx, "forget the registration in", st, edited)
}
