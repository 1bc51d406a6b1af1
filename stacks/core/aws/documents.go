package aws

import (
	"fmt"
	"strings"

	"tombolo/components/eks"
	"tombolo/components/identity"
	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/config/awsfacts"
)

// RoleDocument is a role of a cluster that cloud.roles.given can name, as its owner has to
// make it. Trust and Policy are documents of IAM in JSON.
type RoleDocument struct {
	// Key of the cluster file, such as cloud.roles.given.nodes.
	Key string `json:"key"`
	// ARN that the file has there; "" has core make the role.
	ARN string `json:"arn,omitempty"`
	// Trust policy.
	Trust string `json:"trustPolicy"`
	// PolicyARNs of AWS's policies to attach.
	PolicyARNs []string `json:"policyArns,omitempty"`
	// Policy of its own; "" for none.
	Policy string `json:"policy,omitempty"`
}

// IssuerPlace stands in a trust policy for the cluster's OIDC issuer, without https://, as
// long as nobody knows it: EKS makes it with the cluster.
const IssuerPlace = "OIDC_ISSUER"

// RoleDocuments are the roles of control plane, nodes and addons, in a stable order. issuer is
// the URL of the cluster's OIDC issuer; "" puts IssuerPlace there.
func RoleDocuments(c *config.Cluster, issuer string) ([]RoleDocument, error) {
	d := documents{c: c, partition: awsfacts.Partition(c.Cloud.Region), issuer: strings.TrimPrefix(issuer, "https://")}
	if d.issuer == "" {
		d.issuer = IssuerPlace
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
	all               []RoleDocument
}

// ofEKS are the roles of control plane and nodes.
func (d *documents) ofEKS() error {
	given, auto := d.c.Cloud.Roles.Given, d.c.Kubernetes.Auto()
	trust, err := identity.ServiceTrust([]string{eksService}, auto)
	if err != nil {
		return err
	}
	d.all = append(d.all, RoleDocument{
		Key: givenClusterKey, ARN: given.Cluster, Trust: trust, PolicyARNs: eks.ClusterPolicyARNs(d.partition, auto),
	})
	return d.ofNodes(givenNodesKey, given.Nodes, eks.NodePolicyARNs(d.partition, auto, cniHasRole(d.c)))
}

func (d *documents) ofNodes(key, arn string, policies []string) error {
	trust, err := identity.ServiceTrust(identity.EC2(d.partition), false)
	if err != nil {
		return err
	}
	d.all = append(d.all, RoleDocument{Key: key, ARN: arn, Trust: trust, PolicyARNs: policies})
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
		d.all = append(d.all, RoleDocument{Key: at + name, ARN: d.c.GivenAddonRole(a.Name, i.Name), Trust: trust, Policy: policy})
	}
	if needs.NodeRole == nil {
		return nil
	}
	return d.ofNodes(at+config.AddonRole(a.Name, config.NodeIdentity), d.c.GivenNodeRole(a.Name), eks.NodePolicyARNs(d.partition, false, cniHasRole(d.c)))
}
