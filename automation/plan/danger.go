package plan

import (
	"path"
	"slices"
	"strings"

	"tombolo/automation/argocd"
	"tombolo/internal/names"
)

// Objects of Kubernetes that are updated in place, by their types.
const (
	configMapType = "kubernetes:core/v1:ConfigMap"
	secretType    = "kubernetes:core/v1:Secret"
)

// IsRegistration says whether a resource, whose id on the cluster is
// namespace/name, is a cluster's registration.
func IsRegistration(token, id string) bool {
	namespace, name := path.Split(id)
	return token == secretType && namespace == argocd.Namespace+"/" && strings.HasPrefix(name, argocd.SecretName(""))
}

// IsInfraConfig says whether it is the infra ConfigMap.
func IsInfraConfig(token, id string) bool {
	return token == configMapType && path.Base(id) == names.InfraConfig
}

// Cloud is what a plan asks of a provider of clouds.
type Cloud interface {
	// Danger of deleting or replacing a resource; "" for none.
	Danger(token, id string) Danger
}

// dangerOf judges what happens to a resource. Only what takes something away is
// dangerous.
func dangerOf(cloud Cloud, r Resource) Danger {
	if r.Op != Delete && r.Op != Replace {
		return ""
	}
	return DangerOf(cloud, r.Type, r.ID)
}

// DangerOf is the danger of taking a resource away; "" for none.
func DangerOf(cloud Cloud, token, id string) Danger {
	switch {
	case IsRegistration(token, id):
		return RegistrationDanger
	case IsInfraConfig(token, id):
		return InfraConfigDanger
	case slices.Contains(dataTypes(), token):
		return DataDanger
	}
	return cloud.Danger(token, id)
}

// dataTypes of Kubernetes hold data. A namespace goes with all that is in it.
func dataTypes() []string {
	return []string{"kubernetes:core/v1:Namespace", "kubernetes:core/v1:PersistentVolume", "kubernetes:core/v1:PersistentVolumeClaim"}
}

// Dangerous is a resource with a danger, and whose it is.
type Dangerous struct {
	Cluster, Stack string
	Resource
}

// Dangerous lists what is dangerous, the worst first.
func (s Set) Dangerous() []Dangerous {
	var out []Dangerous
	for _, d := range Dangers() {
		for _, c := range s.Clusters {
			for _, stack := range c.Stacks {
				for _, r := range stack.Resources {
					if r.Danger == d {
						out = append(out, Dangerous{Cluster: c.Name, Stack: stack.Name, Resource: r})
					}
				}
			}
		}
	}
	return out
}
