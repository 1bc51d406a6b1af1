package aws

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/bucket"
	"tombolo/components/certificate"
	"tombolo/components/eks"
	"tombolo/components/eventqueue"
	"tombolo/components/filesystem"
	"tombolo/components/identity"
	"tombolo/components/network"
	"tombolo/components/noderole"
	"tombolo/components/zones"
	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/config/awsfacts"
	"tombolo/stacks/catalog"
)

// discoveryTags are those that the addons want on subnets and on the cluster's
// security group.
func discoveryTags(c *config.Cluster) map[string]string {
	all := map[string]string{}
	for _, needs := range c.AddonNeeds() {
		maps.Copy(all, needs.DiscoveryTags)
	}
	return all
}

// makeAddons makes what the addons need, and returns their outputs by
// <addon>/<output>.
func makeAddons(ctx *pulumi.Context, c *config.Cluster, cluster *eks.Cluster, net *network.Network, provider pulumi.ResourceOrInvokeOption) (pulumi.StringMap, error) {
	outputs := pulumi.StringMap{}
	for a, needs := range c.AddonNeeds() {
		m := &addonMaker{ctx: ctx, c: c, cluster: cluster, net: net, provider: provider, addon: a, outputs: outputs}
		if err := m.make(needs); err != nil {
			return nil, fmt.Errorf("addon %s: %w", a.Name, err)
		}
	}
	return outputs, nil
}

// addonMaker makes what one addon needs.
type addonMaker struct {
	ctx      *pulumi.Context
	c        *config.Cluster
	cluster  *eks.Cluster
	net      *network.Network
	provider pulumi.ResourceOrInvokeOption
	addon    addon.Enabled
	outputs  pulumi.StringMap
}

func (m *addonMaker) make(needs addon.Needs) error {
	if err := m.checkZones(needs.Zones); err != nil {
		return err
	}
	for _, i := range needs.Identities {
		if err := m.makeIdentity(i); err != nil {
			return err
		}
	}
	for _, step := range []func(addon.Needs) error{m.makeNodeRole, m.makeQueue, m.makeCertificate, m.makeBucket, m.makeFileSystem} {
		if err := step(needs); err != nil {
			return err
		}
	}
	return nil
}

// resource is the name of one of the addon's resources.
func (m *addonMaker) resource(what string) string {
	return m.c.Name + "-" + m.addon.Name + "-" + what
}

func (m *addonMaker) put(output string, value pulumi.StringInput) {
	m.outputs[m.addon.Name+"/"+output] = value
}

func (m *addonMaker) checkZones(needed []addon.Zone) error {
	if len(needed) == 0 {
		return nil
	}
	var all []zones.Zone
	for _, z := range needed {
		all = append(all, zones.Zone{ID: z.ID, Name: z.Name})
	}
	return zones.Check(m.ctx, all, m.provider)
}

func (m *addonMaker) makeIdentity(i addon.Identity) error {
	args := &identity.RoleArgs{
		RoleARN:         m.c.GivenAddonRole(m.addon.Name, i.Name),
		RoleName:        config.AddonRoleName(m.c.Name, m.addon.Name, i.Name),
		Place:           place(m.c),
		Mode:            identity.IRSA,
		Namespace:       m.addon.Namespace,
		ServiceAccount:  i.ServiceAccount,
		AccountID:       m.c.Cloud.Account,
		OIDCProviderARN: m.cluster.OIDCProviderARN,
		OIDCIssuer:      m.cluster.OIDCIssuer,
		Statements:      statements(i.Statements),
	}
	if args.RoleARN != "" { // what it may do is its owner's
		args.Statements = nil
	}
	name := m.resource("role")
	if i.Name != "" {
		name = m.resource(i.Name + "-role")
	}
	role, err := identity.NewRole(m.ctx, name, args, m.provider)
	if err != nil {
		return err
	}
	m.put(addon.RoleOutput(i.Name), role.ARN)
	return nil
}

