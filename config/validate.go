package config

import (
	"reflect"
	"slices"

	"tombolo/config/addon"
	"tombolo/config/awsfacts"
	"tombolo/config/strict"
)

// newFile is the file of a cluster, to be checked.
func newFile(doc *strict.Document, c *Cluster) *File {
	return &File{
		Doc: doc, Format: c.format(), Name: c.Name, Provider: c.Cloud.Provider, Region: c.Cloud.Region, Account: c.Cloud.Account, Day: today(),
		OfAccount: c.Account != nil, Existing: c.IsExisting(), Spoke: c.IsSpoke(),
		Proxied: c.Egress.Proxy.URL != "", Mirrored: len(c.Egress.Images.Mirrors) > 0,
	}
}

// validate checks how values fit together, and what Kubernetes and the cloud require of them. It
// reports every problem into doc. Each subject has its own checks; those of several are here.
func validate(doc *strict.Document, c *Cluster) {
	v := newFile(doc, c)
	checkMetadata(v, c)
	CheckWindows(v, c.ChangeWindows, c.Drift)
	if c.onAzure() {
		checkAzure(v, c)
	} else {
		checkAWS(v, c)
	}
	CheckNamespaces(v, c.Namespaces)
	checkAddons(v, c)
	CheckServices(v, c.Services, ServicesAround{Namespaces: c.namespaces(), LacksAgent: c.lacksAgent()})
	if c.GitOps.Engine == ArgoCD && doc.Sound("gitops.engine", hubPath) {
		checkRegistrationLabels(v, c)
		checkRegistrationAnnotations(v, c)
	}
	CheckGitOps(v, c.GitOps, GitOpsAround{
		Addons: c.Addons, Namespaces: c.Namespaces, EngineNamespace: c.EngineNamespace(), Version: c.Kubernetes.Version, Neighbours: neighbours,
	})
}

// checkAWS checks what only AWS requires.
func checkAWS(v *File, c *Cluster) {
	checkNames(v)
	CheckCloud(v, c.Cloud, c.AddonRoles)
	checkTags(v, c.Tags)
	requireNetwork(v)
	CheckNetwork(v, c.Network)
	tooLong := c.egressTooLong()
	CheckEgress(v, c.Egress, tooLong)
	CheckKubernetes(v, c.Kubernetes, Around{
		Version: c.Kubernetes.Nodes(), Network: c.Network, Egress: c.NodeEgress(), OfNodes: c.Egress.OfNodes(), TooLong: tooLong != nil,
	})
	checkSignIn(v, c)
}

// checkAzure checks what only Azure requires.
func checkAzure(v *File, c *Cluster) {
	checkAzureNames(v, c)
	checkAzureTags(v, c)
	requireNetwork(v)
	most := 0
	if SoundSizes(v, c.Kubernetes.NodeGroups) {
		most = MostNodes(c.Kubernetes.NodeGroups)
	}
	CheckAzureNetwork(v, c.Network, most)
	CheckAzureEgress(v, c.Egress)
	CheckAzureKubernetes(v, c.Kubernetes, c.Network.CIDR)
	checkSignIn(v, c)
}

// requireNetwork reports a missing network, which only an existing cluster may do without.
func requireNetwork(v *File) {
	if !v.Existing {
		v.Require("", reflect.TypeFor[Cluster](), "network")
	}
}

// checkSignIn refuses Headlamp's sign-in where the Kubernetes API would not take its tokens.
func checkSignIn(v *File, c *Cluster) {
	const secret = strict.Path("addons.headlamp.oidcSecret")
	headlamp, on := c.Addons["headlamp"].(*addon.HeadlampOptions)
	if !on || headlamp.OIDCSecret == "" || c.Kubernetes.IdentityProvider != nil && !c.IsExisting() && !c.onAzure() {
		return
	}
	at, remedy := strict.Path("kubernetes.identityProvider"), "add kubernetes.identityProvider, or remove it"
	message := "needs kubernetes.identityProvider: Headlamp passes people's tokens on, and the Kubernetes API would refuse them"
	switch {
	case c.onAzure():
		at, remedy = "kubernetes.admins", "remove it: people give Headlamp tokens that kubelogin prints"
		message = "is not for Azure: Headlamp passes people's tokens on, and AKS takes those alone that Entra gives for AKS"
	case c.IsExisting():
		remedy = "remove it: on a cluster that others own, the file cannot say who their provider is"
	}
	if v.Doc.Sound(at, secret) {
		v.Problem(secret, remedy, "%s", message)
	}
}

// namespaces are those that are there when services are made.
func (c *Cluster) namespaces() []string {
	names := []string{c.EngineNamespace()}
	for _, n := range c.Namespaces {
		names = append(names, n.Name)
	}
	for _, a := range c.Addons.Enabled() {
		names = append(names, a.Namespace)
	}
	return names
}

// lacksAgent says that nothing brings the agent of Pod Identity to the nodes.
func (c *Cluster) lacksAgent() bool {
	agent := func(a ManagedAddon) bool { return a.Name == awsfacts.PodIdentityAgent }
	return !c.IsExisting() && !c.Kubernetes.Auto() && !slices.ContainsFunc(c.Kubernetes.Addons, agent)
}
