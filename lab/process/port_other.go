//go:build !linux

package process

import (
	"fmt"
	"os/exec"
	"strings"
)

// portHolder names the process that listens on a TCP port, as lsof tells it.
func portHolder(port int) string {
	out, err := exec.Command("lsof", "-nP", fmt.Sprintf("-iTCP:%d", port), "-sTCP:LISTEN", "-Fpc").Output()
	if err != nil {
		return ""
	}
	var pid, name string
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "p"):
			pid = line[1:]
		case strings.HasPrefix(line, "c"):
			name = line[1:]
		}
	}
	if name == "" {
		return ""
	}
	return fmt.Sprintf("%s (pid %s)", name, pid)
}
