package process

import "github.com/prometheus/procfs"

// tcpSockets are the TCP sockets that the kernel's tables list, of both versions of IP;
// none where a table cannot be read.
//
//nolint:staticcheck // deprecated for a library of netlink; the kernel keeps these tables
func tcpSockets(proc procfs.FS) (all procfs.NetTCP) {
	for _, table := range []func() (procfs.NetTCP, error){proc.NetTCP, proc.NetTCP6} {
		if sockets, err := table(); err == nil {
			all = append(all, sockets...)
		}
	}
	return all
}
