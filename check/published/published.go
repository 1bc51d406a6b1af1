// Package published is what bootstrap publishes to a cluster, and about it to its
// hub: what a platform tree can use.
package published

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/internal/file"
	"tombolo/internal/names"
	"tombolo/internal/wording"
)

// Set is what bootstrap publishes to one cluster, and where on the tree the
// cluster starts.
type Set struct {
	// Cluster is its name, File its cluster file for findings that are there.
	Cluster, File string
	// Source is the text of the cluster file; "" when it cannot be read.
	Source string
	// Shared are the files of shared settings that are under the cluster file, the nearest first.
	Shared []Source
	// Path in the tree that the engine follows: gitops.path, of the hub if there
	// is one.
	Path string
	// Repository that the engine follows.
	Repository Repository
	// Distribution is the version of the engine, such as v2.9.3; "" when no file says.
	Distribution string
	// Kubernetes is its release, such as 1.35; "" when no file says.
	Kubernetes string
	// Released says that the engine is installed from the manifest that its makers release.
	Released bool
	// Variables are the keys of the general ConfigMap.
	Variables map[string]Variable
	// Objects are the other ConfigMaps and Secrets.
	Objects []Object
	// Secrets that the cluster file names, and that the tree makes.
	Secrets []Secret
	// Values are the Helm values of the addons that have some, by addon.
	Values map[string]*Values
	// Pages of the platform, addons' and Argo CD's, by their hosts.
	Pages map[string]string
	// Entra says that the cluster's API knows groups by their object ids in Microsoft Entra.
	Entra bool
	// OpenNetwork says that the cluster's network plugin is known to hold no NetworkPolicies.
	OpenNetwork bool
	// Registration with a hub's Argo CD; nil with Flux.
	Registration *Registration
}

// Source is a file with its text, for findings that are there.
type Source struct{ File, Text string }

// Repository is a branch of a Git repository.
type Repository struct{ URL, Branch string }

// Variable is a key of the general ConfigMap.
type Variable struct {
	// Example stands for the value, so that what it is put into stays YAML.
	Example string
	// Setting is where the cluster file asks for the key, such as values and
	// its name. Nil for a key that comes unasked: every cluster's, an addon's.
	Setting []string
}

// Object is a ConfigMap or Secret that bootstrap makes.
type Object struct {
	// Kind is ConfigMap or Secret.
	Kind, Namespace, Name string
	// Keys of its data.
	Keys []string
	// Setting is where the cluster file asks for it. Nil for an object that
	// is not made for the tree's use.
	Setting []string
}

// Secret is one that the tree makes for what the cluster file asks for.
type Secret struct {
	Namespace, Name string
	// Setting is where the cluster file names it.
	Setting []string
	// Guide is the page that says what it holds.
	Guide string
}

func sourceOf(name string) string {
	text, err := file.Read(name, file.MostText)
	if err != nil {
		return "" // findings in it are without a line
	}
	return string(text)
}

