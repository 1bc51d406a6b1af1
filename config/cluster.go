// Package config reads cluster files: one YAML file describes one cluster, and
// both of its stacks, core and bootstrap, read the same file.
//
// Load decodes strictly, fills in defaults and validates; it reports all
// problems of a file together, each with its line and column. The package
// imports nothing else of Tombolo.
package config

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"tombolo/config/addon"
	"tombolo/config/awsfacts"
	"tombolo/config/azurefacts"
	"tombolo/config/check"
	"tombolo/config/cloud"
	"tombolo/config/egress"
	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/gitops"
	"tombolo/config/identity"
	"tombolo/config/kubernetes"
	"tombolo/config/network"
	"tombolo/config/services"
	"tombolo/config/strict"
	"tombolo/config/values"
	"tombolo/config/windows"
	"tombolo/internal/names"
	"tombolo/internal/wording"
)

// Version is the version of the cluster file's format that this package reads.
const Version = 1

// Cluster is a cluster file, which describes one cluster.
type Cluster struct {
	// Version of the format: 1.
	Version int `yaml:"version"`
	// Name of the cluster, a DNS label. It names the stacks (<name>-core,
	// <name>-bootstrap) and starts the name of everything made for the
	// cluster.
	Name string `yaml:"name"`
	// Environment that the cluster belongs to, such as dev or prod, a DNS label.
	Environment string `yaml:"environment"`
	// Wave of the cluster in an operation on several clusters. Lower waves go
	// first; in a wave, a hub goes before its spokes. A spoke without a wave has
	// its hub's. Default 0.
	Wave int `yaml:"wave,omitempty"`
	// Protect prevents a destruction by mistake: tombolo destroy asks for the
	// cluster's name, and plain pulumi destroy refuses to delete the network and
	// the control plane. Default false.
	Protect bool `yaml:"protect,omitempty"`
	// ChangeWindows are the times of the week in which tombolo changes the cluster; in others
	// it refuses to. Default: at any time.
	ChangeWindows []windows.ChangeWindow `yaml:"changeWindows,omitempty"`
	// Drift says what becomes of what others change in the cloud or on the cluster.
	Drift windows.DriftPolicy `yaml:"drift,omitempty"`
	// Cloud, region and account of the cluster.
	Cloud cloud.Cloud `yaml:"cloud"`
	// Tags of every cloud resource. Tombolo sets the keys tombolo:cluster and
	// tombolo:environment itself.
	Tags map[string]string `yaml:"tags,omitempty"`
	// Network of the cluster: one that core makes, or an existing one. Required, but with
	// kubernetes.existing: core then reads the network from the cluster.
	Network network.Network `yaml:"network,omitempty"`
	// Kubernetes holds the managed control plane and its nodes.
	Kubernetes kubernetes.Kubernetes `yaml:"kubernetes"`
	// Egress is how the cluster reaches what is outside of its network. Default: directly.
	Egress egress.Egress `yaml:"egress,omitempty"`
	// Namespaces that bootstrap creates before the engine starts.
	Namespaces []services.Namespace `yaml:"namespaces,omitempty"`
	// Addons of the catalogue that are turned on, by name, with their options.
	// Each gets its namespace, what it needs from the cloud, and a ConfigMap
	// <name>-values of Helm values.
	Addons addon.Selection `yaml:"addons,omitempty"`
	// Services that get a cloud identity and a ConfigMap of Helm values.
	Services []services.Service `yaml:"services,omitempty"`
	// GitOps is the engine and the repository it follows.
	GitOps gitops.GitOps `yaml:"gitops"`
	// Labels that describe the cluster to people and generators. They are
	// Kubernetes labels. monitoring: "on" turns on kube-prometheus-stack,
	// event-exporter, loki and alloy, and gives the cluster the label logging: "on".
	Labels map[string]string `yaml:"labels,omitempty"`
	// Annotations that describe the cluster with values that labels cannot hold.
	Annotations map[string]string `yaml:"annotations,omitempty"`
	// Values are extra keys of the infra ConfigMap, for ${key} in manifests. A key may
	// have a value of another stack or of Parameter Store.
	Values map[string]values.Value `yaml:"values,omitempty"`

	// File is the path the cluster was loaded from.
	File string `yaml:"-"`
	// Warnings are what is right in the file and will not stay so.
	Warnings strict.Problems `yaml:"-"`
	// RollBack lets Kubernetes go back to the minor before, which an up otherwise refuses.
	RollBack bool `yaml:"-"`
	// Rebuild is the record of the rebuild under way, which core keeps among its outputs
	// until the cluster is there again; "" without one.
	Rebuild string `yaml:"-"`
	// Account is the account that this stands for; nil for a cluster.
	Account *Account `yaml:"-"`
}

