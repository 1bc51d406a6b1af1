package reach

import (
	"encoding/base64"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config"
)

func clusterWith(e config.Endpoint) *config.Cluster {
	if e.Private == nil {
		e.Private = new(true)
	}
	return &config.Cluster{Name: "demo", Cloud: config.Cloud{Region: "eu-central-1"}, Kubernetes: config.Kubernetes{Endpoint: e}}
}

func at(addresses ...string) Machine {
	var m Machine
	for _, a := range addresses {
		m.Addresses = append(m.Addresses, netip.MustParseAddr(a))
	}
	return m
}

// behind is a machine with a proxy by its environment.
func behind(t *testing.T, env map[string]string) Machine {
	t.Helper()
	m, err := Local(func(key string) string { return env[key] })
	assert.NilError(t, err)
	return m
}

func TestJudge(t *testing.T) {
	for _, test := range []struct {
		name     string
		endpoint config.Endpoint
		machine  Machine
		verdict  Verdict
		words    string
	}{
		{
			"the default",
			config.Endpoint{},
			at("192.168.1.5", "fe80::1"), Unreachable,
			"the Kubernetes API of demo will be reachable inside its network from the cluster's own nodes alone; this machine is not there: it has 192.168.1.5",
		},
		{"no address", config.Endpoint{}, at(), Unreachable, "it has no address but loopback"},
		{
			"in a block",
			config.Endpoint{PrivateCIDRs: []string{"10.9.0.0/16", "10.8.0.0/16"}},
			at("192.168.1.5", "10.8.0.7"), Reachable,
			"inside its network from the cluster's own nodes, 10.9.0.0/16 and 10.8.0.0/16; this machine has 10.8.0.7, in 10.8.0.0/16",
		},
		{"in no block", config.Endpoint{PrivateCIDRs: []string{"10.9.0.0/16"}}, at("10.8.0.7", "10.8.0.8", "10.8.0.9", "10.8.1.0", "10.8.1.1", "10.8.1.2"), Unreachable, "10.8.1.0 and 2 more"},
		{
			"by a group",
			config.Endpoint{PrivateCIDRs: []string{"10.9.0.0/16"}, SecurityGroups: []string{"sg-1"}},
			at("10.8.0.7"), Unknown,
			"from the cluster's own nodes, 10.9.0.0/16 and the members of sg-1; which security groups this machine has cannot be told from here",
		},
		{
			"public",
			config.Endpoint{Public: true, AllowedCIDRs: []string{"203.0.113.0/24"}},
			at("192.168.1.5"), Unknown,
			"on the internet from 203.0.113.0/24, and inside its network from the cluster's own nodes; with which public address this machine is seen cannot be told from here",
		},
		{
			"public alone",
			config.Endpoint{Private: new(false), Public: true, AllowedCIDRs: []string{"203.0.113.0/24"}},
			at("203.0.113.7"), Reachable,
			"on the internet from 203.0.113.0/24; this machine has 203.0.113.7, in 203.0.113.0/24",
		},
		{"public for everyone", config.Endpoint{Public: true, OpenToTheWorld: true, AllowedCIDRs: []string{"0.0.0.0/0"}}, at("192.168.1.5"), Reachable, "that is everywhere"},
		// Who is told that the public endpoint lets nobody in from here is not stopped: it is not seen.
		{"public for others", config.Endpoint{Public: true, AllowedCIDRs: []string{"203.0.113.0/24"}}, at("198.51.100.7"), Unknown, ""},
		{
			"a tunnel",
			config.Endpoint{},
			behind(t, map[string]string{"HTTPS_PROXY": "socks5://ops:secret@127.0.0.1:1080", AddressesVariable: "192.168.1.5"}), Unknown,
			"it is asked through the proxy socks5://127.0.0.1:1080, and what that one reaches cannot be seen from here",
		},
		{
			"a proxy for others",
			config.Endpoint{},
			behind(t, map[string]string{"https_proxy": "http://proxy:3128", "NO_PROXY": ".eks.amazonaws.com", AddressesVariable: "192.168.1.5"}), Unreachable,
			"it has 192.168.1.5",
		},
		{"everywhere", config.Endpoint{}, behind(t, map[string]string{AddressesVariable: "any"}), Reachable, "as TOMBOLO_ADDRESSES says"},
		{"an address behind a gateway", config.Endpoint{PrivateCIDRs: []string{"10.8.0.0/16"}}, behind(t, map[string]string{AddressesVariable: "10.7.0.1, 10.8.0.7"}), Reachable, "10.8.0.7"},
	} {
		t.Run(test.name, func(t *testing.T) {
			j := Judge(clusterWith(test.endpoint), test.machine)
			assert.Check(t, is.Equal(j.Verdict, test.verdict))
			assert.Check(t, is.Contains(j.Words("demo"), test.words))
			assert.Check(t, is.Equal(j.Remedy == "", j.Verdict == Reachable), j.Remedy)
			assert.Check(t, !strings.Contains(j.Words("demo"), "secret"))
		})
	}
}