// To returns what bootstrap publishes to a cluster and about it to its hub, which
// is the cluster itself if it is no spoke. It is the one place that knows.
func To(c, hub *config.Cluster) Set {
	p := Set{
		Cluster: c.Name, File: c.File, Source: sourceOf(c.File),
		Path:         strings.TrimPrefix(strings.TrimPrefix(hub.GitOps.Path, "./"), "/"),
		Repository:   Repository{hub.GitOps.URL, hub.GitOps.Branch},
		Distribution: hub.GitOps.Distribution.Version, Released: hub.GitOps.IsReleased(), Kubernetes: c.Kubernetes.Version,
		Values: map[string]*Values{}, Pages: map[string]string{},
	}
	for _, file := range c.SharedFiles() {
		if text := sourceOf(file); text != "" {
			p.Shared = append(p.Shared, Source{file, text})
		}
	}
	p.OpenNetwork, p.Entra = openNetwork(c), c.Cloud.Provider == config.Azure
	p.Variables = infraKeys(c, p.Path)
	for key, value := range c.Values {
		p.Variables[key] = Variable{Example: value.Example(), Setting: []string{"values", key}}
	}
	channel := c.ChannelType()
	if channel != "" && c.GitOps.Engine == config.Flux {
		p.Variables[names.ChannelType] = Variable{Example: channel, Setting: []string{"gitops", "channel"}}
		p.Objects = append(p.Objects, Object{
			Kind: "Secret", Namespace: names.FluxNamespace, Name: names.ChannelSecret, Keys: []string{names.ChannelAddress},
		})
	}
	for _, s := range c.Services {
		p.Objects = append(p.Objects, Object{
			Kind: "ConfigMap", Namespace: s.Namespace, Name: names.Values(s.Name),
			Keys: []string{names.ValuesKey}, Setting: []string{"services", s.Name},
		})
	}
	for _, a := range c.Addons.Enabled() {
		if host := addon.HostOf(a.Options); host != "" {
			p.Pages[host] = a.Name
		}
		for _, key := range a.Keys() {
			p.Variables[key.Name] = Variable{Example: key.Example}
		}
		if a.HasValues() {
			p.Values[a.Name] = valuesOf(c, a)
			p.Objects = append(p.Objects, Object{
				Kind: "ConfigMap", Namespace: a.Namespace, Name: a.ValuesName(),
				Keys: []string{names.ValuesKey}, Setting: settingOf(c, a.Name),
			})
		}
	}
	p.Secrets = secretsOf(c)
	if host := hub.ArgoCDHost(); host != "" {
		p.Pages[host] = "Argo CD"
	}
	if c.GitOps.Engine == config.ArgoCD {
		p.Registration = register(c, hub, p.Examples())
		return p
	}
	if c.GitOps.Auth != nil && !c.GitOps.ByIdentity() {
		p.Objects = append(p.Objects, Object{
			Kind: "Secret", Namespace: names.FluxNamespace, Name: names.PlatformAuth, Keys: authKeys(c.GitOps.Auth.Type),
		})
	}
	if c.GitOps.Webhook != nil {
		p.Objects = append(p.Objects, Object{
			Kind: "Secret", Namespace: names.FluxNamespace, Name: names.PlatformWebhook, Keys: []string{names.WebhookToken},
		})
	}
	return p
}

// openNetwork says that the cluster has the CNI of Amazon VPC, which holds NetworkPolicies when it
// is told to. AKS has Cilium, which does; of a cluster of others, and of EKS Auto Mode, where a
// NodeClass of the tree says so, nothing is known here.
// https://docs.aws.amazon.com/eks/latest/userguide/cni-network-policy-configure.html
func openNetwork(c *config.Cluster) bool {
	return !c.IsExisting() && slices.ContainsFunc(c.Kubernetes.Addons, func(a config.ManagedAddon) bool {
		return a.Name == "vpc-cni" && fmt.Sprint(a.Configuration["enableNetworkPolicy"]) != "true"
	})
}

// infraKeys are the keys of the general ConfigMap that every cluster on the cluster's cloud has.
func infraKeys(c *config.Cluster, path string) map[string]Variable {
	known := map[string]string{
		"cluster_name": c.NameInCloud(), "environment": c.Environment, "cloud": string(c.Cloud.Provider), "region": c.Cloud.Region,
		"account_id": c.Cloud.Account, "tenant_id": c.Cloud.Tenant, "gitops_path": path,
	}
	if !c.IsExisting() { // whose version core reads
		known["cluster_version"] = c.Kubernetes.Version
	}
	if group := c.Cloud.ResourceGroup; group != "" {
		known["resource_group"] = group
	}
	variables := map[string]Variable{}
	for _, key := range names.InfraKeys(string(c.Cloud.Provider), known) {
		variables[key.Name] = Variable{Example: key.Example}
	}
	return variables
}

// OfOtherCloud says what to do about a key that only clusters on other clouds have; "" for any
// other key.
func (s Set) OfOtherCloud(key string) string {
	clouds, own := names.InfraKeyClouds(key), s.Variables["cloud"].Example
	if len(clouds) == 0 || own == "" || slices.Contains(clouds, own) {
		return ""
	}
	return fmt.Sprintf("only clusters on %s have %s: take a key that clusters on every cloud have, such as cluster_id or network_id", wording.Or(clouds), key)
}

// secretsOf are the Secrets by which people sign in to the cluster's pages. A hub's Argo CD is
// on the hub alone.
func secretsOf(c *config.Cluster) []Secret {
	const guide = "docs/guide/access.md#sign-in"
	var out []Secret
	if o, on := c.Addons["headlamp"].(*addon.HeadlampOptions); on && o.OIDCSecret != "" {
		out = append(out, Secret{addon.Find("headlamp").Namespace, o.OIDCSecret, []string{"addons", "headlamp", "oidcSecret"}, guide})
	}
	if o := c.GitOps.ArgoCD.OIDC; o != nil && c.GitOps.Engine == config.ArgoCD {
		out = append(out, Secret{names.ArgoCDNamespace, o.Secret, []string{"gitops", "argocd", "oidc", "secret"}, guide})
	}
	return out
}

