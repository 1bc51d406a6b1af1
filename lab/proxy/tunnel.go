package proxy

import (
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
)

// Tunnel takes the clients of the proxy that ask for a connection to one of its
// hosts, as https needs it: a listener for the server that plays the hosts.
type Tunnel struct {
	hosts  []string
	also   func(host string) bool
	opened chan net.Conn
	closed chan struct{}
	close  func()
}

// NewTunnel makes a tunnel to hosts, named in lower case.
func NewTunnel(hosts ...string) *Tunnel {
	t := &Tunnel{hosts: hosts, also: func(string) bool { return false }, opened: make(chan net.Conn), closed: make(chan struct{})}
	t.close = sync.OnceFunc(func() { close(t.closed) })
	return t
}

// Also has the tunnel lead to hosts that come and go, too: a function knows them by their names
// in lower case. It is for before the first client.
func (t *Tunnel) Also(leads func(host string) bool) { t.also = leads }

// Accept waits for the next connection. It fails with net.ErrClosed after Close.
func (t *Tunnel) Accept() (net.Conn, error) {
	select {
	case conn := <-t.opened:
		return conn, nil
	case <-t.closed:
		return nil, net.ErrClosed
	}
}

// Close ends the tunnel; connections that were accepted stay.
func (t *Tunnel) Close() error {
	t.close()
	return nil
}

// Addr has no meaning: the tunnel has no address but the proxy's.
func (t *Tunnel) Addr() net.Addr { return tunnelAddr{} }

type tunnelAddr struct{}

func (tunnelAddr) Network() string { return "tcp" }
func (tunnelAddr) String() string  { return "tunnel" }

func (t *Tunnel) leadsTo(host string) bool {
	return t != nil && (slices.Contains(t.hosts, host) || t.also(host))
}

// open hands the client's connection over to whoever accepts.
func (t *Tunnel) open(w http.ResponseWriter) {
	conn, buf, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "this connection cannot become a tunnel: "+err.Error(), http.StatusBadGateway)
		return
	}
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		conn.Close()
		return
	}
	select {
	case t.opened <- tunnelled{conn, buf}:
	case <-t.closed:
		conn.Close()
	}
}

// tunnelled is a connection whose beginning the proxy may have read already.
type tunnelled struct {
	net.Conn
	reader io.Reader
}

func (c tunnelled) Read(p []byte) (int, error) { return c.reader.Read(p) }
