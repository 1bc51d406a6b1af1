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

// CheckKubernetes checks the control plane and the nodes of a cluster in AWS.
func CheckKubernetes(v *File, k Kubernetes, around Around) {
	if k.Existing != nil {
		checkExistingCluster(v, k)
		return
	}
	v.Require("kubernetes", reflect.TypeFor[Kubernetes](), "version")
	if k.Auto() {
		checkAutoMode(v, k)
	} else {
		v.Require("kubernetes", reflect.TypeFor[Kubernetes](), "nodeGroups")
	}
	checkKubernetesVersion(v, k)
	checkNodeVersion(v, k)
	checkServiceBlock(v, k.ServiceCIDR, around.Network.CIDR)
	checkEndpointAccess(v, k.Endpoint)
	Unique(v, "kubernetes.logs", "", k.Logs, Itself, "give each log type once")
	checkEncryption(v, k.SecretsEncryption)
	v.OwnKey("kubernetes.logKeyArn", k.LogKeyARN, "use a key of the cluster's region, or leave it out for a key of CloudWatch's")
	checkEntries(v, k)
	checkIdentityProvider(v, k.IdentityProvider)
	CheckNodeGroups(v, k.NodeGroups, around)
	checkManagedAddons(v, k.Addons)
}

// oldestNodes is how many minor versions a kubelet may be behind the API server:
// https://kubernetes.io/releases/version-skew-policy/#kubelet
const oldestNodes = 3

