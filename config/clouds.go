package config

import (
	"reflect"
	"slices"
	"strings"

	"tombolo/config/addon"
	"tombolo/config/strict"
	"tombolo/internal/scalar"
	"tombolo/internal/wording"
)

// cloudTag is the tag of a field whose key only files for one cloud have.
const cloudTag = "cloud"

// providers are the clouds that a cluster file may be for.
func providers() []Provider { return []Provider{AWS, Azure} }

// title of the cloud, as people write it.
func (p Provider) title() string {
	if p == Azure {
		return "Azure"
	}
	return "AWS"
}

// formats of cluster files, by the cloud that they are for.
var formats = map[Provider]strict.Format{AWS: formatFor(AWS), Azure: formatFor(Azure)}

// formatOf is the format of the cluster files for a cloud; for one that is not known, it is
// that for AWS.
func formatOf(p Provider) strict.Format {
	if f, ok := formats[p]; ok {
		return f
	}
	return formats[AWS]
}

func formatFor(p Provider) strict.Format {
	f := clusterFormat
	f.Rule = func(name string) strict.Rule { return ruleFor(p, name) }
	f.Omit = func(owner reflect.Type, name string, tag reflect.StructTag) *strict.Omission {
		if owner == reflect.TypeFor[addon.Selection]() {
			return addonOmission(p, name)
		}
		return omission(p, owner.Name()+"."+name, Provider(tag.Get(cloudTag)))
	}
	return f
}

// format of the cluster's file.
func (c *Cluster) format() strict.Format { return formatOf(c.Cloud.Provider) }

// onAzure says that the cluster is in Azure.
func (c *Cluster) onAzure() bool { return c.Cloud.Provider == Azure }

// providerIn is the cloud that a file is for, whatever else is wrong with it: what the file
// may say depends on it. A misspelt word stands for the nearest cloud, and none for AWS.
func providerIn(content []byte) Provider {
	word, _ := scalar.At(content, "cloud", "provider") // an error is reported when the file is decoded
	word = strings.ToLower(strings.TrimSpace(word))
	if slices.Contains(providers(), Provider(word)) {
		return Provider(word)
	}
	if near := wording.Nearest(word, texts(providers()...)); near != "" {
		return Provider(near)
	}
	return AWS
}

// ruleFor is the rule of a field in the files for a cloud.
func ruleFor(p Provider, name string) strict.Rule {
	if r, ok := azureRules[name]; ok && p == Azure {
		return r
	}
	return ruleOf(name)
}

// addonOmission is why the files for a cloud have no addon of a name; nil for one that they
// have.
func addonOmission(p Provider, name string) *strict.Omission {
	a := addon.Find(name)
	if a == nil {
		return nil
	}
	instead, not := a.NotOn[string(p)]
	if !not {
		return nil
	}
	return &strict.Omission{Message: instead.Reason, Remedy: instead.Remedy}
}

// omission is why the files for a cloud have no key for a field, such as Cloud.Tenant, which
// only those of another have; nil for a key that they have.
func omission(p Provider, field string, other Provider) *strict.Omission {
	if other == "" || other == p {
		return nil
	}
	inPlace := elsewhere[field]
	o := &strict.Omission{
		Message: "is a key of files for " + other.title() + ", and this one is for " + p.title(),
		Remedy:  inPlace.remedy, Instead: inPlace.key,
	}
	switch {
	case o.Remedy != "":
	case o.Instead != "":
		o.Remedy = "use " + o.Instead
	default:
		o.Remedy = "remove it"
	}
	return o
}

// counterpart is what the other cloud has in place of a key.
type counterpart struct {
	// key of the same mapping; "" when there is none.
	key string
	// remedy says what to do; "" for the general words.
	remedy string
}