var clusterFields = field.Of[Cluster](map[string]field.Descriptor{
	"Version": {Rule: strict.Rule{What: "a supported version of the format", Example: "1", Numbers: []int{Version}}, Change: field.Changes("it is the format of the file; nothing in the cluster changes")},
	"Name": {
		Own: true, Rule: form.Label("demo"),
		Change: []field.Case{
			{Effect: field.Impossible, Words: "another name is another cluster, beside this one", Remedy: "take the name back, or destroy the cluster of the old name with its old file"},
		},
	},
	"Environment": {
		Own: true, Rule: form.Label("dev"), Change: field.Always(field.RollsNodes, "it is a tag of every resource: "+field.RollsAll),
		AzureChange: field.Changes("it is a tag of every resource: " + aksTagWords),
	},
	"Wave":          {Rule: strict.Rule{Least: new(0), Most: new(99), Default: 0}, Change: field.Changes(field.Outside)},
	"Protect":       {Rule: strict.Rule{Default: false}, Change: field.Changes("the state protects network and control plane, or no longer; nothing in the cloud changes")},
	"ChangeWindows": {Rule: strict.Rule{Noun: "window"}, Change: field.Changes(field.Outside)},
	"Drift":         {},
	"Cloud":         {},
	"Tags":          {Change: field.Always(field.RollsNodes, "every resource gets the tags: "+field.RollsAll), AzureChange: field.Changes(aksTagWords)},
	"Network":       {},
	"Kubernetes":    {},
	"Egress":        {},
	"Namespaces":    {Change: field.ComesAndGoes("the namespace is made", "the namespace is deleted with everything in it")},
	"Addons": {Change: []field.Case{
		{When: "turned off", Effect: field.InPlace, Words: "once Git has removed the addon, what it has in the cloud is deleted; a bucket with objects is not", Applies: field.Change.TakesAway},
		{Effect: field.InPlace, Words: "what the addon needs in the cloud is made, and the engine installs it"},
	}},
	"Services": {
		Change:      field.ComesAndGoes("the service's role and ConfigMap are made", "the service's role and ConfigMap are deleted"),
		AzureChange: field.ComesAndGoes("the service's identity and ConfigMap are made", "the service's identity and ConfigMap are deleted"),
	},
	"GitOps":      {},
	"Labels":      {Change: field.Changes("the labels of the cluster's registration change, and generators follow them")},
	"Annotations": {Change: field.Changes("the annotations of the cluster's registration change, and generators follow them")},
	"Values":      {Change: field.Changes("the infra ConfigMap changes, and the engine follows it")},
})

// checkNames checks the names made from the cluster's name.
func checkNames(v *check.File) {
	name := v.Name
	v.Fits("name", "the control plane's IAM role", name+"-cluster", form.MaxRoleName)
	// By GroupName of CreateSecurityGroup in the EC2 API.
	if strings.HasPrefix(name, "sg-") {
		v.Problem("name", "begin it otherwise", "%s begins the names of security groups, and EC2 allows none that begins with sg-", wording.Quote(name))
	}
}

// The limits of tags, by "Tag naming limits and requirements" in the AWS guide
// to tagging. Tombolo puts at most five tags of its own on a resource.
const (
	maxTags     = 50
	ownTags     = 5
	maxTagKey   = 128
	maxTagValue = 256
)

var tagText = regexp.MustCompile(`^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$`)

