// Package names has the names on which several parts of Tombolo have to agree,
// though none of them imports the other: what bootstrap publishes and where, and
// how things are marked as Tombolo's.
package names

import (
	"errors"
	"net/url"
	"slices"
	"strings"
)

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

// Program is the name of the Pulumi program for plain `pulumi up`: tombolo is that program when it
// is started under this name, which a project's Pulumi.yaml has as its binary.
const Program = "tombolo-program"

// Pushed begins files in Git that push replaces; one without it is somebody else's.
const Pushed = "# Written by tombolo push, which replaces it.\n"

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
	// SourceController is the Deployment, and service account, by which Flux reads Git.
	SourceController = "source-controller"
	// RepoServer is that of Argo CD.
	RepoServer = "argocd-repo-server"
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

const (
	// ChannelSecret is the Secret with the address of the platform's channel, in each
	// namespace from which something writes to it.
	ChannelSecret = "channel"
	// ChannelAddress is the key of the address in it: Flux's Provider reads this one.
	ChannelAddress = "address"
	// ChannelType is the key of the infra ConfigMap with the type of the platform's channel,
	// which clusters with one have.
	ChannelType = "channel_type"
)

// retiredConnector ends the hosts of Microsoft's connectors, which are retired: they take
// another format than Workflows do, which Flux and Alertmanager send
// (https://devblogs.microsoft.com/microsoft365dev/retirement-of-office-365-connectors-within-microsoft-teams/).
const retiredConnector = ".webhook.office.com"

// RetiredConnector says whether the address of a channel is one that Microsoft has retired.
func RetiredConnector(address string) bool {
	return strings.HasSuffix(hostname(address), retiredConnector)
}

// Invented says whether an address is at a host of the domain test, which is nobody's
// (https://www.rfc-editor.org/rfc/rfc6761#section-6.2).
func Invented(address string) bool { return strings.HasSuffix(hostname(address), ".test") }

// CheckChannel says what is wrong with the address of a channel. No error holds any of it.
func CheckChannel(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Hostname() == "" || !slices.Contains([]string{"https", "http"}, u.Scheme):
		return errors.New("it is no address of a webhook; give it as https://host/path")
	case RetiredConnector(address):
		return errors.New("it is a connector at webhook.office.com, which Microsoft has retired; make a Workflow in the channel, and take its address")
	case u.Scheme == "http" && !Invented(address):
		return errors.New("it is http://, and who listens could write to the channel; use https://")
	}
	return nil
}

func hostname(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
