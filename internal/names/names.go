// Package names has the names on which several parts of Tombolo have to agree,
// though none of them imports the other: what bootstrap publishes and where, and
// how things are marked as Tombolo's.
package names

// Where bootstrap puts things in the cluster.
const (
	// FluxNamespace is the namespace of Flux and of its sync objects.
	FluxNamespace = "flux-system"
	// ArgoCDNamespace is the namespace of Argo CD and of its objects.
	ArgoCDNamespace = "argocd"
	// SystemsNamespace is the namespace of the releases of teams' systems, one each; what a
	// system has is in a namespace of its own name.
	SystemsNamespace = "systems"
	// SystemLabel is the label of such a namespace, with the system's name; with Argo CD, of
	// the Applications of the system.
	SystemLabel = "tombolo/system"
	// SystemHosts is the annotation of such a namespace with the hosts that routes and
	// Ingresses in it may take, with spaces between them.
	SystemHosts = "tombolo/hosts"
	// TeamAnnotation is the annotation of a team's Application, with the team's name.
	TeamAnnotation = "tombolo/team"
	// RetriedAnnotation of a definition of custom resources, or of a namespace, says when a
	// destruction had the cluster try again to delete it.
	RetriedAnnotation = "tombolo/retried"
	// SpokeNamespace is the namespace of a cluster without an engine of its own.
	SpokeNamespace = "tombolo"
)

// ExternalHub before the name of a hub that others run is the identity of its Kubernetes
// provider; the identity of a cluster of ours is its ARN.
const ExternalHub = "external-hub/"

// What bootstrap publishes there.
const (
	// InfraConfig is the general ConfigMap; InfraKeys are its keys.
	InfraConfig = "infra-config"
	// ValuesKey is the key of the Helm values in the ConfigMap of a service or an
	// addon, whose name Values returns.
	ValuesKey = "values.yaml"
	// Platform is what the platform tree starts with: Flux's GitRepository and
	// Kustomization, Argo CD's AppProject and root Application.
	Platform = "platform"
	// PlatformAuth is the Secret with the credentials for the tree's repository.
	PlatformAuth = "platform-auth"

	// CompanyCA is the ConfigMap with what the engine trusts beside public authorities,
	// in its key CompanyCAKey.
	CompanyCA = "company-ca"
	// CompanyCAKey of CompanyCA.
	CompanyCAKey = "ca.crt"
	// ImagePull is the Secret that the engine's images need.
	ImagePull = "image-pull"
)

// Values is the name of the ConfigMap of Helm values of a service or an addon.
func Values(of string) string { return of + "-values" }

// How things are marked.
const (
	// ClusterTag is the tag with the cluster's name on what core makes in the
	// cloud, EnvironmentTag the one with its environment.
	ClusterTag     = "tombolo:cluster"
	EnvironmentTag = "tombolo:environment"
	// OwnerTag is the tag with the cluster's identity there, which no other cluster
	// of the name has, BackendTag the one with the fingerprint of the backend that
	// the cluster was made on.
	OwnerTag   = "tombolo:owner"
	BackendTag = "tombolo:backend"
	// OwnerKey is the key with the identity in the general ConfigMap, and the annotation
	// with it on a registration.
	OwnerKey = "cluster_owner"
	// SystemTag is the tag with a system's name on a resource group that core makes for it.
	SystemTag = "tombolo:system"
	// PipelinesTag is the tag with the account's name on what its pipelines have.
	PipelinesTag = "tombolo:pipelines"
	// ClusterLabel is the label with the cluster's name on what is made for it in
	// Kubernetes: its namespaces, its registration.
	ClusterLabel = "tombolo/cluster"
	// AddonLabel is the label with the addon's name on what belongs to one: its
	// ConfigMap of values, its Application.
	AddonLabel = "tombolo/addon"
)

// RebuildOutput is the output of core with the record of a rebuild that is not finished.
const RebuildOutput = "tomboloRebuild"

// Secret is shown in the place of a secret, as the Pulumi engine does.
const Secret = "[secret]"

// How the engines mark what they apply from Git.
const (
	// FluxLabel is on every object that a Kustomization has applied; its value is the
	// Kustomization's name.
	FluxLabel = "kustomize.toolkit.fluxcd.io/name"
	// ArgoCDAnnotation is on every object that an Application has made; its value starts
	// with the Application's name.
	ArgoCDAnnotation = "argocd.argoproj.io/tracking-id"
)
