// Package published is what bootstrap publishes to a cluster, and about it to its
// hub: what a platform tree can use.
package published

import (
	"maps"
	"slices"
	"strings"

	"tombolo/config"
)

// The names that bootstrap gives to what it publishes. A test holds them to
// the components' own.
const (
	// Namespace of Flux and of the general ConfigMap.
	Namespace = "flux-system"
	// InfraConfig is the general ConfigMap.
	InfraConfig = "infra-config"
	// ValuesKey holds the Helm values in the ConfigMap of a service.
	ValuesKey = "values.yaml"
	// Sync is the name of the GitRepository with the tree, and of the Flux
	// Kustomization at its start.
	Sync = "platform"
	// AuthSecret holds the credentials for the Git repository.
	AuthSecret = "platform-auth"
)

// Set is what bootstrap publishes to one cluster, and where on the tree the
// cluster starts.
type Set struct {
	// Cluster is its name, File its cluster file for findings that are there.
	Cluster, File string
	// Path in the tree that the engine follows: gitops.path, of the hub if there
	// is one.
	Path string
	// Variables are the keys of the general ConfigMap.
	Variables map[string]Variable
	// Objects are the other ConfigMaps and Secrets.
	Objects []Object
	// Registration with a hub's Argo CD; nil with Flux.
	Registration *Registration
}

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

// To returns what bootstrap publishes to a cluster and about it to its hub, which
// is the cluster itself if it is no spoke. It is the one place that knows.
func To(c, hub *config.Cluster) Set {
	p := Set{
		Cluster: c.Name, File: c.File,
		Path:      strings.TrimPrefix(strings.TrimPrefix(hub.GitOps.Path, "./"), "/"),
		Variables: map[string]Variable{},
	}
	examples := facts(c, p.Path)
	for _, key := range config.ReservedValueKeys() {
		p.Variables[key] = Variable{Example: examples[key]}
	}
	for key, value := range c.Values {
		p.Variables[key] = Variable{Example: value, Setting: []string{"values", key}}
	}
	for _, s := range c.Services {
		p.Objects = append(p.Objects, Object{
			Kind: "ConfigMap", Namespace: s.Namespace, Name: s.Name + "-values",
			Keys: []string{ValuesKey}, Setting: []string{"services", s.Name},
		})
	}
	for _, a := range c.Addons.Enabled() {
		for _, key := range a.Keys() {
			p.Variables[key.Name] = Variable{Example: key.Example}
		}
		if a.HasValues() {
			p.Objects = append(p.Objects, Object{
				Kind: "ConfigMap", Namespace: a.Namespace, Name: a.ValuesName(),
				Keys: []string{ValuesKey}, Setting: []string{"addons", a.Name},
			})
		}
	}
	if c.GitOps.Engine == config.ArgoCD {
		p.Registration = register(c, hub, p.Examples())
		return p
	}
	if c.GitOps.Auth != nil {
		p.Objects = append(p.Objects, Object{
			Kind: "Secret", Namespace: Namespace, Name: AuthSecret, Keys: authKeys(c.GitOps.Auth.Type),
		})
	}
	return p
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
	if kind == config.AuthSSH {
		return []string{"identity", "known_hosts"}
	}
	return []string{"password", "username"}
}

// facts are the values of the keys that every cluster has: those that the file
// tells, and the like of what the cloud will say for the others.
func facts(c *config.Cluster, path string) map[string]string {
	region, account := c.Cloud.Region, c.Cloud.Account
	issuer := "oidc.eks." + region + ".amazonaws.com/id/0123456789ABCDEF"
	return map[string]string{
		"cluster_name":              c.Name,
		"environment":               c.Environment,
		"cloud":                     string(c.Cloud.Provider),
		"region":                    region,
		"account_id":                account,
		"partition":                 "aws",
		"cluster_arn":               "arn:aws:eks:" + region + ":" + account + ":cluster/" + c.Name,
		"cluster_endpoint":          "https://0123456789ABCDEF.gr7." + region + ".eks.amazonaws.com",
		"cluster_version":           c.Kubernetes.Version,
		"oidc_issuer":               "https://" + issuer,
		"oidc_provider_arn":         "arn:aws:iam::" + account + ":oidc-provider/" + issuer,
		"vpc_id":                    "vpc-0123456789abcdef0",
		"vpc_cidr":                  "10.0.0.0/16",
		"private_subnet_ids":        "subnet-0aaa,subnet-0bbb",
		"public_subnet_ids":         "subnet-0ccc,subnet-0ddd",
		"cluster_security_group_id": "sg-0123456789abcdef0",
		"node_role_arn":             "arn:aws:iam::" + account + ":role/" + c.Name + "-node",
		"gitops_path":               path,
	}
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
