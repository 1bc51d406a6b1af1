package azure

import (
	"encoding/base64"
	"slices"
	"strings"

	"tombolo/components/aks"
	"tombolo/config"
	"tombolo/internal/kubeversion"
	"tombolo/internal/names"
	"tombolo/stacks/core/live"
)

// The resources that tell what a cluster was made from.
const (
	groupToken      = "azure-native:resources:ResourceGroup"
	clusterToken    = "azure-native:containerservice/v20240901:ManagedCluster"
	poolToken       = "azure-native:containerservice/v20240901:AgentPool"
	vnetToken       = "azure-native:network/v20190601:VirtualNetwork"
	addressToken    = "azure-native:network/v20190601:PublicIPAddress"
	assignmentToken = "azure-native:authorization/v20220401:RoleAssignment"
	ownToken        = "tombolo:aks:Cluster"
	existingToken   = "tombolo:aks:Existing"
	subnetToken     = "tombolo:azurenetwork:Existing"
)

// LiveKeys are the outputs of resources that Live and Build look at.
func LiveKeys() []string {
	return []string{
		"aadProfile", "addressSpace", "agentPoolProfiles", "apiServerAccessProfile", "autoUpgradeProfile", "availabilityZones", "cidr", "fqdn",
		"httpProxyConfig", "ipAddress", "kubernetesVersion", "location", "maxCount", "maxPods", "minCount", "mode", "name", "networkProfile", "nodeLabels",
		"nodeResourceGroup", "nodeTaints", "orchestratorVersion", "osDiskSizeGB", "osSKU", "privateFQDN", "resourceId", "scaleSetPriority", "scope", "securityProfile",
		"sku", "subnetId",
		"supportPlan", "tags", "upgradeSettings", "vmSize",
	}
}

// Live is what the resources of a core stack tell of the cluster file that they were made
// from, for a comparison with a file; nil when the stack has no control plane. It is the
// inverse of what this package makes of a file: a key whose resources are not there, or say
// nothing certain, is not known.
func Live(file *config.Cluster, all live.Resources) *config.Live {
	if adopted, there := all.First(existingToken); there {
		return liveExisting(file, all, adopted)
	}
	cluster, there := all.First(clusterToken)
	if !there {
		return nil
	}
	own, _ := all.First(ownToken)
	r := newReader(file, all, cluster.Outputs.Text("name"))
	r.cluster = cluster.Outputs
	r.place(own.Outputs.Text("resourceId"))
	for _, read := range []func(){r.tags, r.network, r.controlPlane, r.endpoint, r.upgrades, r.admins, r.nodePools, r.egress, r.encryption} {
		read()
	}
	return r.out
}

// liveExisting is Live of a cluster that others own.
func liveExisting(file *config.Cluster, all live.Resources, adopted live.Resource) *config.Live {
	r := newReader(file, all, adopted.Name)
	id := adopted.Outputs.Text("resourceId")
	r.out.Cluster.Kubernetes.Existing = &config.ExistingCluster{Name: adopted.Outputs.Text("name"), ResourceGroup: groupOf(id)}
	if id == "" { // the first up did not come so far
		return r.out
	}
	r.out.Cluster.Cloud.Account = subscriptionOf(id)
	r.knows("Cloud.Account", "ExistingCluster.Name", "ExistingCluster.ResourceGroup")
	return r.out
}

// reader puts together what the resources tell.
type reader struct {
	file    *config.Cluster
	had     made
	cluster live.Props
	out     *config.Live
}

func newReader(file *config.Cluster, all live.Resources, name string) *reader {
	out := &config.Live{Cluster: &config.Cluster{Name: name, Cloud: config.Cloud{Provider: config.Azure}}}
	r := &reader{file: file, had: made{all}, out: out}
	r.knows("Cluster.Name", "Cloud.Provider")
	return r
}

func (r *reader) knows(fields ...string) { r.out.Known = append(r.out.Known, fields...) }

// subscriptionOf and groupOf are the parts of a resource's id in Azure; "" without it.
func subscriptionOf(id string) string { return partOf(id, 2) }
func groupOf(id string) string        { return partOf(id, 4) }

func partOf(id string, i int) string {
	if parts := strings.Split(id, "/"); len(parts) > i {
		return parts[i]
	}
	return ""
}

