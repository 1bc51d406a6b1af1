package network

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config/form"
)

func TestSubnets(t *testing.T) {
	zones := []string{"eu-central-1a", "eu-central-1b", "eu-central-1c"}
	plans, err := Subnets("10.0.0.0/16", zones)
	assert.NilError(t, err)
	want := []string{
		"eu-central-1a 10.0.0.0/18 10.0.192.0/20",
		"eu-central-1b 10.0.64.0/18 10.0.208.0/20",
		"eu-central-1c 10.0.128.0/18 10.0.224.0/20",
	}
	for i, p := range plans {
		assert.Check(t, is.Equal(fmt.Sprint(p.Zone, " ", p.Private, " ", p.Public), want[i]), "%v", i)
	}
	two, err := Subnets("10.0.0.0/16", zones[:2])
	assert.NilError(t, err)
	assert.Check(t, two[0] == plans[0] && two[1] == plans[1], "a third zone moved the others: %v, %v", two, plans)
}

// TestSubnetsApart lays out every size for every number of zones.
func TestSubnetsApart(t *testing.T) {
	for length := LargestVPC; length <= SmallestVPC; length++ {
		for n := 1; n <= MaxZones; n++ {
			vpc := netip.MustParsePrefix(fmt.Sprintf("192.168.0.0/%d", length))
			zones := make([]string, n)
			for i := range zones {
				zones[i] = fmt.Sprintf("z%d", i)
			}
			plans, err := Subnets(vpc.String(), zones)
			if fits := length <= LongestVPC(n); fits != (err == nil) {
				t.Errorf("Subnets(%s, %d zones) = %v; fits is %t", vpc, n, err, fits)
			}
			checkApart(t, vpc, plans)
		}
	}
}

func checkApart(t *testing.T, vpc netip.Prefix, plans []SubnetPlan) {
	t.Helper()
	var all []netip.Prefix
	for _, p := range plans {
		all = append(all, p.Private, p.Public)
	}
	for i, a := range all {
		assert.Check(t, a == a.Masked() && a.Bits() <= SmallestSubnet && vpc.Contains(a.Addr()), "%s is no subnet of %s", a, vpc)
		for _, b := range all[:i] {
			assert.Check(t, !a.Overlaps(b), "%s overlaps %s in %s", a, b, vpc)
		}
	}
}

func TestSubnetsErrors(t *testing.T) {
	tests := []struct {
		cidr  string
		zones int
		want  string
	}{
		{"10.0.0.0", 2, `lay out subnets: "10.0.0.0" is not an IPv4 block; use one such as 10.0.0.0/16`},
		{"fd00::/64", 2, `lay out subnets: "fd00::/64" is not an IPv4 block; use one such as 10.0.0.0/16`},
		{"10.0.0.0/16", 0, "lay out subnets: 0 zones; use 1 to 7"},
		{"10.0.0.0/16", 8, "lay out subnets: 8 zones; use 1 to 7"},
		{"10.0.0.0/23", 4, "lay out subnets: 10.0.0.0/23 is too small for 4 zones: public subnets would be /29, and the smallest subnet of AWS is /28; use /22 or larger"},
		{"10.0.0.0/32", 2, "lay out subnets: 10.0.0.0/32 is too small for 2 zones: public subnets would be /36, and the smallest subnet of AWS is /28; use /24 or larger"},
	}
	for _, tt := range tests {
		if _, err := Subnets(tt.cidr, make([]string, tt.zones)); err == nil || err.Error() != tt.want {
			t.Errorf("Subnets(%s, %d zones) = %v; expected %s", tt.cidr, tt.zones, err, tt.want)
		}
	}
}