func checkTags(v *check.File, tags map[string]string) {
	if n := len(tags); n > maxTags-ownTags {
		v.Problem("tags", fmt.Sprintf("remove %d", n-(maxTags-ownTags)),
			"has %d tags; AWS allows %d on a resource, and Tombolo sets %d of them", n, maxTags, ownTags)
	}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		at := strict.Path("tags").Key(key)
		checkTagKey(v, at, key)
		checkTagValue(v, at, tags[key])
	}
}

func checkTagKey(v *check.File, at strict.Path, key string) {
	lower := strings.ToLower(key)
	switch n := utf8.RuneCountInString(key); {
	case key == "":
		v.KeyProblem(at, "give it a key", "the key is empty")
	case n > maxTagKey:
		v.KeyProblem(at, fmt.Sprintf("shorten it by %d", n-maxTagKey),
			"the key has %d characters; AWS allows %d", n, maxTagKey)
	case strings.HasPrefix(lower, "aws:"):
		v.KeyProblem(at, "use another prefix", "the prefix aws: is reserved by AWS")
	case strings.HasPrefix(lower, "tombolo:"):
		v.KeyProblem(at, "use another prefix", "the prefix tombolo: is reserved; Tombolo sets these tags itself")
	case strings.HasPrefix(key, "kubernetes.io/"):
		v.KeyProblem(at, "use another prefix", "the prefix kubernetes.io/ is reserved; controllers find their subnets by it")
	case key == "Name":
		v.KeyProblem(at, "use another key", "is set by Tombolo, to another value on each resource")
	case !tagText.MatchString(key):
		v.KeyProblem(at, "use letters, digits, spaces and _ . : / = + - @", "the key has characters that AWS does not allow")
	}
}

func checkTagValue(v *check.File, at strict.Path, value string) {
	switch n := utf8.RuneCountInString(value); {
	case n > maxTagValue:
		v.Problem(at, fmt.Sprintf("shorten it by %d", n-maxTagValue),
			"the value has %d characters; AWS allows %d", n, maxTagValue)
	case !tagText.MatchString(value):
		v.Problem(at, "use letters, digits, spaces and _ . : / = + - @",
			"%s has characters that AWS does not allow in a tag", wording.Quote(value))
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

// checkAzureTags checks the tags by Azure's rules.
func checkAzureTags(v *check.File, c *Cluster) {
	most, of := azurefacts.MaxTags, "Azure allows %d on a resource"
	if e := c.Kubernetes.Endpoint; e.PrivateDNSZone == kubernetes.SystemZone {
		// https://learn.microsoft.com/azure/aks/use-tags
		most, of = azurefacts.MaxZoneTags, "the private DNS zone that AKS makes takes %d"
	}
	if n := len(c.Tags); n > most-ownTags {
		v.Problem("tags", fmt.Sprintf("remove %d", n-(most-ownTags)),
			"has %d tags; "+of+", and Tombolo sets %d of them", n, most, ownTags)
	}
	checkZoneTags(v, c)
	seen := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(c.Tags)) {
		at, lower := strict.Path("tags").Key(key), strings.ToLower(key)
		if other, ok := seen[lower]; ok {
			v.KeyProblem(at, "keep one of the two", "is the key %s, at %s, to Azure, which does not tell cases apart",
				wording.Quote(other), v.Line(strict.Path("tags").Key(other)))
		}
		seen[lower] = key
		checkAzureTag(v, c, at, key, c.Tags[key])
	}
}

// checkZoneTags warns of tags that the private DNS zone that AKS makes does not keep. Nothing of
// Tombolo's looks for the tags there that it sets itself, which have colons.
func checkZoneTags(v *check.File, c *Cluster) {
	if c.Kubernetes.Endpoint.PrivateDNSZone != kubernetes.SystemZone {
		return
	}
	dropped := slices.DeleteFunc(slices.Sorted(maps.Keys(c.Tags)), azurefacts.ZoneKeepsTag)
	if len(dropped) > 0 {
		v.Warn("tags", "use letters, digits and _ . - in keys, and begin with no digit, where the zone has to have them",
			"the private DNS zone that AKS makes drops %s: its keys have no other characters than letters, digits and _ . -, and begin with no digit", wording.And(quoted(dropped)))
	}
}

func quoted(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = wording.Quote(text)
	}
	return out
}

