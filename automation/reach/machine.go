package reach

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"tombolo/config"
	"tombolo/internal/proxies"
)

// AddressesVariable names the environment variable with the addresses that the networks of
// clusters see this machine with, separated by commas, where they are others than those of
// its interfaces; "any" for a machine that reaches all of them.
const AddressesVariable = "TOMBOLO_ADDRESSES"

// everywhere is the variable's value for a machine that reaches all networks.
const everywhere = "any"

// Machine is what is known of the machine that is to reach a cluster.
type Machine struct {
	// Addresses that it has, without those of loopback.
	Addresses []netip.Addr
	// Everywhere says that it reaches every network.
	Everywhere bool
	// Proxy is what a URL is asked for through, as in http.Transport; nil for no proxy.
	Proxy func(*url.URL) (*url.URL, error)
}

// Local is this machine. env reads a variable of the environment. It fails when the
// variable with the addresses has something else.
func Local(env func(string) string) (Machine, error) {
	m := Machine{Proxy: proxies.Of(env)}
	text := strings.TrimSpace(env(AddressesVariable))
	switch text {
	case everywhere:
		m.Everywhere = true
	case "":
		m.Addresses = interfaces()
	default:
		for part := range strings.SplitSeq(text, ",") {
			a, err := netip.ParseAddr(strings.TrimSpace(part))
			if err != nil {
				return m, fmt.Errorf("read %s: %q is no address; write addresses with commas between them, such as 10.8.0.7, or %s", AddressesVariable, part, everywhere)
			}
			m.Addresses = append(m.Addresses, a.Unmap())
		}
	}
	return m, nil
}

// interfaces are the addresses of this machine's interfaces; none when they cannot be read.
func interfaces() []netip.Addr {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var out []netip.Addr
	for _, a := range all {
		prefix, err := netip.ParsePrefix(a.String())
		if err != nil || prefix.Addr().IsLoopback() || prefix.Addr().IsLinkLocalUnicast() {
			continue
		}
		out = append(out, prefix.Addr().Unmap())
	}
	return out
}

// proxyTo is the proxy that the API of a cluster is asked through, without its password.
func (m Machine) proxyTo(c *config.Cluster) (string, bool) {
	if m.Proxy == nil {
		return "", false
	}
	proxy, err := m.Proxy(endpointOf(c))
	if err != nil || proxy == nil {
		return "", false
	}
	return proxy.Scheme + "://" + proxy.Host, true
}

// transport asks as the machine does.
func (m Machine) transport() *http.Transport {
	t := &http.Transport{DisableKeepAlives: true}
	if m.Proxy != nil {
		t.Proxy = func(r *http.Request) (*url.URL, error) { return m.Proxy(r.URL) }
	}
	return t
}
