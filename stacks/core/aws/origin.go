package aws

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"tombolo/components/eks"
	"tombolo/components/identity"
	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/internal/names"
	"tombolo/stacks/core/live"
)

// The resources that tell what a cluster was made from.
const (
	clusterToken       = "aws:eks/cluster:Cluster"
	nodeGroupToken     = "aws:eks/nodeGroup:NodeGroup"
	templateToken      = "aws:ec2/launchTemplate:LaunchTemplate"
	accessEntryToken   = "aws:eks/accessEntry:AccessEntry"
	accessPolicyToken  = "aws:eks/accessPolicyAssociation:AccessPolicyAssociation"
	providerToken      = "aws:eks/identityProviderConfig:IdentityProviderConfig"
	managedAddonToken  = "aws:eks/addon:Addon"
	identityToken      = "tombolo:identity:Role"
	nodeRoleToken      = "tombolo:noderole:NodeRole"
	roleToken          = "aws:iam/role:Role"
	keyToken           = "aws:kms/key:Key"
	logGroupToken      = "aws:cloudwatch/logGroup:LogGroup"
	vpcToken           = "aws:ec2/vpc:Vpc"
	subnetToken        = "aws:ec2/subnet:Subnet"
	natToken           = "aws:ec2/natGateway:NatGateway"
	endpointToken      = "aws:ec2/vpcEndpoint:VpcEndpoint"
	existingNetToken   = "tombolo:network:Existing"
	existingToken      = "tombolo:eks:Existing"
	oidcToken          = "aws:iam/openIdConnectProvider:OpenIdConnectProvider"
	flowLogToken       = "aws:ec2/flowLog:FlowLog"
	fileSystemToken    = "aws:efs/fileSystem:FileSystem"
	ingressRuleToken   = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
	endpointNamePrefix = "com.amazonaws."
)

// LiveKeys are the outputs of resources that Live and Build look at.
func LiveKeys() []string {
	return []string{
		"accessConfig", "accessScope", "addonName", "addonVersion", "amiType", "arn", "availabilityZone", "blockDeviceMappings", "capacityType",
		"certificateAuthority", "cidrBlock", "cidrIpv4", "computeConfig",
		"configurationValues", "enabledClusterLogTypes", "encryptionConfig", "endpoint",
		"forceUpdateVersion", "imageId", "instanceTypes", "kmsKeyId", "kubernetesGroups", "kubernetesNetworkConfig", "labels", "logDestination", "logDestinationType", "name", "nodeGroupName", "nodeRoleArn", "oidc", "path", "permissionsBoundary", "policyArn",
		"principalArn", "privateSubnetIds", "publicSubnetIds", "referencedSecurityGroupId", "releaseVersion", "retentionInDays", "roleArn", "scalingConfig", "serviceAccountRoleArn", "serviceName",
		"subnetIds", "tagSpecifications", "taints", "trafficType", "updateConfig", "upgradePolicy", "userData", "version", "vpcConfig", "vpcId",
		"vpcSecurityGroupIds", "zonalShiftConfig",
	}
}

// Live is what the resources of a core stack tell of the cluster file that they were
// made from, for a comparison with a file; nil when the stack has no control plane.
// It is the inverse of what this package makes of a file: a key whose resources are not
// there, or say nothing certain, is not known.
func Live(file *config.Cluster, all live.Resources) *config.Live {
	if adopted, there := all.First(existingToken); there {
		return liveExisting(file, all, adopted)
	}
	cluster, there := all.First(clusterToken)
	if !there {
		return nil
	}
	r := &reader{
		file: file, had: made{all}, cluster: cluster.Outputs,
		out: &config.Live{Cluster: &config.Cluster{Name: cluster.Outputs.Text("name")}},
	}
	for _, read := range []func(){r.place, r.roles, r.givenRoles, r.givenAddonRoles, r.tags, r.network, r.controlPlane, r.privateAccess, r.encryption, r.access, r.identityProvider, r.nodeGroups, r.addons, r.fileSystem} {
		read()
	}
	return r.out
}

// liveExisting is Live of a cluster that others own: what core has added to it.
func liveExisting(file *config.Cluster, all live.Resources, adopted live.Resource) *config.Live {
	r := &reader{
		file: file, had: made{all}, cluster: adopted.Outputs,
		out: &config.Live{Cluster: &config.Cluster{Name: adopted.Name}},
	}
	r.out.Cluster.Kubernetes.Existing = &config.ExistingCluster{
		Name: adopted.Outputs.Text("name"), CreateOIDCProvider: all.Named(oidcToken, adopted.Name+"-oidc").Type != "",
	}
	r.place()
	r.givenAddonRoles()
	r.access()
	r.fileSystem()
	r.knows("ExistingCluster.CreateOIDCProvider")
	if adopted.Outputs.Text("name") != "" { // else the first up did not come so far
		r.knows("ExistingCluster.Name")
	}
	return r.out
}