// checkMaxTagKey is how long the key of a tag is at most, of all that core makes.
func checkMaxTagKey(v *check.File, c *Cluster) int {
	for _, a := range c.Addons.Enabled() {
		if v.Doc.Sound(strict.Path("addons").Field(a.Name)) {
			if a.Needs(c.AddonFacts(), a.Options).Container.IsMade() {
				return azurefacts.MaxStorageTagKey
			}
		}
	}
	return azurefacts.MaxTagKey
}

func checkAzureTag(v *check.File, c *Cluster, at strict.Path, key, value string) {
	lower := strings.ToLower(key)
	reserved := slices.IndexFunc(azurefacts.ReservedTagPrefixes(), func(prefix string) bool { return strings.HasPrefix(lower, prefix) })
	switch n, most := utf8.RuneCountInString(key), checkMaxTagKey(v, c); {
	case key == "":
		v.KeyProblem(at, "give it a key", "the key is empty")
	case n > most:
		v.KeyProblem(at, fmt.Sprintf("shorten it by %d", n-most), "the key has %d characters; Azure allows %d", n, most)
	case reserved >= 0:
		v.KeyProblem(at, "use another prefix", "the prefix %s is reserved by Azure", azurefacts.ReservedTagPrefixes()[reserved])
	case strings.HasPrefix(lower, "tombolo:"):
		v.KeyProblem(at, "use another prefix", "the prefix tombolo: is reserved; Tombolo sets these tags itself")
	case strings.ContainsAny(key, azurefacts.NotInTagKey):
		v.KeyProblem(at, "use none of "+strings.Join(strings.Split(azurefacts.NotInTagKey, ""), " "), "the key has characters that Azure does not allow")
	}
	if n := utf8.RuneCountInString(value); n > azurefacts.MaxTagValue {
		v.Problem(at, fmt.Sprintf("shorten it by %d", n-azurefacts.MaxTagValue), "the value has %d characters; Azure allows %d", n, azurefacts.MaxTagValue)
	}
}

// What a change does that several keys share.
const (
	aksTagWords = "every resource gets the tags in place; AKS hands them on to what it makes, of which a private DNS zone drops keys with colons, spaces or a digit in front"
)

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

// IsExisting says that the cluster is one that others own: core makes no control plane,
// network or nodes for it.
func (c *Cluster) IsExisting() bool { return c.Kubernetes.Existing != nil }

// NameInCloud is the name of the managed cluster in its cloud: that of the file, but for
// an existing cluster.
func (c *Cluster) NameInCloud() string {
	if e := c.Kubernetes.Existing; e != nil {
		return e.Name
	}
	return c.Name
}

// UpgradesTogether says that the cloud takes the control plane on with its nodes alone, as AKS does
// while it upgrades the cluster by itself.
func (c *Cluster) UpgradesTogether() bool {
	return c.onAzure() && !c.IsExisting() && c.Kubernetes.Upgrades.Kubernetes != kubernetes.NoUpgrades
}

// OwnsNetwork says that core makes the cluster's network.
func (c *Cluster) OwnsNetwork() bool { return c.Network.Existing == nil && !c.IsExisting() }

// NeedsOIDC says that something of the file gets its credentials by the cluster's OIDC
// provider: an addon, a service or the Argo CD of a hub.
func (c *Cluster) NeedsOIDC() bool {
	for a, needs := range c.AddonNeeds() {
		for _, i := range needs.Identities {
			if c.GivenAddonRole(a.Name, i.Name) == "" {
				return true
			}
		}
	}
	for _, s := range c.Services {
		if s.Identity != nil && s.Identity.Mode == identity.IRSA && s.Identity.RoleARN == "" {
			return true
		}
	}
	return c.IsHub()
}