// place reads where the cluster is, from the id that its component has once it is there.
func (r *reader) place(id string) {
	cloud := &r.out.Cluster.Cloud
	cloud.Region, cloud.Tenant = r.cluster.Text("location"), r.cluster.In("aadProfile").Text("tenantID")
	r.knows("Cloud.Region")
	if cloud.Tenant != "" {
		r.knows("Cloud.Tenant")
	}
	if id != "" {
		cloud.Account, cloud.ResourceGroup = subscriptionOf(id), groupOf(id)
		r.knows("Cloud.Account", "Cloud.ResourceGroup")
	}
}

// tags are the cluster's, without those that Tombolo adds.
func (r *reader) tags() {
	tags := r.cluster.In("tags").Map()
	r.out.Cluster.Environment = tags[names.EnvironmentTag]
	for _, own := range []string{names.ClusterTag, names.EnvironmentTag, names.OwnerTag, names.BackendTag} {
		delete(tags, own)
	}
	r.out.Cluster.Tags = tags
	r.knows("Cluster.Environment", "Cluster.Tags")
}

// inverse is the key of a value in one of the maps by which files are translated.
func inverse[K, V comparable](of map[K]V, value V) K {
	for k, v := range of {
		if v == value {
			return k
		}
	}
	var none K
	return none
}

func (r *reader) network() {
	n := &r.out.Cluster.Network
	n.Outbound = inverse(outbounds, aks.Outbound(r.cluster.In("networkProfile").Text("outboundType")))
	r.knows("Network.Existing", "Network.Outbound")
	if existing, there := r.had.First(subnetToken); there {
		granted := r.had.Named(assignmentToken, r.out.Cluster.Name+"-control-plane-subnet").Type != ""
		n.Existing = &config.ExistingNetwork{NodeSubnet: existing.Outputs.Text("subnetId"), GrantAccess: granted}
		r.knows("ExistingNetwork.NodeSubnet", "ExistingNetwork.GrantAccess")
		return
	}
	vnet, _ := r.had.First(vnetToken)
	if blocks := vnet.Outputs.In("addressSpace").Texts("addressPrefixes"); len(blocks) > 0 {
		n.CIDR = blocks[0]
		r.knows("Network.CIDR")
	}
}

// followed is a live version, or the file's where AKS has gone on from it by itself, as the file
// lets it.
func (r *reader) followed(version, file string) string {
	if followsAKS(r.file) && newer(file, version) != file {
		return file
	}
	return version
}

func (r *reader) controlPlane() {
	k, network := &r.out.Cluster.Kubernetes, r.cluster.In("networkProfile")
	k.Version = r.followed(kubeversion.Minor(r.cluster.Text("kubernetesVersion")), r.file.Kubernetes.Version)
	k.PodCIDR, k.ServiceCIDR = network.Text("podCidr"), network.Text("serviceCidr")
	k.NodeResourceGroup = r.cluster.Text("nodeResourceGroup")
	k.Tier = inverse(tiers, aks.Tier(r.cluster.In("sku").Text("tier")))
	k.Support = config.StandardSupport
	if r.cluster.Text("supportPlan") == aks.LongTermSupportPlan {
		k.Support = config.ExtendedSupport
	}
	if k.Version != "" {
		r.knows("Kubernetes.Version")
	}
	r.knows("Kubernetes.PodCIDR", "Kubernetes.ServiceCIDR", "Kubernetes.NodeResourceGroup", "Kubernetes.Tier", "Kubernetes.Support")
}

func (r *reader) upgrades() {
	profile, u := r.cluster.In("autoUpgradeProfile"), &r.out.Cluster.Kubernetes.Upgrades
	u.Kubernetes = inverse(channels, aks.UpgradeChannel(profile.Text("upgradeChannel")))
	u.NodeImages = inverse(images, aks.NodeImageChannel(profile.Text("nodeOSUpgradeChannel")))
	r.knows("Upgrades.Kubernetes", "Upgrades.NodeImages")
}

