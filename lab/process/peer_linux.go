package process

import (
	"net"

	"github.com/prometheus/procfs"
)

// PeerUser is the user id of the process at the other end of a connection that came
// by the loopback interface; false when the system does not tell. The kernel's table of
// sockets has the id of each socket's owner.
func PeerUser(conn net.Conn) (uid uint64, known bool) {
	theirs, ok := conn.RemoteAddr().(*net.TCPAddr)
	ours, same := conn.LocalAddr().(*net.TCPAddr)
	proc, err := procfs.NewDefaultFS()
	if !ok || !same || err != nil {
		return 0, false
	}
	for _, s := range tcpSockets(proc) {
		if s.LocalPort == uint64(theirs.Port) && s.RemPort == uint64(ours.Port) && s.LocalAddr.Equal(theirs.IP) && s.RemAddr.Equal(ours.IP) {
			return s.UID, true
		}
	}
	return 0, false
}