// reader puts together what the resources tell.
type reader struct {
	file    *config.Cluster
	had     made
	cluster live.Props
	out     *config.Live
}

func (r *reader) knows(fields ...string) { r.out.Known = append(r.out.Known, fields...) }

// made is a resource by what its name has after the cluster's.
func (r *reader) made(token, suffix string) live.Props {
	return r.had.Named(token, r.out.Cluster.Name+"-"+suffix).Outputs
}

// place reads region and account from the cluster's ARN.
func (r *reader) place() {
	parts := strings.Split(r.cluster.Text("arn"), ":")
	if len(parts) < 6 {
		return
	}
	r.out.Cluster.Cloud = config.Cloud{Provider: config.AWS, Region: parts[3], Account: parts[4]}
	r.knows("Cluster.Name", "Cloud.Provider", "Cloud.Region", "Cloud.Account")
}

// roles reads path and boundary from a role that core made: all have the same.
func (r *reader) roles() {
	own := slices.DeleteFunc(r.had.OfType(roleToken), func(role live.Resource) bool {
		return role.Name == r.out.Cluster.Name+"-"+eks.GivenClusterRole
	})
	if len(own) == 0 {
		return
	}
	r.out.Cluster.Cloud.Roles.Path = cmp.Or(own[0].Outputs.Text("path"), "/")
	r.out.Cluster.Cloud.Roles.PermissionsBoundary = own[0].Outputs.Text("permissionsBoundary")
	r.knows("Roles.Path", "Roles.PermissionsBoundary")
}

// givenRoles reads which roles of control plane and nodes are others': core has made none.
func (r *reader) givenRoles() {
	out := &r.out.Cluster.Cloud.Roles.Given
	if len(r.made(roleToken, "cluster-role")) == 0 {
		out.Cluster = r.cluster.Text("roleArn")
	}
	r.knows("GivenRoles.Cluster")
	nodes := r.cluster.In("computeConfig").Text("nodeRoleArn")
	for _, g := range r.had.OfType(nodeGroupToken) {
		nodes = g.Outputs.Text("nodeRoleArn")
	}
	if nodes == "" {
		return
	}
	if len(r.made(roleToken, "node-role")) == 0 {
		out.Nodes = nodes
	}
	r.knows("GivenRoles.Nodes")
}

// givenAddonRoles reads the same of the addons that are on.
func (r *reader) givenAddonRoles() {
	for _, name := range r.file.AddonRoles() {
		arn, made := r.made(identityToken, name+"-role").Text("arn"), r.made(roleToken, name+"-role-role")
		if arn == "" { // a role of nodes
			arn, made = r.made(nodeRoleToken, name).Text("roleArn"), r.made(roleToken, name+"-role")
		}
		if arn != "" && len(made) == 0 {
			if r.out.Cluster.Cloud.Roles.Given.Addons == nil {
				r.out.Cluster.Cloud.Roles.Given.Addons = map[string]string{}
			}
			r.out.Cluster.Cloud.Roles.Given.Addons[name] = arn
		}
	}
	r.knows("GivenRoles.Addons")
}

// tags reads the tags from a launch template, where they are without those that
// controllers and owners add.
func (r *reader) tags() {
	templates := r.had.OfType(templateToken)
	if len(templates) == 0 {
		return
	}
	tagged := templates[0].Outputs.Items("tagSpecifications") // all have the same
	if len(tagged) == 0 {
		return
	}
	tags := tagged[0].In("tags").Map()
	r.out.Cluster.Environment = tags[names.EnvironmentTag]
	for _, own := range []string{"Name", names.ClusterTag, names.EnvironmentTag} {
		delete(tags, own)
	}
	r.out.Cluster.Tags = tags
	r.knows("Cluster.Environment", "Cluster.Tags")
}