func checkNodeVersion(v *File, k Kubernetes) {
	const at, version = strict.Path("kubernetes.nodeVersion"), strict.Path("kubernetes.version")
	if k.NodeVersion == "" || !v.Doc.Sound(at, version) {
		return
	}
	switch behind := minorOf(k.Version) - minorOf(k.NodeVersion); {
	case behind < 0:
		v.Problem(at, "remove it, or raise kubernetes.version", "is newer than the control plane's %s", k.Version)
	case behind > oldestNodes:
		v.Problem(at, "use "+MovedMinors(k.Version, -oldestNodes)+" or newer",
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

func checkServiceBlock(v *File, cidr, network string) {
	const at = strict.Path("kubernetes.serviceCidr")
	if cidr == "" || !v.Doc.Sound(at) {
		return
	}
	block, err := netip.ParsePrefix(cidr)
	vpc, noVPC := netip.ParsePrefix(network)
	switch {
	case err != nil:
		v.Problem(at, "write four numbers up to 255 and a prefix length, such as 172.20.0.0/16", "%s is not an IPv4 block", wording.Quote(cidr))
	case block != block.Masked():
		v.Problem(at, "use "+block.Masked().String(), "%s has bits set outside of its prefix", wording.Quote(cidr))
	case !slices.ContainsFunc(serviceBlocks, func(s string) bool { return netip.MustParsePrefix(s).Contains(block.Addr()) }):
		v.Problem(at, "use a block inside "+wording.Or(serviceBlocks), "%s is not one that EKS takes", wording.Quote(cidr))
	case block.Bits() < largestServices || block.Bits() > smallestServices:
		v.Problem(at, fmt.Sprintf("use one from /%d to /%d", largestServices, smallestServices), "EKS takes no /%d", block.Bits())
	case noVPC == nil && block.Overlaps(vpc) && v.Doc.Sound("network.cidr"):
		v.Problem(at, "use another block, such as "+ServiceCIDR(network), "%s overlaps the VPC's %s", cidr, vpc)
	}
}

func checkEndpointAccess(v *File, e Endpoint) {
	checkPublicEndpoint(v, e, maxAllowedCIDRs)
	checkPrivateAccess(v, e)
}

// checkPublicEndpoint checks who reaches the endpoint from the internet: at most that many blocks.
func checkPublicEndpoint(v *File, e Endpoint, most int) {
	at := strict.Path("kubernetes.endpoint")
	blocks := at.Field("allowedCidrs")
	switch {
	case !e.Public && !*e.Private && v.Doc.Sound(at.Field("private"), at.Field("public")):
		v.Problem(at, "set private or public to true", "makes the Kubernetes API unreachable: private and public are both false")
	case !e.Public && v.Doc.Has(blocks) && v.Doc.Sound(at.Field("public")):
		v.Problem(blocks, "set public: true, or remove it", "has no effect: the endpoint is not public")
	case e.Public && len(e.AllowedCIDRs) == 0 && v.Doc.Sound(blocks):
		v.Problem(blocks, "add allowedCidrs with the blocks that may reach the API, such as your office's",
			"is required when public is true")
	}
	if n := len(e.AllowedCIDRs); n > most {
		v.Problem(blocks, "join neighbouring blocks", "has %d blocks; %s allows %d", n, v.Service(), most)
	}
	Unique(v, blocks, "", e.AllowedCIDRs, Itself, "give each block once")
	open := false
	for i, cidr := range e.AllowedCIDRs {
		open = checkAllowedBlock(v, blocks.Index(i), cidr, e.OpenToTheWorld) || open
	}
	if e.OpenToTheWorld && !open && v.Doc.Sound(blocks) {
		v.Problem(at.Field("openToTheWorld"), "remove it", "confirms 0.0.0.0/0, which is not in allowedCidrs")
	}
}

// checkAllowedBlock checks one block, and says whether it is the whole internet.
func checkAllowedBlock(v *File, at strict.Path, cidr string, confirmed bool) bool {
	block, err := netip.ParsePrefix(cidr)
	if !v.Doc.Sound(at) {
		return false
	}
	open := err == nil && block.Bits() == 0
	switch {
	case err != nil:
		v.Problem(at, "write it like 203.0.113.0/24", "%s is not an IP block", wording.Quote(cidr))
	case open && !confirmed:
		v.Problem(at, "list the blocks that need access, or confirm with openToTheWorld: true",
			"%s opens the Kubernetes API to the whole internet", wording.Quote(cidr))
	case block != block.Masked():
		v.Problem(at, "use "+block.Masked().String(), "%s has bits set outside of its prefix", wording.Quote(cidr))
	case block.Addr().Is6():
		v.Problem(at, "use IPv4 blocks", "%s is IPv6, and the endpoint of an IPv4 cluster has none", wording.Quote(cidr))
	case private(block):
		v.Problem(at, "use the public address of the network; "+v.Inside()+", use the private endpoint",
			"%s is private, and %s refuses private blocks here", wording.Quote(cidr), v.Service())
	}
	return open
}

// Inside says where the cluster's network is.
func (v *File) Inside() string {
	if v.OnAzure() {
		return "inside the network"
	}
	return "inside the VPC"
}

func checkEncryption(v *File, s SecretsEncryption) {
	at := strict.Path("kubernetes.secretsEncryption.keyArn")
	if s.KeyARN == "" || !v.Doc.Sound(at) {
		return
	}
	if !*s.Enabled {
		v.Problem(at, "remove it, or set enabled: true", "has no effect: encryption is not enabled")
	}
	v.OwnKey(at, s.KeyARN, "use a key of the cluster's region, or leave it out for a key that core makes")
}

// OwnKey refuses a KMS key of another region.
func (v *File) OwnKey(at strict.Path, arn, remedy string) {
	m := form.KMSKey.FindStringSubmatch(arn)
	if m == nil || !v.Doc.Sound("cloud.region") {
		return
	}
	if m[2] != v.Region {
		v.Problem(at, remedy, "the key is in %s, and the cluster in %s", m[2], v.Region)
		return
	}
	v.Partition(at, m[1])
}

// Partition checks that an ARN is of the region's partition.
func (v *File) Partition(at strict.Path, partition string) {
	if want := awsfacts.Partition(v.Region); v.Doc.Sound("cloud.region") && partition != want {
		v.Problem(at, fmt.Sprintf("start it with arn:%s:", want), "is in the partition %s, and the cluster in %s", partition, want)
	}
}

func checkPrincipals(v *File, list strict.Path, what string, principals []Principal) {
	Unique(v, list, "name", principals, func(a Principal) string { return a.Name }, "give each "+what+" a name of its own")
	Unique(v, list, "principalArn", principals, func(a Principal) string { return a.PrincipalARN },
		"a principal has one access entry: give it once")
	for i, a := range principals {
		v.InAccount(list.Index(i).Field("principalArn"), form.PrincipalARN, a.PrincipalARN)
	}
}

// checkBothKinds refuses a previewer that is an admin: EKS has one access entry for a
// principal, and the admission policy would hold the admin to dry runs.
func checkBothKinds(v *File, k Kubernetes) {
	for i, p := range k.Previewers {
		if slices.ContainsFunc(k.Admins, func(a Principal) bool { return a.PrincipalARN != "" && a.PrincipalARN == p.PrincipalARN }) {
			v.Problem(strict.Path("kubernetes.previewers").Index(i).Field("principalArn"), "take it out of one of the two",
				"is among kubernetes.admins too")
		}
	}
}

// InAccount checks partition and account of an IAM ARN, which form takes apart, and says
// whether it has that form. What is AWS's own is of every account.
func (v *File) InAccount(at strict.Path, form *regexp.Regexp, arn string) bool {
	m := form.FindStringSubmatch(arn)
	if m == nil {
		return false
	}
	v.Partition(at, m[1])
	if m[2] != "aws" {
		v.SameAccount(at, m[2])
	}
	return true
}

// SameAccount checks the account in an ARN.
func (v *File) SameAccount(at strict.Path, account string) {
	if v.Doc.Sound("cloud.account") && account != v.Account {
		v.Problem(at, "use one of the cluster's account",
			"is in the account %s, and the cluster in %s", account, v.Account)
	}
}

func checkManagedAddons(v *File, addons []ManagedAddon) {
	list := strict.Path("kubernetes.addons")
	Unique(v, list, "name", addons, func(a ManagedAddon) string { return a.Name }, "give each addon once")
	for i, a := range addons {
		v.Misspelt(list.Index(i).Field("name"), "an EKS addon that Tombolo knows", a.Name, awsfacts.Addons)
		if a.Identity != nil {
			checkAddonIdentity(v, list.Index(i), a)
		}
	}
}
