package process

import (
	"fmt"
	"slices"

	"github.com/prometheus/procfs"
)

// portHolder names the process that listens on a TCP port: the kernel's table
// gives the socket's inode, and one process has that inode open.
func portHolder(port int) string {
	const listening = 10 // TCP_LISTEN
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return ""
	}
	for _, s := range tcpSockets(proc) {
		if s.St == listening && s.LocalPort == uint64(port) {
			return socketOwner(proc, fmt.Sprintf("socket:[%d]", s.Inode))
		}
	}
	return ""
}

func socketOwner(proc procfs.FS, socket string) string {
	all, err := proc.AllProcs()
	if err != nil {
		return ""
	}
	for _, p := range all {
		open, _ := p.FileDescriptorTargets() // none of another user's
		if !slices.Contains(open, socket) {
			continue
		}
		if name, err := p.Comm(); err == nil {
			return fmt.Sprintf("%s (pid %d)", name, p.PID)
		}
	}
	return ""
}