func (r *reader) network() {
	n := &r.out.Cluster.Network
	r.knows("Network.Existing")
	if existing := r.had.OfType(existingNetToken); len(existing) > 0 {
		outputs := existing[0].Outputs
		n.Existing = &config.ExistingNetwork{
			VPC: outputs.Text("vpcId"), PrivateSubnets: outputs.Texts("privateSubnetIds"), PublicSubnets: outputs.Texts("publicSubnetIds"),
		}
		r.knows("ExistingNetwork.VPC", "ExistingNetwork.PrivateSubnets", "ExistingNetwork.PublicSubnets")
		if file := r.file.Network.Existing; file != nil && file.ControlPlaneSubnets != nil { // else they follow from the private ones
			n.Existing.ControlPlaneSubnets = r.had.controlPlaneSubnets()
			r.knows("ExistingNetwork.ControlPlaneSubnets")
		}
		return
	}
	if n.CIDR = r.made(vpcToken, "vpc").Text("cidrBlock"); n.CIDR == "" {
		return
	}
	r.zones()
	switch len(r.had.OfType(natToken)) {
	case 0:
		n.NAT = config.NATNone
	case 1:
		n.NAT = config.NATSingle
	default:
		n.NAT = config.NATPerZone
	}
	for _, e := range r.had.OfType(endpointToken) {
		service := strings.TrimPrefix(e.Outputs.Text("serviceName"), "cn.")
		_, service, _ = strings.Cut(strings.TrimPrefix(service, endpointNamePrefix), ".")
		n.Endpoints = append(n.Endpoints, service)
	}
	r.knows("Network.CIDR", "Network.Zones", "Network.NAT", "Network.Endpoints")
	r.flowLogs()
}

func (r *reader) flowLogs() {
	if log, there := r.had.First(flowLogToken); there {
		f := &config.FlowLogs{To: config.FlowLogsToCloudWatch, Traffic: config.FlowTraffic(strings.ToLower(log.Outputs.Text("trafficType")))}
		if log.Outputs.Text("logDestinationType") == "s3" {
			f.To, f.BucketARN = config.FlowLogsToS3, log.Outputs.Text("logDestination")
		} else {
			group := r.made(logGroupToken, "flow-logs")
			f.RetentionDays, f.KMSKeyARN = group.Number("retentionInDays"), group.Text("kmsKeyId")
		}
		r.out.Cluster.Network.FlowLogs = f
	}
	r.knows("Network.FlowLogs", "FlowLogs.To", "FlowLogs.BucketARN", "FlowLogs.Traffic", "FlowLogs.RetentionDays", "FlowLogs.KMSKeyARN")
}

// zones reads the subnets, and which zones those of the control plane are in.
func (r *reader) zones() {
	for _, id := range r.had.controlPlaneSubnets() {
		if zone := r.had.subnetZone(id); zone != "" {
			r.out.ControlPlaneZones = append(r.out.ControlPlaneZones, zone)
		}
	}
	r.out.Subnets = r.had.subnets(r.out.Cluster.Name)
	for _, plan := range r.out.Subnets {
		if plan.Private.IsValid() {
			r.out.Cluster.Network.Zones = append(r.out.Cluster.Network.Zones, plan.Zone)
		}
	}
}

func (r *reader) controlPlane() {
	k := &r.out.Cluster.Kubernetes
	access := r.cluster.In("vpcConfig")
	private := access.Truth("endpointPrivateAccess")
	k.Version, k.Endpoint.Private = r.cluster.Text("version"), &private
	for _, key := range keys() {
		key.read(r, k)
		r.knows(key.field)
	}
	k.Compute = config.NodeGroupCompute
	if r.cluster.In("computeConfig").Truth("enabled") {
		k.Compute = config.AutoCompute
	}
	if k.Version != "" {
		r.knows("Kubernetes.Version")
	}
	if r.file.Kubernetes.Support != "" { // else it keeps what it has
		k.Support = config.Support(strings.ToLower(r.cluster.In("upgradePolicy").Text("supportType")))
		r.knows("Kubernetes.Support")
	}
	if r.file.Kubernetes.ServiceCIDR != "" { // else it has what core or EKS chose
		k.ServiceCIDR = r.cluster.In("kubernetesNetworkConfig").Text("serviceIpv4Cidr")
		r.knows("Kubernetes.ServiceCIDR")
	}
	if r.file.Kubernetes.ZonalShift != nil {
		k.ZonalShift = new(r.cluster.In("zonalShiftConfig").Truth("enabled"))
		r.knows("Kubernetes.ZonalShift")
	}
	r.knows("Kubernetes.Compute", "Endpoint.Private")
	if k.Endpoint.Public && r.file.Kubernetes.Endpoint.Public { // EKS keeps blocks for a public endpoint that is off
		k.Endpoint.AllowedCIDRs = access.Texts("publicAccessCidrs")
		r.knows("Endpoint.AllowedCIDRs")
	}
}

