package aws

import (
	"encoding/binary"
	"net/netip"
	"strings"
)

// hostAddress picks an address in a block for something, always the same. EC2
// keeps the first four addresses and the last one of a subnet for itself.
func hostAddress(block string, parts ...string) string {
	prefix, err := netip.ParsePrefix(block)
	if err != nil || prefix.Bits() > 28 {
		return ""
	}
	base := prefix.Masked().Addr().As4()
	size := uint32(1) << (32 - prefix.Bits())
	var out [4]byte
	binary.BigEndian.PutUint32(out[:], binary.BigEndian.Uint32(base[:])+4+hashed(parts...)%(size-5))
	return netip.AddrFrom4(out).String()
}

// dashed turns 10.0.0.1 into 10-0-0-1, as in DNS names.
func dashed(ip string) string { return strings.ReplaceAll(ip, ".", "-") }
