package kubernetes

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"

	"tombolo/config/access"
	"tombolo/config/awsfacts"
	"tombolo/config/check"
	"tombolo/config/network"
	"tombolo/config/nodes"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// Check checks the control plane and the nodes of a cluster in AWS.
func Check(v *check.File, k Kubernetes, around nodes.Around) {
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
	check.Unique(v, "kubernetes.logs", "", k.Logs, check.Itself, "give each log type once")
	checkEncryption(v, k.SecretsEncryption)
	access.Check(v, k.rights())
	access.CheckProvider(v, k.IdentityProvider)
	nodes.Check(v, k.NodeGroups, around)
	checkManagedAddons(v, k.Addons)
}

// oldestNodes is how many minor versions a kubelet may be behind the API server:
// https://kubernetes.io/releases/version-skew-policy/#kubelet
const oldestNodes = 3

func checkNodeVersion(v *check.File, k Kubernetes) {
	const at, version = strict.Path("kubernetes.nodeVersion"), strict.Path("kubernetes.version")
	if k.NodeVersion == "" || !v.Doc.Sound(at, version) {
		return
	}
	switch behind := Minor(k.Version) - Minor(k.NodeVersion); {
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

func checkServiceBlock(v *check.File, cidr, netBlock string) {
	const at = strict.Path("kubernetes.serviceCidr")
	if cidr == "" || !v.Doc.Sound(at) {
		return
	}
	block, err := netip.ParsePrefix(cidr)
	vpc, noVPC := netip.ParsePrefix(netBlock)
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
		v.Problem(at, "use another block, such as "+network.ServiceCIDR(netBlock), "%s overlaps the VPC's %s", cidr, vpc)
	}
}

func checkEncryption(v *check.File, s SecretsEncryption) {
	at := strict.Path("kubernetes.secretsEncryption.keyArn")
	if s.KeyARN == "" || !v.Doc.Sound(at) {
		return
	}
	if !*s.Enabled {
		v.Problem(at, "remove it, or set enabled: true", "has no effect: encryption is not enabled")
	}
}

// inAutoMode are the managed addons whose work EKS Auto Mode does itself: "Considerations for
// Amazon EKS Auto Mode" in https://docs.aws.amazon.com/eks/latest/userguide/eks-add-ons.html
var inAutoMode = []string{"vpc-cni", "kube-proxy", "coredns", awsfacts.PodIdentityAgent, "aws-ebs-csi-driver"}

// checkAutoMode refuses what says how nodes are that EKS Auto Mode makes, and what it does itself.
func checkAutoMode(v *check.File, k Kubernetes) {
	for key, reason := range map[strict.Path]string{
		"kubernetes.nodeGroups":  "EKS Auto Mode makes the nodes",
		"kubernetes.nodeVersion": "the nodes of EKS Auto Mode follow the control plane",
		// They are in a NodeClass: https://docs.aws.amazon.com/eks/latest/userguide/create-node-class.html
		"egress":                    "the nodes of EKS Auto Mode take a proxy and authorities from a NodeClass of the platform tree",
		"addons.karpenter":          "EKS Auto Mode makes the nodes, with definitions of Karpenter's of its own",
		"addons.aws-ebs-csi-driver": "EKS Auto Mode has a driver of its own, whose StorageClasses have the provisioner ebs.csi.eks.amazonaws.com",
	} {
		if v.Doc.Has(key) {
			v.KeyProblem(key, "remove it, or remove compute: auto", "does not go with compute: auto, at %s: %s", v.Line("kubernetes.compute"), reason)
		}
	}
	for i, a := range k.Addons {
		if slices.Contains(inAutoMode, a.Name) {
			v.Problem(strict.Path("kubernetes.addons").Index(i).Field("name"), "remove the addon, or remove compute: auto",
				"does not go with compute: auto, at %s: EKS Auto Mode does the work of %s itself", v.Line("kubernetes.compute"), a.Name)
		}
	}
}

// besideExisting are the keys of kubernetes that go with existing: they add to the cluster,
// and change nothing that is there.
var besideExisting = []string{"existing", "admins", "previewers", "access"}

// checkExistingCluster checks the keys of a cluster that others own, and refuses those that
// would make or change something of it.
func checkExistingCluster(v *check.File, k Kubernetes) {
	for _, f := range v.Format.Fields(reflect.TypeFor[Kubernetes]()) {
		at := strict.Path("kubernetes").Field(f.Name)
		if v.Doc.Has(at) && !slices.Contains(besideExisting, f.Name) {
			v.Problem(at, "remove "+f.Name+", or existing",
				"does not go with existing: Tombolo makes and changes nothing of a cluster that others own")
		}
	}
	if !v.OnAzure() {
		access.Check(v, k.rights())
		return
	}
	access.CheckGroups(v, k.rights(), false)
	if admins := strict.Path("kubernetes.admins"); v.Doc.Has(admins) {
		v.Problem(admins, "remove it: its owner names its groups of admins, and bindings in the platform tree can name more",
			"does not go with existing on Azure: the groups of admins are a setting of the cluster itself")
	}
}

// rights are all who have rights on the cluster.
func (k Kubernetes) rights() access.Rights {
	return access.Rights{Admins: k.Admins, Previewers: k.Previewers, Access: k.Access}
}