// privateAccess reads who is let in to the private endpoint.
func (r *reader) privateAccess() {
	e := &r.out.Cluster.Kubernetes.Endpoint
	for _, rule := range r.had.OfType(ingressRuleToken) {
		if !strings.HasPrefix(rule.Name, r.out.Cluster.Name+"-"+eks.PrivateAccess) {
			continue
		}
		if block := rule.Outputs.Text("cidrIpv4"); block != "" {
			e.PrivateCIDRs = append(e.PrivateCIDRs, block)
		}
		if group := rule.Outputs.Text("referencedSecurityGroupId"); group != "" {
			e.SecurityGroups = append(e.SecurityGroups, group)
		}
	}
	r.knows("Endpoint.PrivateCIDRs", "Endpoint.SecurityGroups")
}

// encryption is by a key that core has made when the state has it.
func (r *reader) encryption() {
	key := r.cluster.In("encryptionConfig").In("provider").Text("keyArn")
	encrypted := key != ""
	if key == r.made(keyToken, "secrets").Text("arn") {
		key = ""
	}
	r.out.Cluster.Kubernetes.SecretsEncryption = config.SecretsEncryption{Enabled: &encrypted, KeyARN: key}
	r.knows("SecretsEncryption.Enabled")
	if enabled := r.file.Kubernetes.SecretsEncryption.Enabled; enabled == nil || *enabled { // else its key counts for nothing
		r.knows("SecretsEncryption.KeyARN")
	}
}

func (r *reader) access() {
	k := &r.out.Cluster.Kubernetes
	creator := r.had.creator(r.out.Cluster.Name)
	for _, admin := range r.file.Kubernetes.Admins {
		if admin.PrincipalARN == creator { // a principal has one entry
			k.Admins = append(k.Admins, admin)
		}
	}
	for _, entry := range r.had.OfType(accessEntryToken) {
		for prefix, principals := range map[string]*[]config.Principal{"-admin-": &k.Admins, "-previewer-": &k.Previewers} {
			if name, ok := strings.CutPrefix(entry.Name, r.out.Cluster.Name+prefix); ok {
				*principals = append(*principals, config.Principal{Name: name, PrincipalARN: entry.Outputs.Text("principalArn")})
			}
		}
	}
	for _, entry := range r.had.OfType(accessEntryToken) {
		if name, ok := strings.CutPrefix(entry.Name, r.out.Cluster.Name+"-access-"); ok {
			k.Access = append(k.Access, r.otherAccess(name, entry.Outputs))
		}
	}
	r.knows("Kubernetes.Admins", "Kubernetes.Previewers", "Principal.PrincipalARN")
	r.knows("Kubernetes.Access", "Access.PrincipalARN", "Access.Policy", "Access.Namespaces", "Access.Groups")
}

// otherAccess is an entry of kubernetes.access with its policy.
func (r *reader) otherAccess(name string, entry live.Props) config.Access {
	out := config.Access{Name: name, PrincipalARN: entry.Text("principalArn"), Groups: entry.Texts("kubernetesGroups")}
	policy := r.made(accessPolicyToken, "access-"+name)
	for word, of := range accessPolicies() {
		if strings.HasSuffix(policy.Text("policyArn"), "/"+of) {
			out.Policy, out.Namespaces = word, policy.In("accessScope").Texts("namespaces")
		}
	}
	return out
}

// identityProvider reads the provider of the control plane.
func (r *reader) identityProvider() {
	if provider, there := r.had.First(providerToken); there {
		oidc := provider.Outputs.In("oidc")
		r.out.Cluster.Kubernetes.IdentityProvider = &config.IdentityProvider{
			IssuerURL: oidc.Text("issuerUrl"), ClientID: oidc.Text("clientId"), UsernameClaim: oidc.Text("usernameClaim"), UsernamePrefix: oidc.Text("usernamePrefix"),
			GroupsClaim: oidc.Text("groupsClaim"), GroupsPrefix: oidc.Text("groupsPrefix"), RequiredClaims: oidc.In("requiredClaims").Map(),
		}
	}
	r.knows("Kubernetes.IdentityProvider", "IdentityProvider.IssuerURL", "IdentityProvider.ClientID", "IdentityProvider.UsernameClaim",
		"IdentityProvider.UsernamePrefix", "IdentityProvider.GroupsClaim", "IdentityProvider.GroupsPrefix", "IdentityProvider.RequiredClaims")
}

