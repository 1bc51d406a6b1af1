package process

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/prometheus/procfs"
)

// ownGroup puts a child into a process group of its own and has the kernel
// kill it when the daemon dies.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// Identity tells a process from a later one with the same pid: it is the time
// when the kernel started it. A process that has ended has none, also while its
// parent has not waited for it yet.
func Identity(pid int) string {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return ""
	}
	stat, err := p.Stat()
	if err != nil || stat.State == "Z" || stat.State == "X" {
		return ""
	}
	return strconv.FormatUint(stat.Starttime, 10)
}

// stopped reports whether all threads of a process have stopped: a signal
// reaches one after the other.
func stopped(pid int) bool {
	threads, err := procfs.AllThreads(pid)
	if err != nil || len(threads) == 0 {
		return false
	}
	for _, thread := range threads {
		if stat, err := thread.Stat(); err == nil && !strings.Contains("TtZX", stat.State) {
			return false
		}
	}
	return true
}

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