// TestServiceCIDR expects no overlap with any VPC that validation accepts.
func TestServiceCIDR(t *testing.T) {
	for vpc, want := range map[string]string{
		"10.0.0.0/16":     "172.20.0.0/16",
		"10.100.0.0/16":   "172.20.0.0/16",
		"172.16.0.0/16":   "10.100.0.0/16",
		"172.20.128.0/20": "10.100.0.0/16",
		"192.168.0.0/16":  "172.20.0.0/16",
		"100.64.0.0/16":   "172.20.0.0/16",
		"":                "172.20.0.0/16",
	} {
		assert.Check(t, is.Equal(ServiceCIDR(vpc), want), "%v", vpc)
	}
	for _, outer := range form.PrivateBlocks {
		block := netip.MustParsePrefix(outer)
		if services := netip.MustParsePrefix(ServiceCIDR(outer)); services.Overlaps(block) {
			t.Errorf("services of a VPC in %s are in %s, which overlaps", outer, services)
		}
	}
}

// TestSubnetsBeside adds zones one by one to those that are there: none of them moves,
// and no block overlaps another.
func TestSubnetsBeside(t *testing.T) {
	zones := []string{"z0", "z1", "z2", "z3", "z4", "z5", "z6"}
	for length := LargestVPC; length <= SmallestVPC; length++ {
		for start := 2; start <= MaxZones && length <= LongestVPC(start); start++ {
			vpc := netip.MustParsePrefix(fmt.Sprintf("10.1.0.0/%d", length)).Masked()
			made, err := Subnets(vpc.String(), zones[:start])
			assert.NilError(t, err)
			for n := start; n <= MaxZones; n++ {
				plans, err := SubnetsBeside(vpc.String(), zones[:n], made)
				if err != nil {
					if start <= 3 && length <= LongestGrowing && n <= 6 || start > 3 {
						t.Errorf("/%d from %d zones to %d: %v", length, start, n, err)
					}
					break
				}
				assert.Check(t, slices.Equal(plans[:len(made)], made), "/%d from %d zones to %d: %v became %v", length, start, n, made, plans)
				checkApart(t, vpc, plans)
				made = plans
			}
		}
	}
}

func TestSubnetsBesideOthers(t *testing.T) {
	made, err := Subnets("10.0.0.0/16", []string{"a", "b", "c"})
	assert.NilError(t, err)
	show := func(cidr string, made []SubnetPlan, zones ...string) string {
		plans, err := SubnetsBeside(cidr, zones, made)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(plans[len(plans)-1])
	}
	// The subnets of b go after those of d are made.
	assert.Check(t, is.Equal(show("10.0.0.0/16", made, "a", "c", "d"), "{d 10.0.240.0/22 10.0.252.0/24}"))
	for want, got := range map[string]string{
		"{d 10.0.240.0/22 10.0.252.0/24}": show("10.0.0.0/16", made, "a", "b", "c", "d"),
		// Half of zone b, of a first up that failed, is no reason to move it.
		"{b 10.0.64.0/18 10.0.208.0/20}": show("10.0.0.0/16", []SubnetPlan{{Zone: "b", Private: made[1].Private}}, "a", "b"),
		// Another block has room for nothing that is there.
		"{b 10.9.64.0/18 10.9.208.0/20}": show("10.9.0.0/16", made, "a", "b"),
		"lay out subnets: 10.0.0.0/22 has no room left for zone d beside the subnets that are there, and AWS can move none of them; " +
			"take the zone out, or build a new cluster with a larger block (/20 or larger leaves room for zones to come)": show("10.0.0.0/22", laidOut(t, "10.0.0.0/22"), "a", "b", "c", "d"),
	} {
		assert.Check(t, is.Equal(got, want))
	}
}

func laidOut(t *testing.T, cidr string) []SubnetPlan {
	t.Helper()
	plans, err := Subnets(cidr, []string{"a", "b", "c"})
	assert.NilError(t, err)
	return plans
}

func TestNodeSubnetCIDR(t *testing.T) {
	for network, want := range map[string]string{"10.0.0.0/16": "10.0.0.0/17", "10.0.0.0/24": "10.0.0.0/25", "10.0.0.0/8": "10.0.0.0/9"} {
		got, err := NodeSubnetCIDR(network)
		assert.NilError(t, err)
		assert.Equal(t, got, want)
	}
	_, err := NodeSubnetCIDR("10.0.0.0")
	assert.ErrorContains(t, err, `"10.0.0.0" is not an IPv4 block; use one such as 10.0.0.0/16`)
}
