package config

import (
	"fmt"
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"tombolo/config/awsfacts"
	"tombolo/config/form"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// privateBlocks are allowed for a VPC: those of RFC 1918 and RFC 6598.
var privateBlocks = []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"}

// withoutNAT are the endpoints that nodes need when the VPC has no NAT, by "Deploy private clusters with limited internet access" in the Amazon
// EKS User Guide.
var withoutNAT = []string{"ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "logs", "s3", "sts"}

// withProxy are the endpoints that are needed beside a proxy: nodes ask ECR, EKS and S3 by
// it, while the pods of the VPC CNI and of the Pod Identity agent, which come before all
// others, have no proxy of their own. Sources:
// https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html and
// https://github.com/aws/amazon-vpc-cni-k8s
var withProxy = []string{"ec2", "eks-auth", "sts"}

func (v *validator) network() {
	n := v.c.Network
	if v.c.IsExisting() {
		v.networkOfExisting(n)
		return
	}
	v.requiredKeys("", reflect.TypeFor[Cluster](), "network")
	made := v.doc.Has("network.cidr")
	switch {
	case !v.doc.Sound("network"):
	case v.doc.Has("network.existing"):
		v.existingNetwork(n)
	case !made:
		v.problem("network", "add cidr for a new network, or existing for one that exists",
			"needs cidr or existing")
	default:
		v.madeNetwork(n)
	}
}

// existingNetwork refuses keys that describe a new network.
func (v *validator) existingNetwork(n Network) {
	for _, key := range []string{"cidr", "zones", "nat", "endpoints", "flowLogs"} {
		if v.doc.Has(strict.Path("network").Field(key)) {
			v.problem(strict.Path("network").Field(key), "remove "+key+", or existing",
				"does not go with existing: Tombolo changes nothing in an existing network")
		}
	}
	v.existingSubnets(n)
}

// existingSubnets checks the subnets of a network that others own.
func (v *validator) existingSubnets(n Network) {
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
	repeated(all, itself, func(i, first int) {
		v.problem(where(i), "give each subnet once: it is private or public",
			"%s is already used at line %d", wording.Quote(all[i]), v.line(where(first)))
	})
	unique(v, at.Field("controlPlaneSubnets"), "", n.Existing.ControlPlaneSubnets, itself, "give each subnet once")
}

func (v *validator) madeNetwork(n Network) {
	v.zones(n)
	if v.block(n.CIDR) {
		v.room(n)
	}
	v.endpoints(n)
	v.flowLogs(n.FlowLogs)
}

// flowLogs checks that each target has its own keys.
func (v *validator) flowLogs(f *FlowLogs) {
	const at = strict.Path("network.flowLogs")
	if f == nil || !v.doc.Sound(at.Field("to")) {
		return
	}
	others := []string{"bucketArn"}
	if f.To == FlowLogsToS3 {
		others = []string{"retentionDays", "kmsKeyArn"}
		v.requiredKeys(at, reflect.TypeFor[FlowLogs](), "bucketArn")
	}
	for _, key := range others {
		if v.doc.Has(at.Field(key)) {
			v.keyProblem(at.Field(key), "remove it", "has no meaning with to: %s", f.To)
		}
	}
	if m := flowLogBucket.FindStringSubmatch(f.BucketARN); m != nil {
		v.partition(at.Field("bucketArn"), m[1])
	}
	if f.To == FlowLogsToCloudWatch {
		v.fits("name", growth{"the IAM role of flow logs", v.c.Name + "-flow-logs", maxRoleName})
	}
	v.ownKey(at.Field("kmsKeyArn"), f.KMSKeyARN, "use a key of the cluster's region, or leave it out for a key of CloudWatch's")
}

// flowLogBucket is the ARN of a bucket, with a folder or without.
var flowLogBucket = regexp.MustCompile(`^arn:(aws|aws-cn|aws-us-gov):s3:::[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9!_.*'()/-]*)?$`)

// block checks the VPC's block by itself.
func (v *validator) block(cidr string) bool {
	at := strict.Path("network.cidr")
	if !v.doc.Sound(at) {
		return false
	}
	block, err := netip.ParsePrefix(cidr)
	switch {
	case err != nil:
		v.problem(at, "write four numbers up to 255 and a prefix length, such as 10.0.0.0/16",
			"%s is not an IPv4 block", wording.Quote(cidr))
	case block != block.Masked():
		v.problem(at, "use "+block.Masked().String(), "%s has bits set outside of its prefix", wording.Quote(cidr))
	case !private(block):
		v.problem(at, "use a block inside "+wording.Or(privateBlocks), "%s is not a private block", wording.Quote(cidr))
	case block.Bits() < largestVPC:
		v.problem(at, fmt.Sprintf("use %s/%d", block.Addr(), largestVPC),
			"/%d is larger than AWS allows; a VPC has /%d at most", block.Bits(), largestVPC)
	case block.Bits() > smallestVPC:
		wider := netip.PrefixFrom(block.Addr(), smallestVPC).Masked()
		v.problem(at, fmt.Sprintf("use %s or larger", wider),
			"/%d is too small for a cluster; the smallest is /%d", block.Bits(), smallestVPC)
	default:
		return true
	}
	return false
}

func private(block netip.Prefix) bool {
	return slices.ContainsFunc(privateBlocks, func(s string) bool {
		outer := netip.MustParsePrefix(s)
		return outer.Bits() <= block.Bits() && outer.Contains(block.Addr())
	})
}

// room checks that the block has space for the subnets of all zones.
func (v *validator) room(n Network) {
	if !v.doc.Sound("network.zones") || len(n.Zones) == 0 || len(n.Zones) > maxZones {
		return
	}
	if _, err := Subnets(n.CIDR, n.Zones); err == nil {
		return
	}
	block := netip.MustParsePrefix(n.CIDR)
	wider := netip.PrefixFrom(block.Addr(), longestVPC(len(n.Zones))).Masked()
	v.problem("network.cidr", fmt.Sprintf("use %s or larger, or fewer zones", wider),
		"%s is too small for %s, each with a private and a public subnet: public ones would be /%d, and AWS's smallest is /%d",
		wording.Quote(n.CIDR), wording.Count(len(n.Zones), "zone"), block.Bits()+2*cut(len(n.Zones)), smallestSubnet)
}

func (v *validator) zones(n Network) {
	at := strict.Path("network.zones")
	if !v.doc.Has(at) {
		v.problem(at, fmt.Sprintf("add at least two zones of the region, such as [%sa, %sb]", v.c.Cloud.Region, v.c.Cloud.Region),
			"is required with cidr")
		return
	}
	unique(v, at, "", n.Zones, itself, "give each zone once")
	if len(n.Zones) > maxZones {
		v.problem(at, fmt.Sprintf("use at most %d", maxZones), "has %d zones", len(n.Zones))
	}
	if !v.doc.Sound("cloud.region") {
		return
	}
	for i, zone := range n.Zones {
		m := form.RegionZone.FindStringSubmatch(zone)
		if m != nil && m[1] != v.c.Cloud.Region {
			v.problem(at.Index(i), fmt.Sprintf("use a zone of it, such as %s%s", v.c.Cloud.Region, m[3]),
				"%s is not in the region %s", wording.Quote(zone), v.c.Cloud.Region)
		}
	}
}

func (v *validator) endpoints(n Network) {
	at := strict.Path("network.endpoints")
	unique(v, at, "", n.Endpoints, itself, "give each endpoint once")
	for i, name := range n.Endpoints {
		v.endpoint(at.Index(i), name)
	}
	if n.NAT != NATNone || !v.doc.Sound(at) {
		return
	}
	needed, who, remedy := withoutNAT, "nodes need", "add them, or use nat: single; with egress.proxy, only "+wording.And(withProxy)+" are needed"
	if v.c.Egress.Proxy.URL != "" {
		needed, who, remedy = withProxy, "EKS's own addons, which go by no proxy, need", "add them, or use nat: single"
	}
	var missing []string
	for _, name := range needed {
		if !slices.Contains(n.Endpoints, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		v.problem(at, remedy, "lacks %s, which %s when nat is none", strings.Join(missing, ", "), who)
	}
	v.noWayToImages()
}

// noWayToImages warns of an engine whose images nodes cannot fetch. It is no refusal: others
// may have connected the network.
func (v *validator) noWayToImages() {
	if v.c.Egress.Proxy.URL != "" || len(v.c.Egress.Images.Mirrors) > 0 || !v.doc.Sound("egress", "network.nat") {
		return
	}
	v.warn("network.nat", "name a proxy in egress.proxy, or mirrors that the network reaches in egress.images.mirrors",
		"leaves nodes no way to registries on the internet, and the cluster file names no other")
}

func (v *validator) endpoint(at strict.Path, name string) {
	short, full := strings.CutPrefix(strings.TrimPrefix(name, "cn."), "com.amazonaws.")
	switch {
	case full:
		_, short, _ = strings.Cut(short, ".")
		v.problem(at, "use "+short, "%s is the full name of a service; the region is known", wording.Quote(name))
	case name == "ecr":
		v.problem(at, "use ecr.api and ecr.dkr", `"ecr" has two endpoints`)
	default:
		v.misspelt(at, "an AWS service that Tombolo knows", name, awsfacts.Endpoints)
	}
}
