package process

import (
	"fmt"
	"net"
	"strconv"
)

// PortFree says that a port of 127.0.0.1 can be listened on; its error names
// the process that has it, where that can be found out.
func PortFree(port int) error {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err == nil {
		return l.Close()
	}
	if holder := portHolder(port); holder != "" {
		return fmt.Errorf("port %d is taken by %s; stop that process, then run it again", port, holder)
	}
	return fmt.Errorf("port %d cannot be listened on (%w); free it, then run it again", port, err)
}
