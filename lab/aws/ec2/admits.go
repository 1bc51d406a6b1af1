package ec2

import (
	"net/netip"
	"slices"
	"strings"

	"tombolo/lab/standin"
)

// Admits says whether a rule of a security group lets an address in at a port of TCP. Rules
// for members of groups let no address in.
func Admits(c *standin.Cloud, region, group string, from netip.Addr, port int) bool {
	for _, r := range slices.Concat(c.Snapshot(GroupRuleType), c.Snapshot(IngressRuleType)) {
		if r.Region == region && r.Inputs.Str("securityGroupId") == group && admits(r, from, port) {
			return true
		}
	}
	return false
}

func admits(r *standin.Record, from netip.Addr, port int) bool {
	in := r.Inputs
	if r.Type == GroupRuleType && in.Str("type") != "ingress" {
		return false
	}
	switch strings.ToLower(in.Str("protocol") + in.Str("ipProtocol")) {
	case "-1", "all":
	case "tcp", "6":
		if port < in.Integer("fromPort") || port > in.Integer("toPort") {
			return false
		}
	default:
		return false
	}
	return slices.ContainsFunc(append(in.List("cidrBlocks"), in.List("cidrIpv4")...), func(text string) bool {
		block, err := netip.ParsePrefix(text)
		return err == nil && block.Contains(from)
	})
}
