// Package company is the network of a company as a cluster sees it that has no way to the
// internet: a proxy that lets few hosts be reached and opens TLS to look inside, and a mirror
// of image registries behind it.
package company

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"tombolo/lab/proxy"
)

// The hosts of the company.
const (
	// ProxyHost is the proxy, with its port.
	ProxyHost = "proxy.corp.example:3128"
	// MirrorHost has the images of other registries, below a path for each.
	MirrorHost = "mirror.corp.example"
	// ChartsHost has the charts of other repositories.
	ChartsHost = "charts.corp.example"
)

// MirrorUser may read the mirror.
const MirrorUser = "robot"

// Proxy is the company's proxy. Make it with NewProxy.
type Proxy struct {
	hosts   map[string]http.Handler
	tunnel  *proxy.Tunnel
	handler http.Handler

	mu  sync.Mutex
	log io.Writer
}

// NewProxy makes a proxy that lets hosts be reached and refuses all others. What it is asked
// for goes to log, a line for each request: the verdict and the host.
func NewProxy(hosts map[string]http.Handler, log io.Writer) *Proxy {
	tunnel := proxy.NewTunnel(slices.Collect(maps.Keys(hosts))...)
	return &Proxy{hosts: hosts, tunnel: tunnel, handler: proxy.Handler(hosts, tunnel), log: log}
}

// Tunnel has the connections by which hosts are asked for by https. Whoever serves them has
// certificates of the company's authority for Hosts.
func (p *Proxy) Tunnel() net.Listener { return p.tunnel }

// Hosts that the proxy lets be reached, sorted.
func (p *Proxy) Hosts() []string { return slices.Sorted(maps.Keys(p.hosts)) }

// Inside serves what comes out of the tunnel, by its host.
func (p *Proxy) Inside() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler, ok := p.hosts[nameOf(r.Host)]
		if !ok {
			http.Error(w, "this connection was opened for another host", http.StatusMisdirectedRequest)
			return
		}
		handler.ServeHTTP(w, r)
	})
}

// ServeHTTP lets a request through, or refuses it.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host := nameOf(r.Host)
	if _, ok := p.hosts[host]; !ok {
		p.tell("refused", host)
		http.Error(w, "the company's proxy does not let "+host+" be reached", http.StatusForbidden)
		return
	}
	p.tell("allowed", host)
	p.handler.ServeHTTP(w, r)
}

func (p *Proxy) tell(verdict, host string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.log, "%s %s\n", verdict, host)
}

func nameOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(host)
}

// NoWay stands for a network that leads nowhere: what has no proxy is sent here, and learns
// that nothing outside can be reached.
func NoWay(w http.ResponseWriter, r *http.Request) {
	http.Error(w, "there is no way from this network to "+nameOf(r.Host)+": nothing was set to go by the proxy "+ProxyHost, http.StatusBadGateway)
}

// Mirror is a registry that has every image below the paths of the registries that it
// mirrors. It has no layers: nothing is ever run of them. Those of a path with true are for
// who knows the password, the others for the whole network.
func Mirror(password func() (string, error), paths map[string]bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rest, ok := strings.CutPrefix(r.URL.Path, "/v2/")
		registry, image, _ := strings.Cut(rest, "/")
		private, known := paths[registry]
		want, err := password()
		user, given, _ := r.BasicAuth()
		switch {
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		case !ok || !known || !strings.Contains(image, "/manifests/"):
			http.Error(w, `{"errors":[{"code":"NAME_UNKNOWN","message":"repository name not known to registry"}]}`, http.StatusNotFound)
		case private && (user != MirrorUser || given != want):
			w.Header().Set("WWW-Authenticate", `Basic realm="mirror"`)
			http.Error(w, `{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}`, http.StatusUnauthorized)
		default:
			w.Header().Set("Content-Type", "application/vnd.oci.image.index.v1+json")
		}
	})
}
