package proxy

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// dialTimeout bounds a connection of Connect's.
const dialTimeout = 10 * time.Second

// Connect serves a request for a connection to a host: it joins the client and what dial
// connects to, until one of them ends. An error of dial becomes status 504 with its text,
// which is all that clients show.
func Connect(w http.ResponseWriter, r *http.Request, dial func(ctx context.Context, host string) (net.Conn, error)) {
	if r.Method != http.MethodConnect {
		http.Error(w, "this proxy makes connections only", http.StatusMethodNotAllowed)
		return
	}
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	ctx, cancel := context.WithTimeout(r.Context(), dialTimeout)
	defer cancel()
	server, failed := dial(ctx, strings.ToLower(host))
	client, buf, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "this connection cannot become a tunnel: "+err.Error(), http.StatusBadGateway)
		if failed == nil {
			server.Close()
		}
		return
	}
	defer client.Close()
	if failed != nil {
		_, _ = io.WriteString(client, "HTTP/1.1 504 "+failed.Error()+"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n") // the client is gone
		return
	}
	defer server.Close()
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	join(tunnelled{client, buf}, server)
}

// join copies both ways, and returns when one has ended: the other is closed then.
func join(a, b net.Conn) {
	ended := make(chan struct{}, 2)
	for _, way := range []struct{ to, from net.Conn }{{a, b}, {b, a}} {
		go func() {
			_, _ = io.Copy(way.to, way.from) // a connection that breaks has ended
			ended <- struct{}{}
		}()
	}
	<-ended
}
