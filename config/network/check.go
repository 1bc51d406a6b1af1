package network

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"tombolo/config/awsfacts"
	"tombolo/config/check"
	"tombolo/config/form"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// checkNetworkOfExisting refuses a network that core would make for a cluster that has one.
func checkNetworkOfExisting(v *check.File, n Network) {
	for _, f := range v.Format.Fields(reflect.TypeFor[Network]()) {
		at := strict.Path("network").Field(f.Name)
		if v.Doc.Has(at) && f.Name != "existing" {
			v.Problem(at, "remove "+f.Name+": core reads VPC and subnets from the cluster, or from network.existing",
				"does not go with kubernetes.existing: the cluster has a network")
		}
	}
	if v.Doc.Has("network.existing") {
		checkExistingSubnets(v, n)
	}
}

// withoutNAT are the endpoints that nodes need when the VPC has no NAT, by "Deploy private clusters with limited internet access" in the Amazon
// EKS User Guide.
var withoutNAT = []string{"ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "logs", "s3", "sts"}

// withProxy are the endpoints that are needed beside a proxy: nodes ask ECR, EKS and S3 by
// it, while the pods of the VPC CNI and of the Pod Identity agent, which come before all
// others, have no proxy of their own. Sources:
// https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html and
// https://github.com/aws/amazon-vpc-cni-k8s
var withProxy = []string{"ec2", "eks-auth", "sts"}

// Check checks the network of a cluster in AWS.
func Check(v *check.File, n Network) {
	if v.Existing {
		checkNetworkOfExisting(v, n)
		return
	}
	made := v.Doc.Has("network.cidr")
	switch {
	case !v.Doc.Sound("network"):
	case v.Doc.Has("network.existing"):
		checkExistingNetwork(v, n)
	case !made:
		v.Problem("network", "add cidr for a new network, or existing for one that exists",
			"needs cidr or existing")
	default:
		checkMadeNetwork(v, n)
	}
}

// checkExistingNetwork refuses keys that describe a new network: all beside existing.
func checkExistingNetwork(v *check.File, n Network) {
	for _, f := range v.Format.Fields(reflect.TypeFor[Network]()) {
		at := strict.Path("network").Field(f.Name)
		if v.Doc.Has(at) && f.Name != "existing" {
			v.Problem(at, "remove "+f.Name+", or existing", "does not go with existing: Tombolo changes nothing in an existing network")
		}
	}
	checkExistingSubnets(v, n)
}

// checkExistingSubnets checks the subnets of a network that others own.
func checkExistingSubnets(v *check.File, n Network) {
	if n.Existing == nil {
		return
	}
	at := strict.Path("network.existing")
	all := slices.Concat(n.Existing.PrivateSubnets, n.Existing.PublicSubnets)
	where := func(i int) strict.Path {
		if i < len(n.Existing.PrivateSubnets) {
			return at.Field("privateSubnets").Index(i)
		}
		return at.Field("publicSubnets").Index(i - len(n.Existing.PrivateSubnets))
	}
	check.Repeated(all, check.Itself, func(i, first int) {
		v.Problem(where(i), "give each subnet once: it is private or public",
			"%s is already used at %s", wording.Quote(all[i]), v.Line(where(first)))
	})
	check.Unique(v, at.Field("controlPlaneSubnets"), "", n.Existing.ControlPlaneSubnets, check.Itself, "give each subnet once")
}

func checkMadeNetwork(v *check.File, n Network) {
	checkZones(v, n)
	if checkBlock(v, n.CIDR) {
		checkRoom(v, n)
	}
	checkEndpoints(v, n)
	checkFlowLogs(v, n.FlowLogs)
}

// checkFlowLogs checks that each target has its own keys.
func checkFlowLogs(v *check.File, f *FlowLogs) {
	const at = strict.Path("network.flowLogs")
	if f == nil || !v.Doc.Sound(at.Field("to")) {
		return
	}
	others := []string{"bucketArn"}
	if f.To == FlowLogsToS3 {
		others = []string{"retentionDays", "kmsKeyArn"}
		v.Require(at, reflect.TypeFor[FlowLogs](), "bucketArn")
	}
	for _, key := range others {
		if v.Doc.Has(at.Field(key)) {
			v.KeyProblem(at.Field(key), "remove it", "has no meaning with to: %s", f.To)
		}
	}
	if m := flowLogBucket.FindStringSubmatch(f.BucketARN); m != nil {
		v.Partition(at.Field("bucketArn"), m[1])
		checkFolder(v, at.Field("bucketArn"), m[2])
	}
	if f.To == FlowLogsToCloudWatch {
		v.Fits("name", "the IAM role of flow logs", v.Name+"-flow-logs", form.MaxRoleName)
	}
}

// awsLogs is the folder that AWS itself makes below the one of the file.
const awsLogs = "AWSLogs"

// checkFolder refuses a folder for flow logs that AWS keeps for itself. Source: LogDestination in
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateFlowLogs.html
func checkFolder(v *check.File, at strict.Path, folder string) {
	if slices.Contains(strings.Split(folder, "/"), awsLogs) {
		v.Problem(at, "name another folder, or none: AWS makes "+awsLogs+" below it", "has a folder %s, which AWS keeps for itself", awsLogs)
	}
}

// checkBlock checks the VPC's block by itself.
func checkBlock(v *check.File, cidr string) bool {
	at := strict.Path("network.cidr")
	if !v.Doc.Sound(at) {
		return false
	}
	block, err := netip.ParsePrefix(cidr)
	switch {
	case err != nil:
		v.Problem(at, "write four numbers up to 255 and a prefix length, such as 10.0.0.0/16",
			"%s is not an IPv4 block", wording.Quote(cidr))
	case block != block.Masked():
		v.Problem(at, "use "+block.Masked().String(), "%s has bits set outside of its prefix", wording.Quote(cidr))
	case !form.Private(block):
		v.Problem(at, "use a block inside "+wording.Or(form.PrivateBlocks), "%s is not a private block", wording.Quote(cidr))
	case block.Bits() < LargestVPC:
		v.Problem(at, fmt.Sprintf("use %s/%d", block.Addr(), LargestVPC),
			"/%d is larger than AWS allows; a VPC has /%d at most", block.Bits(), LargestVPC)
	case block.Bits() > SmallestVPC:
		wider := netip.PrefixFrom(block.Addr(), SmallestVPC).Masked()
		v.Problem(at, fmt.Sprintf("use %s or larger", wider),
			"/%d is too small for a cluster; the smallest is /%d", block.Bits(), SmallestVPC)
	default:
		return true
	}
	return false
}

// checkRoom checks that the block has space for the subnets of all zones.
func checkRoom(v *check.File, n Network) {
	if !v.Doc.Sound("network.zones") || len(n.Zones) == 0 || len(n.Zones) > MaxZones {
		return
	}
	if _, err := Subnets(n.CIDR, n.Zones); err == nil {
		return
	}
	block := netip.MustParsePrefix(n.CIDR)
	wider := netip.PrefixFrom(block.Addr(), LongestVPC(len(n.Zones))).Masked()
	v.Problem("network.cidr", fmt.Sprintf("use %s or larger, or fewer zones", wider),
		"%s is too small for %s, each with a private and a public subnet: public ones would be /%d, and AWS's smallest is /%d",
		wording.Quote(n.CIDR), wording.Count(len(n.Zones), "zone"), block.Bits()+2*cut(len(n.Zones)), SmallestSubnet)
}

func checkZones(v *check.File, n Network) {
	at := strict.Path("network.zones")
	if !v.Doc.Has(at) {
		v.Problem(at, fmt.Sprintf("add at least two zones of the region, such as [%sa, %sb]", v.Region, v.Region),
			"is required with cidr")
		return
	}
	check.Unique(v, at, "", n.Zones, check.Itself, "give each zone once")
	if len(n.Zones) > MaxZones {
		v.Problem(at, fmt.Sprintf("use at most %d", MaxZones), "has %d zones", len(n.Zones))
	}
	if !v.Doc.Sound("cloud.region") {
		return
	}
	for i, zone := range n.Zones {
		m := form.RegionZone.FindStringSubmatch(zone)
		if m != nil && m[1] != v.Region {
			v.Problem(at.Index(i), fmt.Sprintf("use a zone of it, such as %s%s", v.Region, m[3]),
				"%s is not in the region %s", wording.Quote(zone), v.Region)
		}
	}
}

func checkEndpoints(v *check.File, n Network) {
	at := strict.Path("network.endpoints")
	check.Unique(v, at, "", n.Endpoints, check.Itself, "give each endpoint once")
	for i, name := range n.Endpoints {
		checkEndpoint(v, at.Index(i), name)
	}
	if n.NAT != NATNone || !v.Doc.Sound(at) {
		return
	}
	needed, who, remedy := withoutNAT, "nodes need", "add them, or use nat: single; with egress.proxy, only "+wording.And(withProxy)+" are needed"
	if v.Proxied {
		needed, who, remedy = withProxy, "EKS's own addons, which go by no proxy, need", "add them, or use nat: single"
	}
	var missing []string
	for _, name := range needed {
		if !slices.Contains(n.Endpoints, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		v.Problem(at, remedy, "lacks %s, which %s when nat is none", strings.Join(missing, ", "), who)
	}
	checkNoWayToImages(v)
}

// checkNoWayToImages warns of an engine whose images nodes cannot fetch. It is no refusal: others
// may have connected the network.
func checkNoWayToImages(v *check.File) {
	if v.Proxied || v.Mirrored || !v.Doc.Sound("egress", "network.nat") {
		return
	}
	v.Warn("network.nat", "name a proxy in egress.proxy, or mirrors that the network reaches in egress.images.mirrors",
		"leaves nodes no way to registries on the internet, and the cluster file names no other")
}

func checkEndpoint(v *check.File, at strict.Path, name string) {
	short, full := strings.CutPrefix(strings.TrimPrefix(name, "cn."), "com.amazonaws.")
	switch {
	case full:
		_, short, _ = strings.Cut(short, ".")
		v.Problem(at, "use "+short, "%s is the full name of a service; the region is known", wording.Quote(name))
	case name == "ecr":
		v.Problem(at, "use ecr.api and ecr.dkr", `"ecr" has two endpoints`)
	default:
		v.Misspelt(at, "an AWS service that Tombolo knows", name, awsfacts.Endpoints)
	}
}