// References are all places whose values are read from elsewhere, in the order of the
// file's keys.
func (c *Cluster) References() []values.Reference {
	var out []values.Reference
	for _, key := range slices.Sorted(maps.Keys(c.Values)) {
		if s, ok := c.Values[key].Source(); ok {
			out = append(out, values.Reference{Source: s, Path: strict.Path("values").Key(key)})
		}
	}
	for i, s := range c.Services {
		at := strict.Path("services").Index(i).Field("values")
		values.EachReference(at, s.Values, func(at strict.Path, keys map[string]any) {
			out = append(out, values.Reference{Source: values.SourceOf(keys), Path: at, Service: s.Name})
		})
	}
	return out
}

// ValueTexts are the keys that the file adds to the infra ConfigMap, with what was read
// in the place of each reference: numbers and booleans as YAML writes them.
func (c *Cluster) ValueTexts(read map[values.Source]any) map[string]string {
	return values.Texts(c.Values, read)
}

// What a cluster's registration with Argo CD carries, for the selectors and
// templates of generators. The values of annotations are known only once core
// has made the cluster; their names, and all labels, are the file's.
const (
	// EnvironmentLabel and WaveLabel hold the file's environment and wave.
	EnvironmentLabel = "environment"
	WaveLabel        = "wave"
	// AddonLabelPrefix before an addon's name is the label of clusters that
	// turn it on.
	AddonLabelPrefix = "addon-"
	// AddonLabelOn is that label's value.
	AddonLabelOn = addon.LabelOn
	// ValuesAnnotation holds a JSON object: cluster has the keys of the general
	// ConfigMap, addons the Helm values of each addon that is on, by its name;
	// {} for one that has none.
	ValuesAnnotation = "tombolo/values"
	// RepositoryAnnotation and RevisionAnnotation hold the URL and the branch of
	// the platform tree, from the hub's gitops, so that templates need not name
	// them.
	RepositoryAnnotation = "tombolo/repository"
	RevisionAnnotation   = "tombolo/revision"
)

// RegistrationLabels are the labels of the cluster's registration: the file's,
// then environment, wave, name and addons, which take precedence.
func (c *Cluster) RegistrationLabels() map[string]string {
	labels := map[string]string{}
	maps.Copy(labels, c.Labels)
	labels[EnvironmentLabel] = c.Environment
	labels[WaveLabel] = strconv.Itoa(c.Wave)
	labels[names.ClusterLabel] = c.Name
	for name := range c.Addons {
		labels[AddonLabelPrefix+name] = AddonLabelOn
	}
	return labels
}