// elsewhere says what the other cloud has in place of the keys that only one has, by field.
// A key that is not here has nothing in its place.
var elsewhere = map[string]counterpart{
	"Cloud.Tenant":        {"", "remove it: an AWS account has no tenant"},
	"Cloud.ResourceGroup": {"", "remove it: AWS has no resource groups that resources are in"},
	"Cloud.Profile":       {"", "remove it: credentials are those of the environment, or of az login"},
	"Cloud.AssumeRole":    {"", "remove it: sign in as who has the rights in the subscription"},
	"Cloud.Roles":         {"", "remove it: core makes no IAM roles on Azure"},

	"Network.Zones":     {"", "remove it: on Azure a network spans all zones, and nodeGroups[].zones says where nodes are"},
	"Network.NAT":       {"outbound", "use outbound: nat-gateway or load-balancer"},
	"Network.Endpoints": {"", "remove it: core makes no endpoints on Azure"},
	"Network.FlowLogs":  {"", "remove it: turn on the flow logs of virtual networks in Network Watcher"},
	"Network.Outbound":  {"nat", "use nat: none, single or per-zone"},

	"ExistingNetwork.VPC":                 {"nodeSubnet", "use nodeSubnet, which names the network with the subnet"},
	"ExistingNetwork.Account":             {"", "remove it: the id in nodeSubnet has the subscription"},
	"ExistingNetwork.PrivateSubnets":      {"nodeSubnet", "use nodeSubnet, one subnet by its id"},
	"ExistingNetwork.ControlPlaneSubnets": {"", "remove it: AKS keeps its control plane outside of your network"},
	"ExistingNetwork.PublicSubnets":       {"", "remove it: public load balancers need no subnet of their own"},
	"ExistingNetwork.NodeSubnet":          {"privateSubnets", "use vpc and privateSubnets"},
	"ExistingNetwork.GrantAccess":         {"", "remove it: EKS needs no right in the subnets"},

	"ExistingCluster.CreateOIDCProvider": {"", "remove it: identities of Azure trust the cluster's issuer by themselves"},
	"ExistingCluster.ResourceGroup":      {"", "remove it: account and region lead to the cluster"},

	"Kubernetes.PodCIDR":           {"", "remove it: pods have addresses of the VPC"},
	"Kubernetes.Tier":              {"", "remove it: EKS has one tier; support says what happens to old versions"},
	"Kubernetes.Upgrades":          {"", "remove it: EKS upgrades nothing by itself while the version is supported"},
	"Kubernetes.NodeResourceGroup": {"", "remove it: AWS has no resource groups that resources are in"},
	"Kubernetes.Logs":              {"", "remove it: send the control plane's logs by a diagnostic setting of Azure Monitor"},
	"Kubernetes.LogRetentionDays":  {"", "remove it: a Log Analytics workspace says how long it keeps logs"},
	"Kubernetes.LogKeyARN":         {"", "remove it: a Log Analytics workspace says how it encrypts logs"},
	"Kubernetes.SecretsEncryption": {"", "remove it: AKS encrypts what it stores by keys of Microsoft's"},
	"Kubernetes.ZonalShift":        {"", "remove it: AKS has no such switch"},
	"Kubernetes.Access":            {"", "remove it: bind groups of Entra, by their object ids, to roles in the platform tree"},
	"Kubernetes.IdentityProvider":  {"", "remove it: Entra signs people in, and admins and bindings name its groups"},
	"Kubernetes.Compute":           {"", "remove it: nodes are in nodeGroups"},
	"Kubernetes.Addons":            {"", "remove it: AKS brings network, DNS and disks with the cluster"},

	"Endpoint.PrivateDNSZone":        {"", "remove it: AWS's own names lead to the private endpoint"},
	"Endpoint.PrivateCIDRs":          {"", "remove it: every network that is connected reaches the private endpoint; its network security groups say who not"},
	"Endpoint.PublicAddressesInside": {"", "remove it: it confirms privateCidrs, which is for AWS"},
	"Endpoint.SecurityGroups":        {"", "remove it: every network that is connected reaches the private endpoint; its network security groups say who not"},

	"Principal.PrincipalARN": {"group", "use group, the object id of a group of Entra"},
	"Principal.Group":        {"principalArn", "use principalArn, the ARN of an IAM role or user"},

	"NodeGroup.Mode":                   {"", "remove it: on EKS every group takes the pods of kube-system"},
	"NodeGroup.VMSize":                 {"instanceTypes", "use instanceTypes, such as [m7i.large]"},
	"NodeGroup.OS":                     {"ami", "use ami: al2023 or bottlerocket"},
	"NodeGroup.InstanceTypes":          {"vmSize", "use vmSize, one size such as Standard_D4s_v5"},
	"NodeGroup.AMI":                    {"os", "use os: azure-linux or ubuntu"},
	"NodeGroup.Release":                {"", "remove it: kubernetes.upgrades.nodeImages says which images nodes get"},
	"NodeGroup.ImageID":                {"", "remove it: AKS takes no image of your own"},
	"NodeGroup.Volume":                 {"", "remove it: diskGiB is the size of the disk, and vmSize decides its kind"},
	"NodeGroup.SecurityGroups":         {"", "remove it: the network security group of the subnet counts for all nodes"},
	"NodeGroup.Subnets":                {"", "remove it: all nodes are in network.existing.nodeSubnet"},
	"NodeGroup.UserData":               {"", "remove it: AKS takes no user data; a DaemonSet of the platform tree does such work"},
	"NodeUpdate.MaxSurge":              {"maxUnavailable", "use maxUnavailable or maxUnavailablePercent"},
	"NodeUpdate.MaxUnavailable":        {"maxSurge", ""},
	"NodeUpdate.MaxUnavailablePercent": {"maxSurge", "use maxSurge, such as 33%"},
	"NodeUpdate.Force":                 {"", "remove it: AKS waits for pods that cannot be evicted, and gives up"},

	"Identity.RoleARN":    {"roles", "use roles: the identity is core's, and gets the roles that the list names"},
	"Identity.PolicyARNs": {"roles", "use roles, each with a scope"},
	"Identity.Statements": {"roles", "use roles, each with a scope"},
	"Identity.Roles":      {"statements", "use policyArns or statements"},

	"Value.FromSSM":                   {"fromStack", "use fromStack with output, or a secret of Key Vault by the platform tree"},
	"Egress.Images":                   {"", "remove it: AKS takes no mirrors for nodes; name the mirror in the images of the platform tree, and in a manifest of the engine that gitops.distribution names"},
	"ArgoCDOptions.Accounts":          {"", "remove it: a hub in Azure has no IAM role; spokes in AWS use credentials: service-account"},
	"ExternalHub.RoleARN":             {"", "remove it: the hub reaches the cluster by the token of a service account"},
	"DNSOptions.AssumeRoleARN":        {"", "remove it: zones may be in another subscription, and core gives the role on them"},
	"DNSOptions.AssumeRoleExternalID": {"", "remove it: zones may be in another subscription, and core gives the role on them"},

	"SecretsOptions.Prefixes":          {"", "remove it: External Secrets reads all of the vault, so give each cluster its own"},
	"SecretsOptions.ParameterPrefixes": {"", "remove it: Azure has no Parameter Store"},
	"SecretsOptions.KMSKeyARNs":        {"", "remove it: Key Vault has its own keys"},
	"SecretsOptions.Vault":             {"prefixes", "use prefixes of names in Secrets Manager"},
	"SecretsOptions.AllowedCIDRs":      {"", "remove it: IAM alone opens Secrets Manager"},
	"SecretsOptions.RecoverVault":      {"", "remove it: secrets in Secrets Manager stay when the cluster goes"},

	"LokiOptions.KMSKeyARN": {"", "remove it: Azure encrypts a storage account by keys of its own"},
	"LokiOptions.Container": {"", "remove it: core makes a bucket"},

	"KEDAOptions.Queues":         {"", "remove it: the scalers of Azure take the identity that a TriggerAuthentication names"},
	"KEDAOptions.CloudWatch":     {"", "remove it: CloudWatch is AWS's"},
	"IngressOptions.Certificate": {"", "remove it: Ingresses name certificates that cert-manager makes"},
}
