package config

import (
	"regexp"

	"tombolo/config/azurefacts"
	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/strict"
)

// ExistingCluster names a managed cluster that others own.
type ExistingCluster struct {
	// Name of the cluster in its cloud, in the account and region of the file. Default: the
	// name of the file.
	Name string `yaml:"name,omitempty"`
	// CreateOIDCProvider has core make the IAM OIDC provider for the cluster's issuer, of
	// which an account has one for each cluster; roles of service accounts (irsa) need it.
	// Default false: it is there, and core looks it up.
	CreateOIDCProvider bool `yaml:"createOidcProvider,omitempty" cloud:"aws"`
	// ResourceGroup of the cluster.
	ResourceGroup string `yaml:"resourceGroup" cloud:"azure"`
}

var existingClusterFields = field.Of[ExistingCluster](map[string]field.Descriptor{
	"Name": {
		Rule: strict.Rule{
			What: "the name of an EKS cluster", Example: "platform",
			Pattern: regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]*$`), MaxLength: 100,
		},
		AzureRule: &strict.Rule{
			What: "the name of an AKS cluster", Example: "platform",
			Pattern: regexp.MustCompile(`^[0-9A-Za-z]([0-9A-Za-z_-]*[0-9A-Za-z])?$`), MaxLength: azurefacts.MaxClusterName,
		},
		Change: []field.Case{{
			Effect: field.Impossible, Words: "another cluster of the account is meant, and what is in the first one would be lost",
			Remedy: "take the name back, or run `tombolo destroy` with the old name before, which leaves that cluster as it was",
		}},
	},
	"CreateOIDCProvider": {
		Rule: strict.Rule{Default: false},
		Change: []field.Case{
			{
				When: "turned off", Effect: field.NeedsRebuild, Applies: func(c field.Change) bool { return c.Before == true },
				Words: "core has made the provider and would delete it, and no role of a service account could be assumed any more", Remedy: "keep createOidcProvider: true as long as core is there",
			},
			{When: "turned on", Effect: field.InPlace, Words: "core makes the provider; it fails when the account has one for the issuer"},
		},
		Remedy: "remove it: identities of Azure trust the cluster's issuer by themselves",
	},
	"ResourceGroup": {
		Rule: form.ResourceGroupRule("platform"),
		Change: []field.Case{{
			Effect: field.Impossible, Words: "another cluster of the subscription is meant, and what is in the first one would be lost",
			Remedy: "take the name back, or run `tombolo destroy` with the old name before, which leaves that cluster as it was",
		}},
		Remedy: "remove it: account and region lead to the cluster",
	},
})

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
		if s.Identity != nil && s.Identity.Mode == IRSA && s.Identity.RoleARN == "" {
			return true
		}
	}
	return c.IsHub()
}
