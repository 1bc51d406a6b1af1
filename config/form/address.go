package form

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// LogRetentionDays is how long CloudWatch keeps logs where the file does not say.
const LogRetentionDays = 90

// MaxRoleName is the limit of an IAM role's name (IAM quotas).
const MaxRoleName = 64

// Private says that a block is in one of PrivateBlocks.
func Private(block netip.Prefix) bool {
	return slices.ContainsFunc(PrivateBlocks, func(s string) bool {
		outer := netip.MustParsePrefix(s)
		return outer.Bits() <= block.Bits() && outer.Contains(block.Addr())
	})
}

// PrivateBlocks are allowed for a VPC: those of RFC 1918 and RFC 6598.
var PrivateBlocks = []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"}

// HostIn is the host of a URL as hosts are written elsewhere in the file: names of hosts have no
// capitals, and may end with a dot.
func HostIn(u *url.URL) string { return strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")) }