// TestJudgeAzure: a private API of AKS is open to its network, and a public one has no
// private address.
func TestJudgeAzure(t *testing.T) {
	for _, test := range []struct {
		name     string
		endpoint config.Endpoint
		machine  Machine
		verdict  Verdict
		words    string
		remedy   string
	}{
		{"in the network", config.Endpoint{}, at("10.20.0.7"), Reachable, "from its network, and from networks that are connected to it and find its name; this machine has 10.20.0.7, in 10.20.0.0/16", ""},
		{"elsewhere", config.Endpoint{}, at("192.168.1.5"), Unknown, "whether this machine's network is connected to it cannot be told from here", "by peering or a VPN"},
		{"public", config.Endpoint{Public: true, AllowedCIDRs: []string{"203.0.113.0/24"}}, at("203.0.113.7"), Reachable, "on the internet from 203.0.113.0/24, and from its own nodes; this machine has 203.0.113.7", ""},
		{
			"a proxy for the names of Azure",
			config.Endpoint{},
			behind(t, map[string]string{"HTTPS_PROXY": "http://proxy:3128", "NO_PROXY": ".privatelink.germanywestcentral.azmk8s.io", AddressesVariable: "10.20.0.7"}),
			Reachable, "10.20.0.7", "",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := clusterWith(test.endpoint)
			c.Cloud, c.Network.CIDR = config.Cloud{Provider: config.Azure, Region: "germanywestcentral"}, "10.20.0.0/16"
			j := Judge(c, test.machine)
			assert.Check(t, is.Equal(j.Verdict, test.verdict))
			assert.Check(t, is.Contains(j.Words("demo"), test.words))
			assert.Check(t, is.Contains(j.Remedy, test.remedy))
		})
	}
}

func TestRemedies(t *testing.T) {
	said := Judge(clusterWith(config.Endpoint{}), at("192.168.1.5")).Remedy
	for _, part := range []string{
		"kubernetes.endpoint.privateCidrs", "a machine in the network", "HTTPS_PROXY", "public: true", "docs/guide/private.md", "--assume-reachable", AddressesVariable,
	} {
		assert.Check(t, is.Contains(said, part))
	}
}

func TestAddressesOfTheEnvironment(t *testing.T) {
	_, err := Local(func(key string) string { return map[string]string{AddressesVariable: "10.8.0.7,home"}[key] })
	assert.Error(t, err, `read TOMBOLO_ADDRESSES: "home" is no address; write addresses with commas between them, such as 10.8.0.7, or any`)
	m, err := Local(func(string) string { return "" })
	assert.NilError(t, err)
	for _, a := range m.Addresses {
		assert.Check(t, !a.IsLoopback(), "%s", a)
	}
}

// TestTry connects for real: to a server, past its end, to one with another authority, and
// through a proxy.
func TestTry(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "who are you?", http.StatusUnauthorized) }))
	t.Cleanup(server.Close)
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	c := clusterWith(config.Endpoint{PrivateCIDRs: []string{"10.8.0.0/16"}})
	try := func(m Machine, endpoint, ca string) Judgement { return Try(t.Context(), c, m, endpoint, ca) }

	assert.Check(t, is.DeepEqual(try(Machine{}, server.URL, ca), Judgement{Verdict: Reachable, Silent: true, Why: "it answers"}))
	assert.Check(t, is.Equal(try(Machine{Everywhere: true}, "https://nowhere.invalid", ca).Verdict, Reachable))

	closed, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	assert.NilError(t, closed.Close())
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "", http.StatusGatewayTimeout) }))
	t.Cleanup(refuses.Close)
	proxy, err := url.Parse(refuses.URL)
	assert.NilError(t, err)
	for _, test := range []struct {
		machine       Machine
		endpoint, ca  string
		words, remedy string
	}{
		{Machine{}, "https://" + closed.Addr().String(), ca, "the Kubernetes API of demo does not answer this machine: the connection was refused; by the cluster file it is reachable inside its network from the cluster's own nodes and 10.8.0.0/16", "privateCidrs"},
		{Machine{}, server.URL, "", "what answered is not the cluster", ""},
		{Machine{Proxy: func(*url.URL) (*url.URL, error) { return proxy, nil }}, server.URL, ca, "through the proxy " + refuses.URL + ": Gateway Timeout", "HTTPS_PROXY"},
	} {
		j := try(test.machine, test.endpoint, test.ca)
		assert.Check(t, is.Equal(j.Verdict, Unreachable))
		assert.Check(t, is.Contains(j.Words("demo"), test.words))
		assert.Check(t, is.Contains(j.Remedy, test.remedy))
	}
}
