package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"tombolo/config/addon"
	"tombolo/config/awsfacts"
	"tombolo/config/azurefacts"
	"tombolo/config/check"
	"tombolo/config/cloud"
	"tombolo/config/egress"
	"tombolo/config/form"
	"tombolo/config/gitops"
	"tombolo/config/kubernetes"
	"tombolo/config/network"
	"tombolo/config/nodes"
	"tombolo/config/services"
	"tombolo/config/strict"
	"tombolo/config/values"
	"tombolo/config/windows"
	"tombolo/internal/names"
	"tombolo/internal/wording"
)

// newFile is the file of a cluster, to be checked.
func newFile(doc *strict.Document, c *Cluster) *check.File {
	return &check.File{
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
	windows.Check(v, c.ChangeWindows, c.Drift)
	if c.onAzure() {
		checkAzure(v, c)
	} else {
		checkAWS(v, c)
		checkRoom(v, c)
	}
	services.CheckNamespaces(v, c.Namespaces)
	checkAddons(v, c)
	services.Check(v, c.Services, services.Around{Namespaces: c.namespaces(), LacksAgent: c.lacksAgent(), Reader: c.gitReader()})
	if c.GitOps.Engine == gitops.ArgoCD && doc.Sound("gitops.engine", gitops.HubPath) {
		checkRegistrationLabels(v, c)
		checkRegistrationAnnotations(v, c)
	}
	checkKeys(v, c)
	gitops.Check(v, c.GitOps, gitops.Around{
		Addons: c.Addons, Namespaces: c.ownNamespaces(), EngineNamespace: c.EngineNamespace(), Version: c.Kubernetes.Version, Neighbours: neighbours,
	})
}

// checkAWS checks what only AWS requires.
func checkAWS(v *check.File, c *Cluster) {
	checkNames(v)
	cloud.Check(v, c.Cloud, c.AddonRoles)
	checkTags(v, c.Tags)
	requireNetwork(v)
	network.Check(v, c.Network)
	tooLong := c.egressTooLong()
	egress.Check(v, c.Egress, tooLong)
	kubernetes.Check(v, c.Kubernetes, nodes.Around{
		Version: c.Kubernetes.Nodes(), Network: c.Network, Egress: c.NodeEgress(), OfNodes: c.Egress.OfNodes(), TooLong: tooLong != nil,
	})
	checkSignIn(v, c)
}

// checkAzure checks what only Azure requires.
func checkAzure(v *check.File, c *Cluster) {
	checkAzureNames(v, c)
	checkAzureTags(v, c)
	requireNetwork(v)
	most := 0
	if nodes.SoundSizes(v, c.Kubernetes.NodeGroups) {
		most = nodes.MostNodes(c.Kubernetes.NodeGroups)
	}
	network.CheckOnAzure(v, c.Network, most)
	egress.CheckOnAzure(v, c.Egress)
	kubernetes.CheckOnAzure(v, c.Kubernetes, c.Network)
	checkSignIn(v, c)
}

// requireNetwork reports a missing network, which only an existing cluster may do without.
func requireNetwork(v *check.File) {
	if !v.Existing {
		v.Require("", reflect.TypeFor[Cluster](), "network")
	}
}

// checkSignIn refuses Headlamp's sign-in where the Kubernetes API would not take its tokens.
func checkSignIn(v *check.File, c *Cluster) {
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
	names := append([]string{c.EngineNamespace()}, c.ownNamespaces()...)
	for _, a := range c.Addons.Enabled() {
		names = append(names, a.Namespace)
	}
	return names
}

// ownNamespaces are the namespaces of the file.
func (c *Cluster) ownNamespaces() []string {
	var names []string
	for _, n := range c.Namespaces {
		names = append(names, n.Name)
	}
	return names
}

// lacksAgent says that nothing brings the agent of Pod Identity to the nodes.
func (c *Cluster) lacksAgent() bool {
	agent := func(a kubernetes.ManagedAddon) bool { return a.Name == awsfacts.PodIdentityAgent }
	return !c.IsExisting() && !c.Kubernetes.Auto() && !slices.ContainsFunc(c.Kubernetes.Addons, agent)
}

// checkKeys refuses KMS keys of another region. Of a cluster that others own, core makes what
// addons need alone.
func checkKeys(v *check.File, c *Cluster) {
	if c.IsExisting() {
		checkKeysIn(v, "addons", reflect.ValueOf(c.Addons))
		return
	}
	checkKeysIn(v, "", reflect.ValueOf(*c))
}

// checkKeysIn visits the fields whose descriptors say what to do about such a key.
func checkKeysIn(v *check.File, at strict.Path, value reflect.Value) {
	switch {
	case value.Kind() == reflect.Pointer || value.Kind() == reflect.Interface:
		if !value.IsNil() {
			checkKeysIn(v, at, value.Elem())
		}
	case value.Kind() == reflect.Slice:
		for i := range value.Len() {
			checkKeysIn(v, at.Index(i), value.Index(i))
		}
	case value.Type() == reflect.TypeFor[addon.Selection]():
		for _, name := range value.MapKeys() {
			checkKeysIn(v, at.Field(name.String()), value.MapIndex(name))
		}
	case value.Kind() == reflect.Struct:
		for _, f := range v.Format.Fields(value.Type()) {
			remedy := described[value.Type().Name()+"."+value.Type().Field(f.Index).Name].KeyRemedy
			if remedy == "" {
				checkKeysIn(v, at.Field(f.Name), value.Field(f.Index))
				continue
			}
			v.OwnKey(at.Field(f.Name), value.Field(f.Index).String(), remedy)
		}
	}
}

// checkMetadata checks what describes the cluster itself.
func checkMetadata(v *check.File, c *Cluster) {
	v.Labels("labels", c.Labels)
	v.Annotations("annotations", c.Annotations)
	own, ofAddons := append(names.InfraKeyNames(string(c.Cloud.Provider)), names.ChannelType), addonKeys(c)
	for _, key := range slices.Sorted(maps.Keys(c.Values)) {
		at := strict.Path("values").Key(key)
		switch {
		case !values.ValueKey.MatchString(key):
			v.KeyProblem(at, "use letters, digits and underscores, and start with no digit",
				"%s cannot be the name of a variable in manifests", wording.Quote(key))
		case slices.Contains(own, key):
			v.KeyProblem(at, "use another key", "is published by Tombolo itself")
		case ofAddons[key] != "":
			v.KeyProblem(at, "use another key", "is published for the addon %s", ofAddons[key])
		}
		if source, ok := c.Values[key].Source(); ok {
			values.CheckSource(v, at, source)
		}
	}
}

// checkNames checks the names made from the cluster's name.
func checkNames(v *check.File) {
	name := v.Name
	v.Fits("name", "the control plane's IAM role", name+"-cluster", form.MaxRoleName)
	// By GroupName of CreateSecurityGroup in the EC2 API.
	if strings.HasPrefix(name, "sg-") {
		v.Problem("name", "begin it otherwise", "%s begins the names of security groups, and EC2 allows none that begins with sg-", wording.Quote(name))
	}
}

// checkAzureNames checks the names made from the cluster's name, and the resource groups.
func checkAzureNames(v *check.File, c *Cluster) {
	name := v.Name
	if !c.IsExisting() {
		v.Fits("name", "the Kubernetes API's host", name, azurefacts.MaxDNSPrefix)
	}
	if c.OwnsNetwork() && len(name) < azurefacts.MinNetworkName && v.Doc.Has("name") {
		v.Problem("name", "use a longer name", "%s is too short for the name of a network, which has at least %d characters",
			wording.Quote(name), azurefacts.MinNetworkName)
	}
	if word := azurefacts.ReservedWord(name); word != "" && !c.IsExisting() {
		v.Problem("name", "use another name", "%s has the word %s, which Azure keeps from names of endpoints", wording.Quote(name), word)
	}
	checkResourceGroups(v, c)
}

// checkResourceGroups refuses a group for two: Azure takes one that exists for one that is made,
// and a destruction deletes it with what others have in it.
func checkResourceGroups(v *check.File, c *Cluster) {
	const at = strict.Path("cloud.resourceGroup")
	own := c.Cloud.ResourceGroup
	where := at
	if !v.Doc.Has(at) {
		where = "name"
	}
	report := func(format string, args ...any) {
		v.Problem(where, "name another one in cloud.resourceGroup, which core makes", format, args...)
	}
	if e := c.Kubernetes.Existing; e != nil && strings.EqualFold(e.ResourceGroup, own) {
		report("makes the resource group %s core's, which is that of the existing cluster", wording.Quote(own))
	}
	if subscription, group := c.Network.Group(); subscription == v.Account && strings.EqualFold(group, own) {
		report("makes the resource group %s core's, which is that of the existing network", wording.Quote(own))
	}
	if nodes := c.Kubernetes.NodeResourceGroup; nodes != "" && strings.EqualFold(nodes, own) {
		v.Problem("kubernetes.nodeResourceGroup", "name another one: AKS makes it itself, and deletes it with the cluster",
			"%s is the resource group that core makes", wording.Quote(nodes))
	}
}
