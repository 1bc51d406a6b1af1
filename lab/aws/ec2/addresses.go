package ec2

import (
	"encoding/binary"
	"net/netip"
	"strings"

	"tombolo/lab/aws/account"
)

// HostAddress picks an address in a block for something, always the same. EC2
// keeps the first four addresses and the last one of a subnet for itself.
func HostAddress(block string, parts ...string) string {
	prefix, err := netip.ParsePrefix(block)
	if err != nil || prefix.Bits() > 28 {
		return ""
	}
	base := prefix.Masked().Addr().As4()
	size := uint32(1) << (32 - prefix.Bits())
	var out [4]byte
	binary.BigEndian.PutUint32(out[:], binary.BigEndian.Uint32(base[:])+4+account.Hashed(parts...)%(size-5))
	return netip.AddrFrom4(out).String()
}

// Dashed turns 10.0.0.1 into 10-0-0-1, as in DNS names.
func Dashed(ip string) string { return strings.ReplaceAll(ip, ".", "-") }