// Examples of the values of the variables, by name.
func (s Set) Examples() map[string]string {
	out := map[string]string{}
	for name, v := range s.Variables {
		out[name] = v.Example
	}
	return out
}

func authKeys(kind config.AuthType) []string {
	switch kind {
	case config.AuthSSH:
		return []string{"identity", "known_hosts"}
	case config.AuthGitHubApp:
		return []string{"githubAppID", "githubAppInstallationID", "githubAppPrivateKey"}
	}
	return []string{"password", "username"}
}

// Keys are those of a part of the registrations that some cluster has, sorted.
func Keys(clusters []Set, part string) []string {
	all := map[string]bool{}
	for _, p := range clusters {
		for key := range p.Registration.Part(part) {
			all[key] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// inCluster is the address by which a hub's Argo CD knows its own cluster.
const inCluster = "https://kubernetes.default.svc"

// Registration is what generators of Argo CD read about a cluster.
type Registration struct {
	// Hub is the cluster whose Argo CD runs this one; itself, for a hub.
	Hub string
	// Version of the hub's Argo CD, such as v3.5.7; "" when no file says.
	Version string
	// Server is the address of the Kubernetes API, as the hub knows it.
	Server string
	// Labels of the registration.
	Labels map[string]string
	// Annotations of the registration; what only the cloud knows is an example.
	Annotations map[string]string
	// Addons are those that are turned on.
	Addons []Addon
}

// Addon is one that is turned on.
type Addon struct {
	Name string
	// Released says that a tree has to release it: bootstrap publishes Helm values for it, or
	// a label turns it on.
	Released bool
	// Setting of the cluster file that turns it on.
	Setting []string
}

// settingOf is the setting that turns an addon on.
func settingOf(c *config.Cluster, name string) []string {
	if slices.Contains(c.Monitoring(), name) {
		return []string{"labels", addon.MonitoringLabel}
	}
	return []string{"addons", name}
}

// register returns the registration of a cluster with its hub. variables are
// examples of what the general ConfigMap holds.
func register(c, hub *config.Cluster, variables map[string]string) *Registration {
	r := &Registration{
		Hub: hub.Name, Version: hub.GitOps.Distribution.Version, Server: inCluster,
		Labels: c.RegistrationLabels(), Annotations: map[string]string{},
	}
	for _, a := range c.Addons.Enabled() {
		r.Addons = append(r.Addons, Addon{a.Name, a.HasValues() || slices.Contains(c.Monitoring(), a.Name), settingOf(c, a.Name)})
	}
	if c.IsSpoke() {
		r.Server = variables["cluster_endpoint"]
	}
	r.Labels["argocd.argoproj.io/secret-type"] = "cluster"
	examples := map[string]string{
		config.RepositoryAnnotation: hub.GitOps.URL,
		config.RevisionAnnotation:   hub.GitOps.Branch,
		config.ValuesAnnotation:     exampleValues(c, variables),
	}
	maps.Copy(examples, c.Annotations)
	maps.Copy(examples, variables)
	for _, key := range c.RegistrationAnnotationKeys() {
		r.Annotations[key] = examples[key]
	}
	return r
}

// exampleValues is what the annotation with all values could hold.
func exampleValues(c *config.Cluster, variables map[string]string) string {
	values := struct {
		Cluster map[string]string         `json:"cluster"`
		Addons  map[string]map[string]any `json:"addons"`
	}{variables, map[string]map[string]any{}}
	out := addon.Outputs{
		VPCID: values.Cluster["vpc_id"], PrivateSubnetIDs: []string{values.Cluster["private_subnet_ids"]},
		ClusterEndpoint: values.Cluster["cluster_endpoint"], ClusterSecurityGroupID: values.Cluster["cluster_security_group_id"],
		Certificate: values.Cluster["certificate_arn"], Made: map[string]string{},
	}
	for _, a := range c.Addons.Enabled() {
		values.Addons[a.Name] = map[string]any{}
		if a.HasValues() {
			values.Addons[a.Name] = a.Values(c.AddonFacts(), a.Options, out)
		}
	}
	text, err := json.Marshal(values)
	if err != nil {
		panic(err) // the catalogue's values are JSON
	}
	return string(text)
}

// Repository is the URL of the platform tree.
func (r *Registration) Repository() string { return r.Annotations[config.RepositoryAnnotation] }

// Part is the registration's "labels" or "annotations".
func (r *Registration) Part(name string) map[string]string {
	if name == "annotations" {
		return r.Annotations
	}
	return r.Labels
}
