package automation

import (
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/argocd"
	"tombolo/automation/backend"
	"tombolo/automation/plan"
	"tombolo/internal/names"
)

// registrationOf is the Secret by which the cluster is registered with a hub.
func registrationOf(s *backend.State, cluster string) (apitype.ResourceV3, bool) {
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

// isExternal says whether others run the hub that a resource is on.
func isExternal(s *backend.State, r apitype.ResourceV3) bool {
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