// endpoint reads who reaches the API. The address of the cluster's own nodes is none that the
// file says, and no blocks are the whole world.
func (r *reader) endpoint() {
	access, e, file := r.cluster.In("apiServerAccessProfile"), &r.out.Cluster.Kubernetes.Endpoint, r.file.Kubernetes.Endpoint
	private := access.Truth("enablePrivateCluster")
	e.Private, e.Public = &private, !private
	r.knows("Endpoint.Private", "Endpoint.Public")
	if private {
		e.PrivateDNSZone = access.Text("privateDNSZone")
		if !file.Public {
			r.knows("Endpoint.PrivateDNSZone")
		}
		return
	}
	if !file.Public {
		return
	}
	address, _ := r.had.First(addressToken)
	own := address.Outputs.Text("ipAddress") + "/32"
	e.AllowedCIDRs = slices.DeleteFunc(access.Texts("authorizedIPRanges"), func(block string) bool {
		return block == own && !slices.Contains(file.AllowedCIDRs, own)
	})
	if len(e.AllowedCIDRs) == 0 {
		e.AllowedCIDRs = []string{everywhere}
		if slices.Contains(file.AllowedCIDRs, everywhere) {
			e.AllowedCIDRs = file.AllowedCIDRs
		}
	}
	r.knows("Endpoint.AllowedCIDRs")
}

// admins are groups, whose names are the file's alone.
func (r *reader) admins() {
	for _, group := range r.cluster.In("aadProfile").Texts("adminGroupObjectIDs") {
		admin := config.Principal{Name: group, Group: group}
		for _, known := range r.file.Kubernetes.Admins {
			if strings.EqualFold(known.Group, group) {
				admin = known
			}
		}
		r.out.Cluster.Kubernetes.Admins = append(r.out.Cluster.Kubernetes.Admins, admin)
	}
	r.knows("Kubernetes.Admins", "Principal.Group")
}

// encryption is what AKS says of the key that it encrypts Secrets by.
func encryption(cluster live.Props) live.Props {
	return cluster.In("securityProfile").In("azureKeyVaultKms")
}

// encryption reads the key of Secrets, which AKS does not tell once it is turned off, and the vault
// that the control plane has a role on.
func (r *reader) encryption() {
	s, has := &r.out.Cluster.Kubernetes.SecretsEncryption, encryption(r.cluster)
	s.Vault = r.had.Named(assignmentToken, r.out.Cluster.Name+"-control-plane-secrets").Outputs.Text("scope")
	r.knows("SecretsEncryption.Enabled", "SecretsEncryption.Vault")
	on := has.Truth("enabled")
	switch {
	case on:
		s.Enabled, s.KeyID = &on, has.Text("keyId")
	case s.Vault != "" && r.file.Kubernetes.SecretsEncryption.KeyID != "":
		s.Enabled, s.KeyID = &on, r.file.Kubernetes.SecretsEncryption.KeyID
	}
	r.knows("SecretsEncryption.KeyID")
}

// egress reads the proxy of the nodes, whose URL core ends with a slash.
func (r *reader) egress() {
	e, proxy := &r.out.Cluster.Egress, r.cluster.In("httpProxyConfig")
	e.Proxy = config.Proxy{URL: strings.TrimSuffix(proxy.Text("httpProxy"), "/"), NoProxy: r.fileNoProxy(proxy.Texts("noProxy"))}
	if file := r.file.Egress.Proxy.URL; strings.TrimSuffix(file, "/") == e.Proxy.URL {
		e.Proxy.URL = file
	}
	r.knows("Proxy.URL", "Proxy.NoProxy", "Egress.CertificateAuthority")
	authority, err := base64.StdEncoding.DecodeString(proxy.Text("trustedCa"))
	if err != nil {
		return // not Tombolo's
	}
	if e.CertificateAuthority = string(authority); e.CertificateAuthority == r.file.Egress.Certificates() {
		e.CertificateAuthority = r.file.Egress.CertificateAuthority
	}
}

// fileNoProxy is what of AKS's list the file says. AKS gives back what it adds, in any order: the
// names of the API, konnectivity, and the blocks of the network, whoever owns it. Sources:
// https://github.com/VijayRod/demo/blob/main/container-storage/logs/http-proxy-squid_aks.md and
// https://github.com/hashicorp/terraform-provider-azurerm/issues/24188
func (r *reader) fileNoProxy(all []string) []string {
	added := []string{"konnectivity", r.cluster.Text("fqdn"), r.cluster.Text("privateFQDN")}
	if existing, there := r.had.First(subnetToken); there {
		added = append(added, strings.Split(existing.Outputs.Text("cidr"), ",")...)
	}
	return slices.DeleteFunc(r.out.Cluster.FileNoProxy(all), func(s string) bool {
		return slices.Contains(added, s) && !slices.Contains(r.file.Egress.Proxy.NoProxy, s)
	})
}
