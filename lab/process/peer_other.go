//go:build !linux

package process

import "net"

// PeerUser is not known on this system.
func PeerUser(net.Conn) (uid uint64, known bool) { return 0, false }