// RegistrationAnnotationKeys are the names of the annotations of the cluster's
// registration, sorted: the file's annotations, every key of the general
// ConfigMap, and the three above. What repository a hub that others run follows, no file
// says: the last two are missing there.
func (c *Cluster) RegistrationAnnotationKeys() []string {
	keys := append(names.InfraKeyNames(string(c.Cloud.Provider)), ValuesAnnotation)
	if !c.HasExternalHub() {
		keys = append(keys, RepositoryAnnotation, RevisionAnnotation)
	}
	keys = slices.AppendSeq(keys, maps.Keys(c.Annotations))
	keys = slices.AppendSeq(keys, maps.Keys(c.Values))
	for _, a := range c.Addons.Enabled() {
		for _, key := range a.Keys() {
			keys = append(keys, key.Name)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// followLabels gives the cluster the addons that its labels turn on, and the label by which its logs are
// collected. They are from the line of that label.
func (c *Cluster) followLabels(doc *strict.Document) {
	labels, addons := strict.Path("labels"), strict.Path("addons")
	brought := c.Monitoring()
	if len(brought) == 0 || !doc.Sound(labels, addons) {
		return
	}
	if c.Addons == nil {
		c.Addons = addon.Selection{}
	}
	for _, name := range brought {
		if at := addons.Field(name); c.Addons[name] == nil && doc.Sound(at) {
			c.Addons[name] = addon.Find(name).NewOptions()
			doc.Derive(at, labels.Key(addon.MonitoringLabel))
		}
	}
	if _, said := c.Labels[addon.LoggingLabel]; !said {
		c.Labels[addon.LoggingLabel] = addon.LabelOn
		doc.Derive(labels.Key(addon.LoggingLabel), labels.Key(addon.MonitoringLabel))
	}
}

// Monitoring are the addons that the cluster has by its label monitoring.
func (c *Cluster) Monitoring() []string { return addon.Monitoring(c.Labels, c.Addons) }

// checkRegistrationLabels finds labels that Tombolo sets on the registration.
func checkRegistrationLabels(v *check.File, c *Cluster) {
	own := c.RegistrationLabels()
	for _, key := range slices.Sorted(maps.Keys(c.Labels)) {
		at := strict.Path("labels").Key(key)
		switch {
		case key == gitops.SecretTypeLabel:
			v.KeyProblem(at, "remove it", "is set by Tombolo, for Argo CD")
		case strings.HasPrefix(key, "tombolo/"), strings.HasPrefix(key, AddonLabelPrefix):
			v.KeyProblem(at, "use another prefix", "is a label that Tombolo sets on the cluster's registration")
		case own[key] != c.Labels[key]:
			v.KeyProblem(at, "remove it, or use another key", "is %s on the cluster's registration: the value of the key %s of this file", wording.Quote(own[key]), key)
		}
	}
}

// checkRegistrationAnnotations finds annotations that Tombolo sets on the registration.
func checkRegistrationAnnotations(v *check.File, c *Cluster) {
	bare := *c
	bare.Annotations = nil
	own := bare.RegistrationAnnotationKeys()
	for _, key := range slices.Sorted(maps.Keys(c.Annotations)) {
		if slices.Contains(own, key) || strings.HasPrefix(key, "tombolo/") {
			v.KeyProblem(strict.Path("annotations").Key(key), "use another key", "is an annotation that Tombolo sets on the cluster's registration")
		}
	}
}

// ForCore is the cluster as core's program gets it: without what bootstrap, Git and the driver
// alone are there for. So a change of that changes nothing of core, and an up need not have the
// engine look. Nil stays nil.
func (c *Cluster) ForCore() *Cluster {
	if c == nil {
		return nil
	}
	out := *c
	out.Wave, out.ChangeWindows, out.Drift = 0, nil, windows.DriftPolicy{}
	out.Namespaces, out.Labels, out.Annotations, out.Values = nil, nil, nil, nil
	out.Services = slices.Clone(c.Services)
	for i := range out.Services {
		out.Services[i].Values = nil
	}
	git := &out.GitOps
	git.URL, git.Branch, git.Path, git.Interval = "", "", "", ""
	if !git.ByIdentity() { // which core makes
		git.Auth = nil
	}
	git.Distribution, git.TakeOver, git.SealedSecrets, git.Webhook = gitops.Distribution{}, false, nil, nil
	return &out
}

// WindowAt says whether the cluster may be changed at a moment. Without change windows it
// may at any time.
func (c *Cluster) WindowAt(at time.Time) windows.State { return windows.At(c.ChangeWindows, at) }

// Closed says, as a part of a sentence, that the cluster may not be changed at a moment
// and when it may; "" when it may.
func (c *Cluster) Closed(at time.Time) string { return windows.Closed(c.ChangeWindows, at) }

// setDefaults fills in what the file leaves out. A list that is there and empty
// stays empty.
func (c *Cluster) setDefaults() {
	windows.Fields.SetDefaults(c.Cloud.Provider, &c.Drift)
	c.Cloud.SetDefaults(c.Name)
	existing := c.Kubernetes.Existing
	switch {
	case existing != nil:
		existing.Name = cmp.Or(existing.Name, c.Name)
	default:
		c.Network.SetDefaults(c.Cloud.Provider)
		c.Kubernetes.SetDefaults(c.Cloud.Provider, c.Name, c.Network.CIDR)
	}
	c.Addons.SetDefaults()
	for i := range c.Services {
		c.Services[i].SetDefaults(c.Cloud.Provider)
	}
	c.GitOps.SetDefaults(c.Name, c.Cloud.Provider)
}

// AddonFacts are the facts about the cluster that addons start from.
func (c *Cluster) AddonFacts() addon.Facts {
	facts := addon.Facts{
		Cluster: c.Name, Environment: c.Environment,
		Provider: string(c.Cloud.Provider), Region: c.Cloud.Region, Account: c.Cloud.Account, Tenant: c.Cloud.Tenant,
		RolePath: c.Cloud.Roles.Path, OwnNetwork: c.OwnsNetwork(), InCloud: c.NameInCloud(), Enabled: c.Addons.Names(), Tags: c.AllTags(), Egress: c.NodeEgress(),
	}
	if c.onAzure() {
		facts.Tenant, facts.ResourceGroup = c.Cloud.Tenant, c.Cloud.ResourceGroup
	} else {
		facts.Partition = awsfacts.Partition(c.Cloud.Region)
	}
	facts.Channel = c.ChannelType()
	if p := c.Kubernetes.IdentityProvider; p != nil {
		facts.IssuerURL, facts.ClientID = p.IssuerURL, p.ClientID
	}
	facts.GivenRoles = c.Cloud.Roles.Given.Addons
	if existing := c.Network.Existing; existing != nil {
		facts.NetworkAccount = existing.Account
	}
	return facts
}

// AddonNeeds are the addons of the file with what each needs, in the order of Enabled.
func (c *Cluster) AddonNeeds() iter.Seq2[addon.Enabled, addon.Needs] {
	return func(yield func(addon.Enabled, addon.Needs) bool) {
		facts := c.AddonFacts()
		for _, a := range c.Addons.Enabled() {
			if !yield(a, a.Needs(facts, a.Options)) {
				return
			}
		}
	}
}

// AddonRole is what the name of an addon's role has after the cluster's.
func AddonRole(name, identity string) string {
	if identity == "" {
		return name
	}
	return name + "-" + identity
}

// AddonIdentityName is the name of the identity in Azure of an addon; of is "" for an
// addon's only one.
func AddonIdentityName(cluster, name, of string) string {
	return cluster + "-" + identity.AddonPrefix + AddonRole(name, of)
}

// NodeIdentity is the identity of nodes that an addon makes, among the names of its roles.
const NodeIdentity = "node"

// AddonRoles are the names of the roles, or identities on Azure, that core makes for the addons
// of the file, sorted, as cloud.roles.given.addons has them.
func (c *Cluster) AddonRoles() []string {
	var out []string
	for a, needs := range c.AddonNeeds() {
		for _, i := range needs.Identities {
			out = append(out, AddonRole(a.Name, i.Name))
		}
		if needs.NodeRole != nil {
			out = append(out, AddonRole(a.Name, NodeIdentity))
		}
	}
	slices.Sort(out)
	return out
}

// GivenAddonRole is the role that others made for an identity of an addon, "" is its only one;
// "" for one that core makes.
func (c *Cluster) GivenAddonRole(name, identity string) string {
	return c.Cloud.Roles.Given.Addons[AddonRole(name, identity)]
}

// GivenNodeRole is the role that others made for the nodes of an addon, "" for core's.
func (c *Cluster) GivenNodeRole(name string) string { return c.GivenAddonRole(name, NodeIdentity) }

// RoleScopes are the ids of what core assigns roles on in Azure, for services and for addons, in
// the order of the file. What core makes itself is among them, resource groups left out.
func (c *Cluster) RoleScopes() []string {
	var out []string
	for _, s := range c.Services {
		if s.Identity == nil {
			continue
		}
		for _, r := range s.Identity.Roles {
			out = append(out, r.Scope)
		}
	}
	if vault := c.Kubernetes.SecretsEncryption.Vault; vault != "" {
		out = append(out, vault)
	}
	for _, needs := range c.AddonNeeds() {
		for _, i := range needs.Identities {
			for _, r := range i.Roles {
				if r.MakeGroup == "" {
					out = append(out, r.Scope)
				}
			}
		}
	}
	return out
}

// AllTags are those of every resource of the cluster: the file's, and those that Tombolo
// sets itself, without the owner's.
func (c *Cluster) AllTags() map[string]string {
	all := map[string]string{}
	maps.Copy(all, c.Tags)
	all[names.ClusterTag], all[names.EnvironmentTag] = c.Name, c.Environment
	return all
}