func (m *addonMaker) makeNodeRole(needs addon.Needs) error {
	if needs.NodeRole == nil {
		return nil
	}
	role, err := noderole.NewNodeRole(m.ctx, m.resource("node"), &noderole.NodeRoleArgs{
		RoleARN:             m.c.GivenNodeRole(m.addon.Name),
		RoleName:            needs.NodeRole.RoleName,
		InstanceProfileName: needs.NodeRole.ProfileName,
		Place:               place(m.c),
		Partition:           awsfacts.Partition(m.c.Cloud.Region),
		CNIHasRole:          cniHasRole(m.c),
		ClusterName:         m.cluster.Name,
	}, m.provider)
	if err != nil {
		return err
	}
	m.put(addon.InstanceProfile, role.InstanceProfileName)
	return nil
}

// cniHasRole tells whether the CNI is EKS's managed addon, which components/eks
// gives a role of its own.
func cniHasRole(c *config.Cluster) bool {
	return slices.ContainsFunc(c.Kubernetes.Addons, func(a config.ManagedAddon) bool { return a.Name == "vpc-cni" })
}

func (m *addonMaker) makeQueue(needs addon.Needs) error {
	if needs.Queue == nil {
		return nil
	}
	args := &eventqueue.EventQueueArgs{QueueName: needs.Queue.Name}
	for _, r := range needs.Queue.Rules {
		args.Rules = append(args.Rules, eventqueue.Rule{
			Name: r.Name, Description: r.Description,
			Pattern: map[string]any{"source": []string{r.Source}, "detail-type": []string{r.DetailType}},
		})
	}
	queue, err := eventqueue.NewEventQueue(m.ctx, m.resource("queue"), args, m.provider)
	if err != nil {
		return err
	}
	m.put(addon.QueueName, queue.Name)
	return nil
}

func (m *addonMaker) makeCertificate(needs addon.Needs) error {
	if needs.Certificate == nil {
		return nil
	}
	certificate, err := certificate.NewCertificate(m.ctx, m.resource("certificate"), &certificate.CertificateArgs{
		Domain: needs.Certificate.Domain, AlternativeNames: needs.Certificate.AlternativeNames,
		ZoneID: needs.Certificate.Zone.ID, ZoneName: needs.Certificate.Zone.Name,
	}, m.provider)
	if err != nil {
		return err
	}
	m.put(addon.CertificateARN, certificate.ARN)
	return nil
}

func (m *addonMaker) makeBucket(needs addon.Needs) error {
	if needs.Bucket == nil {
		return nil
	}
	made, err := bucket.NewBucket(m.ctx, m.resource("bucket"), &bucket.BucketArgs{
		BucketName: needs.Bucket.Name, ExpireDays: needs.Bucket.ExpireDays, KMSKeyARN: needs.Bucket.KMSKeyARN,
	}, m.provider)
	if err != nil {
		return err
	}
	m.put(addon.BucketName, made.Name)
	return nil
}

func (m *addonMaker) makeFileSystem(needs addon.Needs) error {
	if needs.FileSystem == nil {
		return nil
	}
	files, err := filesystem.NewFileSystem(m.ctx, m.resource("files"), &filesystem.FileSystemArgs{
		Name: needs.FileSystem.Name, Backup: &needs.FileSystem.Backup, KMSKeyARN: needs.FileSystem.KMSKeyARN,
		VPCID: m.net.VPCID, Subnets: m.net.PrivateSubnetByZone, ClientSecurityGroupID: m.cluster.SecurityGroupID,
	}, m.provider)
	if err != nil {
		return err
	}
	m.put(addon.FileSystemID, files.ID)
	return nil
}

// statements of an addon's identity, as the component takes them.
func statements(list []addon.Statement) []identity.Statement {
	out := make([]identity.Statement, len(list))
	for i, s := range list {
		out[i] = identity.Statement{Sid: s.Sid, Actions: s.Actions, Resources: s.Resources, Conditions: s.Conditions}
	}
	return out
}

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
