package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// portHolder names the process that listens on a TCP port: the kernel's table
// gives the socket's inode, and one process has that inode open.
func portHolder(port int) string {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		data, err := os.ReadFile(table)
		if err != nil {
			continue
		}
		if inode := listenerInode(string(data), port); inode != "" {
			return socketOwner("socket:[" + inode + "]")
		}
	}
	return ""
}

// listenerInode finds the inode of the socket that listens on port.
func listenerInode(table string, port int) string {
	const (
		local  = 1
		state  = 3
		inode  = 9
		listen = "0A"
	)
	suffix := fmt.Sprintf(":%04X", port)
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) > inode && f[state] == listen && strings.HasSuffix(f[local], suffix) {
			return f[inode]
		}
	}
	return ""
}

func socketOwner(link string) string {
	fds, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, fd := range fds {
		if target, err := os.Readlink(fd); err != nil || target != link {
			continue
		}
		dir := filepath.Dir(filepath.Dir(fd))
		name, err := os.ReadFile(filepath.Join(dir, "comm"))
		if err != nil {
			return ""
		}
		return fmt.Sprintf("%s (pid %s)", strings.TrimSpace(string(name)), filepath.Base(dir))
	}
	return ""
}
