// Package proxy is the lab's HTTP proxy: it answers for the host names that
// exist only in the lab and refuses all others, so that nothing leaves the
// machine unnoticed.
package proxy

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
)

// Handler serves requests to each host of hosts by its handler, lets the hosts
// of the tunnel be reached by https, and refuses every other host with status
// 502 and a text that names it. tunnel may be nil.
func Handler(hosts map[string]http.Handler, tunnel *Tunnel) http.Handler {
	known := strings.Join(slices.Sorted(maps.Keys(hosts)), ", ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		handler, ok := hosts[strings.ToLower(host)]
		switch {
		case r.Method == http.MethodConnect && tunnel.leadsTo(strings.ToLower(host)):
			tunnel.open(w)
		case !ok || r.Method == http.MethodConnect:
			refuse(w, r.Method, host, known, ok)
		default:
			handler.ServeHTTP(w, r)
		}
	})
}

// refuse puts the reason into the status line as well: clients that ask for a
// tunnel show nothing else.
func refuse(w http.ResponseWriter, method, host, known string, served bool) {
	reason := fmt.Sprintf("the lab has no host %s; it serves %s", host, known)
	if served && method == http.MethodConnect {
		reason = fmt.Sprintf("the lab serves %s by http only; use http://%s", host, host)
	}
	hijacker, ok := w.(http.Hijacker)
	if method != http.MethodConnect || !ok {
		http.Error(w, reason, http.StatusBadGateway)
		return
	}
	conn, buf, err := hijacker.Hijack()
	if err != nil {
		http.Error(w, reason, http.StatusBadGateway)
		return
	}
	defer conn.Close()
	fmt.Fprintf(buf, "HTTP/1.1 502 Bad Gateway: %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s\n",
		reason, len(reason)+1, reason)
	_ = buf.Flush() // an error has no receiver: the client is gone
}
