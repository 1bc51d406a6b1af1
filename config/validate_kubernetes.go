package config

import (
	"fmt"
	"net/netip"
	"reflect"
	"regexp"
	"slices"

	"tombolo/config/awsfacts"
	"tombolo/config/form"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// maxAllowedCIDRs is the quota of EKS for the blocks of a public endpoint.
const maxAllowedCIDRs = 40

func (v *validator) kubernetes() {
	k := v.c.Kubernetes
	if k.Existing != nil {
		v.existingCluster(k)
		return
	}
	v.requiredKeys("kubernetes", reflect.TypeFor[Kubernetes](), "version")
	if k.Auto() {
		v.autoMode(k)
	} else {
		v.requiredKeys("kubernetes", reflect.TypeFor[Kubernetes](), "nodeGroups")
	}
	v.kubernetesVersion(k)
	v.nodeVersion(k)
	v.serviceBlock(k.ServiceCIDR)
	v.endpointAccess(k.Endpoint)
	unique(v, "kubernetes.logs", "", k.Logs, itself, "give each log type once")
	v.encryption(k.SecretsEncryption)
	v.ownKey("kubernetes.logKeyArn", k.LogKeyARN, "use a key of the cluster's region, or leave it out for a key of CloudWatch's")
	v.entries(k)
	v.identityProvider(k.IdentityProvider)
	v.nodeGroups(k.NodeGroups)
	v.managedAddons(k.Addons)
}

// oldestNodes is how many minor versions a kubelet may be behind the API server:
// https://kubernetes.io/releases/version-skew-policy/#kubelet
const oldestNodes = 3

func (v *validator) nodeVersion(k Kubernetes) {
	const at, version = strict.Path("kubernetes.nodeVersion"), strict.Path("kubernetes.version")
	if k.NodeVersion == "" || !v.doc.Sound(at, version) {
		return
	}
	switch behind := minorOf(k.Version) - minorOf(k.NodeVersion); {
	case behind < 0:
		v.problem(at, "remove it, or raise kubernetes.version", "is newer than the control plane's %s", k.Version)
	case behind > oldestNodes:
		v.problem(at, "use "+MovedMinors(k.Version, -oldestNodes)+" or newer",
			"is more than %d minor versions behind the control plane's %s", oldestNodes, k.Version)
	}
}

// The sizes of a block of Services. Source: serviceIpv4Cidr in
// https://docs.aws.amazon.com/eks/latest/APIReference/API_KubernetesNetworkConfigRequest.html
const (
	largestServices  = 12
	smallestServices = 24
)

// serviceBlocks are those that a block of Services is in, by the same source.
var serviceBlocks = []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"}

func (v *validator) serviceBlock(cidr string) {
	const at = strict.Path("kubernetes.serviceCidr")
	if cidr == "" || !v.doc.Sound(at) {
		return
	}
	block, err := netip.ParsePrefix(cidr)
	vpc, noVPC := netip.ParsePrefix(v.c.Network.CIDR)
	switch {
	case err != nil:
		v.problem(at, "write four numbers up to 255 and a prefix length, such as 172.20.0.0/16", "%s is not an IPv4 block", wording.Quote(cidr))
	case block != block.Masked():
		v.problem(at, "use "+block.Masked().String(), "%s has bits set outside of its prefix", wording.Quote(cidr))
	case !slices.ContainsFunc(serviceBlocks, func(s string) bool { return netip.MustParsePrefix(s).Contains(block.Addr()) }):
		v.problem(at, "use a block inside "+wording.Or(serviceBlocks), "%s is not one that EKS takes", wording.Quote(cidr))
	case block.Bits() < largestServices || block.Bits() > smallestServices:
		v.problem(at, fmt.Sprintf("use one from /%d to /%d", largestServices, smallestServices), "EKS takes no /%d", block.Bits())
	case noVPC == nil && block.Overlaps(vpc) && v.doc.Sound("network.cidr"):
		v.problem(at, "use another block, such as "+ServiceCIDR(v.c.Network.CIDR), "%s overlaps the VPC's %s", cidr, vpc)
	}
}

func (v *validator) endpointAccess(e Endpoint) {
	v.publicEndpoint(e, maxAllowedCIDRs)
	v.privateAccess(e)
}

// publicEndpoint checks who reaches the endpoint from the internet: at most that many blocks.
func (v *validator) publicEndpoint(e Endpoint, most int) {
	at := strict.Path("kubernetes.endpoint")
	blocks := at.Field("allowedCidrs")
	switch {
	case !e.Public && !*e.Private && v.doc.Sound(at.Field("private"), at.Field("public")):
		v.problem(at, "set private or public to true", "makes the Kubernetes API unreachable: private and public are both false")
	case !e.Public && v.doc.Has(blocks) && v.doc.Sound(at.Field("public")):
		v.problem(blocks, "set public: true, or remove it", "has no effect: the endpoint is not public")
	case e.Public && len(e.AllowedCIDRs) == 0 && v.doc.Sound(blocks):
		v.problem(blocks, "add allowedCidrs with the blocks that may reach the API, such as your office's",
			"is required when public is true")
	}
	if n := len(e.AllowedCIDRs); n > most {
		v.problem(blocks, "join neighbouring blocks", "has %d blocks; %s allows %d", n, v.c.service(), most)
	}
	unique(v, blocks, "", e.AllowedCIDRs, itself, "give each block once")
	open := false
	for i, cidr := range e.AllowedCIDRs {
		open = v.allowedBlock(blocks.Index(i), cidr, e.OpenToTheWorld) || open
	}
	if e.OpenToTheWorld && !open && v.doc.Sound(blocks) {
		v.problem(at.Field("openToTheWorld"), "remove it", "confirms 0.0.0.0/0, which is not in allowedCidrs")
	}
}

// allowedBlock checks one block, and says whether it is the whole internet.
func (v *validator) allowedBlock(at strict.Path, cidr string, confirmed bool) bool {
	block, err := netip.ParsePrefix(cidr)
	if !v.doc.Sound(at) {
		return false
	}
	open := err == nil && block.Bits() == 0
	switch {
	case err != nil:
		v.problem(at, "write it like 203.0.113.0/24", "%s is not an IP block", wording.Quote(cidr))
	case open && !confirmed:
		v.problem(at, "list the blocks that need access, or confirm with openToTheWorld: true",
			"%s opens the Kubernetes API to the whole internet", wording.Quote(cidr))
	case block != block.Masked():
		v.problem(at, "use "+block.Masked().String(), "%s has bits set outside of its prefix", wording.Quote(cidr))
	case block.Addr().Is6():
		v.problem(at, "use IPv4 blocks", "%s is IPv6, and the endpoint of an IPv4 cluster has none", wording.Quote(cidr))
	case private(block):
		v.problem(at, "use the public address of the network; "+v.inside()+", use the private endpoint",
			"%s is private, and %s refuses private blocks here", wording.Quote(cidr), v.c.service())
	}
	return open
}

// service is the cloud's managed Kubernetes, as people call it.
func (c *Cluster) service() string {
	if c.onAzure() {
		return "AKS"
	}
	return "EKS"
}

// inside says where the cluster's network is.
func (v *validator) inside() string {
	if v.c.onAzure() {
		return "inside the network"
	}
	return "inside the VPC"
}

func (v *validator) encryption(s SecretsEncryption) {
	at := strict.Path("kubernetes.secretsEncryption.keyArn")
	if s.KeyARN == "" || !v.doc.Sound(at) {
		return
	}
	if !*s.Enabled {
		v.problem(at, "remove it, or set enabled: true", "has no effect: encryption is not enabled")
	}
	v.ownKey(at, s.KeyARN, "use a key of the cluster's region, or leave it out for a key that core makes")
}

// ownKey refuses a KMS key of another region.
func (v *validator) ownKey(at strict.Path, arn, remedy string) {
	m := form.KMSKey.FindStringSubmatch(arn)
	if m == nil || !v.doc.Sound("cloud.region") {
		return
	}
	if m[2] != v.c.Cloud.Region {
		v.problem(at, remedy, "the key is in %s, and the cluster in %s", m[2], v.c.Cloud.Region)
		return
	}
	v.partition(at, m[1])
}

// partition checks that an ARN is of the region's partition.
func (v *validator) partition(at strict.Path, partition string) {
	if want := awsfacts.Partition(v.c.Cloud.Region); v.doc.Sound("cloud.region") && partition != want {
		v.problem(at, fmt.Sprintf("start it with arn:%s:", want), "is in the partition %s, and the cluster in %s", partition, want)
	}
}

func (v *validator) principals(list strict.Path, what string, principals []Principal) {
	unique(v, list, "name", principals, func(a Principal) string { return a.Name }, "give each "+what+" a name of its own")
	unique(v, list, "principalArn", principals, func(a Principal) string { return a.PrincipalARN },
		"a principal has one access entry: give it once")
	for i, a := range principals {
		v.inAccount(list.Index(i).Field("principalArn"), form.PrincipalARN, a.PrincipalARN)
	}
}

// bothKinds refuses a previewer that is an admin: EKS has one access entry for a
// principal, and the admission policy would hold the admin to dry runs.
func (v *validator) bothKinds(k Kubernetes) {
	for i, p := range k.Previewers {
		if slices.ContainsFunc(k.Admins, func(a Principal) bool { return a.PrincipalARN != "" && a.PrincipalARN == p.PrincipalARN }) {
			v.problem(strict.Path("kubernetes.previewers").Index(i).Field("principalArn"), "take it out of one of the two",
				"is among kubernetes.admins too")
		}
	}
}

// inAccount checks partition and account of an IAM ARN, which form takes apart, and says
// whether it has that form. What is AWS's own is of every account.
func (v *validator) inAccount(at strict.Path, form *regexp.Regexp, arn string) bool {
	m := form.FindStringSubmatch(arn)
	if m == nil {
		return false
	}
	v.partition(at, m[1])
	if m[2] != "aws" {
		v.sameAccount(at, m[2])
	}
	return true
}

// sameAccount checks the account in an ARN.
func (v *validator) sameAccount(at strict.Path, account string) {
	if v.doc.Sound("cloud.account") && account != v.c.Cloud.Account {
		v.problem(at, "use one of the cluster's account",
			"is in the account %s, and the cluster in %s", account, v.c.Cloud.Account)
	}
}

func (v *validator) managedAddons(addons []ManagedAddon) {
	list := strict.Path("kubernetes.addons")
	unique(v, list, "name", addons, func(a ManagedAddon) string { return a.Name }, "give each addon once")
	for i, a := range addons {
		v.misspelt(list.Index(i).Field("name"), "an EKS addon that Tombolo knows", a.Name, awsfacts.Addons)
		if a.Identity != nil {
			v.addonIdentity(list.Index(i), a)
		}
	}
}
