package network

import (
	"fmt"
	"math/bits"
	"net/netip"
	"slices"

	"tombolo/internal/wording"
)

// The sizes AWS sets: a VPC has at most a /16, a subnet at least a /28. Smaller
// VPCs than /24 leave no room for pods.
const (
	LargestVPC     = 16
	SmallestVPC    = 24
	SmallestSubnet = 28
	MaxZones       = 7
)

// SubnetPlan is where one zone's subnets are.
type SubnetPlan struct {
	Zone    string
	Private netip.Prefix
	Public  netip.Prefix
}

// Subnets lays out a VPC's block: for each zone one large private subnet, for
// nodes and pods, and one small public one, for load balancers and NAT.
//
// The block is cut into equal parts, four for up to three zones and eight for
// up to seven. Each zone's private subnet is one part, in the order of zones.
// The last part holds the public subnets, cut in the same way. A /16 with three
// zones has private subnets of /18 and public ones of /20. The layout depends on
// the position of the zones only, so that a third zone added to two leaves the
// others as they are.
//
// It fails when cidr is not an IPv4 block, or too small for the zones.
func Subnets(cidr string, zones []string) ([]SubnetPlan, error) {
	vpc, err := netip.ParsePrefix(cidr)
	if err != nil || !vpc.Addr().Is4() {
		return nil, fmt.Errorf("lay out subnets: %q is not an IPv4 block; use one such as 10.0.0.0/16", cidr)
	}
	if len(zones) == 0 || len(zones) > MaxZones {
		return nil, fmt.Errorf("lay out subnets: %d zones; use 1 to %d", len(zones), MaxZones)
	}
	step := cut(len(zones))
	if public := vpc.Bits() + 2*step; public > SmallestSubnet {
		return nil, fmt.Errorf("lay out subnets: %s is too small for %s: public subnets would be /%d, and the smallest subnet of AWS is /%d; use /%d or larger",
			cidr, wording.Count(len(zones), "zone"), public, SmallestSubnet, LongestVPC(len(zones)))
	}
	parts := 1 << step
	last := part(vpc.Masked(), step, parts-1)
	plans := make([]SubnetPlan, len(zones))
	for i, zone := range zones {
		plans[i] = SubnetPlan{Zone: zone, Private: part(vpc.Masked(), step, i), Public: part(last, step, i)}
	}
	return plans, nil
}

// SubnetsBeside lays out the subnets of zones in a block where some are already, and
// moves none of these: EC2 cannot change the block of a subnet. A zone without subnets
// gets those that Subnets gives it. Where they are taken, as a fourth zone's are beside
// three, it gets the first free ones of the layout for three zones, and after that of
// the same layout in the last sixteenth of the block, which those three leave free.
//
// It fails as Subnets does, and when nothing is left for a zone.
func SubnetsBeside(cidr string, zones []string, made []SubnetPlan) ([]SubnetPlan, error) {
	plans, err := Subnets(cidr, zones)
	if err != nil {
		return nil, err
	}
	vpc := netip.MustParsePrefix(cidr).Masked()
	made = slices.DeleteFunc(slices.Clone(made), func(p SubnetPlan) bool { return !p.within(vpc) }) // half of a zone is made anew
	taken := slices.Clone(made)
	for i, plan := range plans {
		if k := slices.IndexFunc(made, func(p SubnetPlan) bool { return p.Zone == plan.Zone }); k >= 0 {
			plans[i] = made[k]
			continue
		}
		free := slices.IndexFunc(append([]SubnetPlan{plan}, slots(vpc)...), func(p SubnetPlan) bool {
			return !slices.ContainsFunc(taken, p.overlaps)
		})
		if free < 0 {
			return nil, fmt.Errorf("lay out subnets: %s has no room left for zone %s beside the subnets that are there, and AWS can move none of them; "+
				"take the zone out, or build a new cluster with a larger block (/%d or larger leaves room for zones to come)", cidr, plan.Zone, LongestGrowing)
		}
		if free > 0 {
			plans[i].Private, plans[i].Public = slots(vpc)[free-1].Private, slots(vpc)[free-1].Public
		}
		taken = append(taken, plans[i])
	}
	return plans, nil
}

// LongestGrowing is the longest prefix with room for a fourth zone beside three: two
// cuts for these, and two for the ones to come.
const LongestGrowing = SmallestSubnet - 8

// slots are the places for a zone in the layout for three zones, and in the same
// layout of what that one leaves free.
func slots(vpc netip.Prefix) []SubnetPlan {
	var out []SubnetPlan
	for ; vpc.Bits() <= SmallestSubnet-4; vpc = part(part(vpc, 2, 3), 2, 3) {
		for i := range 3 {
			out = append(out, SubnetPlan{Private: part(vpc, 2, i), Public: part(part(vpc, 2, 3), 2, i)})
		}
	}
	return out
}

// within says that the zone has both of its subnets in a block.
func (p SubnetPlan) within(vpc netip.Prefix) bool {
	in := func(b netip.Prefix) bool { return b.IsValid() && vpc.Bits() <= b.Bits() && vpc.Contains(b.Addr()) }
	return in(p.Private) && in(p.Public)
}

func (p SubnetPlan) overlaps(other SubnetPlan) bool {
	in := func(b netip.Prefix) bool { return b.Overlaps(other.Private) || b.Overlaps(other.Public) }
	return in(p.Private) || in(p.Public)
}

// cut is how many bits longer than the VPC's prefix a private subnet's is: one
// part for each zone and one for the public subnets, and room for three zones.
func cut(zones int) int { return max(bits.Len(uint(zones)), 2) }

// LongestVPC is the longest prefix that has room for the zones.
func LongestVPC(zones int) int { return min(SmallestSubnet-2*cut(zones), SmallestVPC) }

// part i of the 2^step equal parts of a block.
func part(block netip.Prefix, step, i int) netip.Prefix {
	length := block.Bits() + step
	base := block.Addr().As4()
	n := uint32(base[0])<<24 | uint32(base[1])<<16 | uint32(base[2])<<8 | uint32(base[3])
	n += uint32(i) << (32 - length)
	addr := netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
	return netip.PrefixFrom(addr, length)
}

// The blocks that EKS chooses from for the addresses of Kubernetes Services.
const (
	serviceBlock          = "172.20.0.0/16"
	alternateServiceBlock = "10.100.0.0/16"
)

// ServiceCIDR is the block for Kubernetes Services in a cluster whose VPC has
// the given block: 172.20.0.0/16, or 10.100.0.0/16 when the VPC is in
// 172.16.0.0/12. It overlaps with no VPC that validation accepts. For an
// existing network, whose block the file does not give, pass "".
func ServiceCIDR(vpc string) string {
	block, err := netip.ParsePrefix(vpc)
	if err == nil && block.Overlaps(netip.MustParsePrefix("172.16.0.0/12")) {
		return alternateServiceBlock
	}
	return serviceBlock
}
