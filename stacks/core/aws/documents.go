package aws

import (
	"fmt"
	"strings"

	"tombolo/components/eks"
	"tombolo/components/identity"
	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/config/awsfacts"
	"tombolo/stacks/catalog"
)

// RoleDocuments are the roles of control plane, nodes and addons, in a stable order. issuer is
// the URL of the cluster's OIDC issuer; "" puts catalog.IssuerPlace there.
func RoleDocuments(c *config.Cluster, issuer string) ([]catalog.RoleDocument, error) {
	d := documents{c: c, partition: awsfacts.Partition(c.Cloud.Region), issuer: strings.TrimPrefix(issuer, "https://")}
	if d.issuer == "" {
		d.issuer = catalog.IssuerPlace
	}
	if !c.IsExisting() {
		if err := d.ofEKS(); err != nil {
			return nil, err
		}
	}
	for _, a := range c.Addons.Enabled() {
		if err := d.ofAddon(a); err != nil {
			return nil, fmt.Errorf("addon %s: %w", a.Name, err)
		}
	}
	return d.all, nil
}

type documents struct {
	c                 *config.Cluster
	partition, issuer string
	all               []catalog.RoleDocument
}

// ofEKS are the roles of control plane and nodes.
func (d *documents) ofEKS() error {
	given, auto := d.c.Cloud.Roles.Given, d.c.Kubernetes.Auto()
	trust, err := identity.ServiceTrust([]string{eksService}, auto)
	if err != nil {
		return err
	}
	d.all = append(d.all, catalog.RoleDocument{
		Key: givenClusterKey, ARN: given.Cluster, Trust: trust, PolicyARNs: eks.ClusterPolicyARNs(d.partition, auto),
	})
	return d.ofNodes(givenNodesKey, given.Nodes, eks.NodePolicyARNs(d.partition, auto, cniHasRole(d.c)))
}

func (d *documents) ofNodes(key, arn string, policies []string) error {
	trust, err := identity.ServiceTrust(identity.EC2(d.partition), false)
	if err != nil {
		return err
	}
	d.all = append(d.all, catalog.RoleDocument{Key: key, ARN: arn, Trust: trust, PolicyARNs: policies})
	return nil
}

// ofAddon are the roles of an addon's service accounts, and of nodes that it makes.
func (d *documents) ofAddon(a addon.Enabled) error {
	const at = givenAddonsKey + "."
	needs := a.Needs(d.c.AddonFacts(), a.Options)
	provider := "arn:" + d.partition + ":iam::" + d.c.Cloud.Account + ":oidc-provider/" + d.issuer
	for _, i := range needs.Identities {
		trust, err := identity.WebIdentityTrust(provider, d.issuer, a.Namespace, []string{i.ServiceAccount})
		if err != nil {
			return err
		}
		policy, err := identity.Document(statements(i.Statements))
		if err != nil {
			return err
		}
		name := config.AddonRole(a.Name, i.Name)
		d.all = append(d.all, catalog.RoleDocument{Key: at + name, ARN: d.c.GivenAddonRole(a.Name, i.Name), Trust: trust, Policy: policy})
	}
	if needs.NodeRole == nil {
		return nil
	}
	return d.ofNodes(at+config.AddonRole(a.Name, config.NodeIdentity), d.c.GivenNodeRole(a.Name), eks.NodePolicyARNs(d.partition, false, cniHasRole(d.c)))
}
