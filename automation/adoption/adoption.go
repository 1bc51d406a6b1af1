// Package adoption is what a cloud tells of a managed cluster that others own, for a
// cluster file of it.
package adoption

import (
	"context"

	"tombolo/config"
)

// Cluster is a managed cluster as its cloud describes it.
type Cluster struct {
	// Name in the cloud, and the Account that it is in.
	Name    string `json:"name"`
	Account string `json:"account"`
	// Version of Kubernetes, major.minor.
	Version string `json:"version"`
	// Region and Tenant of the cluster, where it is the cloud that knows them: on Azure.
	Region string `json:"region,omitempty"`
	Tenant string `json:"tenant,omitempty"`
	// OIDCProvider says that the account has an identity provider for the cluster's
	// service accounts; on Azure, that the cluster has an issuer of their tokens.
	OIDCProvider bool `json:"oidcProvider"`
	// AccessEntries says that the cluster takes access entries; on Azure, groups of Entra.
	AccessEntries bool `json:"accessEntries"`
	// Owner is the identity of the Tombolo cluster that this is; "" for a cluster of others.
	Owner string `json:"owner,omitempty"`
}

// Cloud is what an adoption asks of a provider of clouds.
type Cloud interface {
	// Describe reads the managed cluster that the file calls existing, in the region and
	// with the profile of the file. The account is not compared.
	Describe(ctx context.Context, c *config.Cluster) (Cluster, error)
}