func (r *reader) nodeGroups() {
	for _, g := range r.had.OfType(nodeGroupToken) {
		if name, ok := strings.CutPrefix(g.Name, r.out.Cluster.Name+"-nodes-"); ok {
			r.out.Cluster.Kubernetes.NodeGroups = append(r.out.Cluster.Kubernetes.NodeGroups, r.nodeGroup(name, g.Outputs))
		}
	}
	r.nodeVersion()
	r.knows("Kubernetes.NodeGroups", "NodeGroup.InstanceTypes", "NodeGroup.Capacity", "NodeGroup.DiskGiB", "NodeGroup.Labels",
		"NodeGroup.Taints", "Size.Min", "Size.Max", "NodeGroup.AMI", "NodeGroup.Release", "NodeGroup.ImageID", "NodeGroup.MaxPods",
		"NodeGroup.SecurityGroups", "NodeGroup.Zones", "NodeGroup.Subnets", "NodeGroup.UserData", "NodeVolume.Type", "NodeVolume.IOPS",
		"NodeVolume.Throughput", "NodeVolume.KMSKeyARN", "NodeUpdate.MaxUnavailable", "NodeUpdate.MaxUnavailablePercent", "NodeUpdate.Force")
}

// nodeVersion is the oldest of the groups', but for those with images of their own, whose
// version is the image's. It is left out, as in the file, when the groups have the control
// plane's version or the one that the file wants for them.
func (r *reader) nodeVersion() {
	k := &r.out.Cluster.Kubernetes
	var oldest string
	for _, g := range r.had.OfType(nodeGroupToken) {
		if g.Outputs.Text("amiType") == eks.CustomAMI {
			continue
		}
		if v := g.Outputs.Text("version"); oldest == "" || config.CompareMinors(v, oldest) < 0 {
			oldest = v
		}
	}
	r.out.NodeVersion = oldest
	if oldest == "" {
		return
	}
	if r.file.Kubernetes.NodeVersion != "" || oldest != k.Version && oldest != r.file.Kubernetes.Version {
		k.NodeVersion = oldest
	}
	r.knows("Kubernetes.NodeVersion")
}

// taintEffect is Kubernetes' spelling of EKS's effects.
func taintEffect(eks string) config.TaintEffect {
	return map[string]config.TaintEffect{
		"NO_SCHEDULE": config.NoSchedule, "PREFER_NO_SCHEDULE": config.PreferNoSchedule, "NO_EXECUTE": config.NoExecute,
	}[eks]
}

// fileSystem reads the key of the EFS driver's file system. Without one in the file it has
// the account's, or keeps the one that it has.
func (r *reader) fileSystem() {
	const driver = "aws-efs-csi-driver"
	file, on := r.file.Addons[driver].(*addon.EFSOptions)
	key := r.made(fileSystemToken, driver+"-files-files").Text("kmsKeyId")
	if !on || file.KMSKeyARN == "" || key == "" {
		return
	}
	r.out.Cluster.Addons = addon.Selection{driver: &addon.EFSOptions{KMSKeyARN: key}}
	r.knows("EFSOptions.KMSKeyARN")
}

// addons reads EKS's addons. The version of one that the file does not pin is AWS's.
func (r *reader) addons() {
	pinned, identities := map[string]bool{}, map[string]*config.AddonIdentity{}
	for _, a := range r.file.Kubernetes.Addons {
		pinned[a.Name], identities[a.Name] = a.Version != "", a.Identity
	}
	for _, a := range r.had.OfType(managedAddonToken) {
		addon := config.ManagedAddon{Name: a.Outputs.Text("addonName")}
		if pinned[addon.Name] {
			addon.Version = a.Outputs.Text("addonVersion")
		}
		if text := a.Outputs.Text("configurationValues"); text != "" && json.Unmarshal([]byte(text), &addon.Configuration) != nil {
			continue // no addon of ours
		}
		addon.Identity = r.addonIdentity(addon.Name, a.Outputs.Text("serviceAccountRoleArn"), identities[addon.Name])
		r.out.Cluster.Kubernetes.Addons = append(r.out.Cluster.Kubernetes.Addons, addon)
	}
	r.knows("Kubernetes.Addons", "ManagedAddon.Version", "ManagedAddon.Configuration", "ManagedAddon.Identity", "AddonIdentity.RoleARN")
}

// addonIdentity is the identity of an addon with a role, which is ours by its name. What
// ours may do is not compared: it is as the file says, where the file has us make it.
func (r *reader) addonIdentity(addon, role string, inFile *config.AddonIdentity) *config.AddonIdentity {
	switch identity.RoleNameOf(role) {
	case "", r.file.Name + "-cni":
		return nil
	case config.ManagedAddonRoleName(r.file.Name, addon):
		if inFile != nil && inFile.RoleARN == "" {
			return inFile
		}
		return &config.AddonIdentity{}
	}
	return &config.AddonIdentity{RoleARN: role}
}
