package automation

import (
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/argocd"
	"tombolo/automation/backend"
	"tombolo/automation/plan"
)

// registrationOf is the Secret by which the cluster is registered with a hub.
func registrationOf(s *backend.State, cluster string) (apitype.ResourceV3, bool) {
	return s.Object("kubernetes:core/v1:Secret", func(id string) bool {
		return id == argocd.Namespace+"/"+argocd.SecretName(cluster)
	})
}

// hubIn is the name of the cluster that a resource is on, by its provider's
// identity: the cluster's ARN.
func hubIn(s *backend.State, r apitype.ResourceV3) string {
	p, _ := s.Find(backend.ProviderOf(r))
	arn, _ := p.Inputs["clusterIdentifier"].(string)
	return arn[strings.LastIndex(arn, "/")+1:]
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
