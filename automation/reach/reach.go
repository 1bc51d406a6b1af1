// Package reach judges whether a machine reaches the Kubernetes API of a cluster: by the
// cluster file before there is a cluster, and by a connection afterwards.
package reach

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"tombolo/config"
	"tombolo/config/awsfacts"
	"tombolo/internal/wording"
)

// Verdict says whether a machine reaches an API.
type Verdict string

// The verdicts.
const (
	// Reachable: it does, or by all that can be seen it will.
	Reachable Verdict = "reachable"
	// Unknown: it cannot be seen from here.
	Unknown Verdict = "unknown"
	// Unreachable: it does not, or by all that can be seen it will not.
	Unreachable Verdict = "unreachable"
)

// Judgement of a machine and a cluster.
type Judgement struct {
	Verdict Verdict
	// From is from where the API is reachable by the cluster file, as a part of a
	// sentence; "" after a connection.
	From string
	// Why says what is known of this machine.
	Why string
	// Remedy is what to do; "" when it is reachable.
	Remedy string
	// Silent says that nobody needs to be told: the machine reaches everything, or what is
	// there has answered.
	Silent bool
}

// toEverywhere says why a machine reaches everything.
const toEverywhere = "this machine reaches every network, as " + AddressesVariable + " says"

// guide is where the tunnels are.
const guide = "docs/guide/private.md"

// Judge says by the cluster file whether the machine will reach the API of a cluster that is
// yet to be made. It asks nobody.
func Judge(c *config.Cluster, m Machine) Judgement {
	e := c.Kubernetes.Endpoint
	j := Judgement{From: From(c)}
	proxy, through := m.proxyTo(c)
	switch {
	case m.Everywhere:
		j.Verdict, j.Silent, j.Why = Reachable, true, toEverywhere
	case through:
		j.Verdict, j.Why = Unknown, "it is asked through the proxy "+proxy+", and what that one reaches cannot be seen from here"
		j.Remedy = "see that the proxy is in one of these places"
	case e.Public:
		j.judgePublic(e, m)
	case opensToNetwork(c):
		j.judgeNetwork(c, m)
	default:
		j.judgePrivate(c, m)
	}
	return j
}

// opensToNetwork says that a private API takes whatever reaches the network, as Azure's does:
// https://learn.microsoft.com/azure/aks/private-clusters. On AWS its security group decides.
func opensToNetwork(c *config.Cluster) bool { return c.Cloud.Provider == config.Azure }

// From is from where the API of a cluster is reachable by its file, as a part of a sentence.
func From(c *config.Cluster) string {
	e := c.Kubernetes.Endpoint
	if opensToNetwork(c) {
		if e.Public {
			return "on the internet from " + wording.And(e.AllowedCIDRs) + ", and from its own nodes"
		}
		return "from its network, and from networks that are connected to it and find its name"
	}
	inside := slices.Concat([]string{"the cluster's own nodes"}, e.PrivateCIDRs, members(e.SecurityGroups))
	private := "inside its network from " + wording.And(inside)
	if len(inside) == 1 && !e.Public {
		private += " alone"
	}
	if !e.Public {
		return private
	}
	public := "on the internet from " + wording.And(e.AllowedCIDRs)
	if e.Private != nil && !*e.Private {
		return public
	}
	return public + ", and " + private
}

func members(groups []string) []string {
	out := make([]string, len(groups))
	for i, g := range groups {
		out[i] = "the members of " + g
	}
	return out
}

// judgePublic: which public address a machine has behind a gateway is not seen on it, and a
// missing one is no reason to stop.
func (j *Judgement) judgePublic(e config.Endpoint, m Machine) {
	if address, block, found := m.in(e.AllowedCIDRs); found {
		j.Verdict, j.Why = Reachable, fmt.Sprintf("this machine has %s, in %s", address, block)
		return
	}
	if slices.Contains(e.AllowedCIDRs, "0.0.0.0/0") {
		j.Verdict, j.Why = Reachable, "that is everywhere"
		return
	}
	j.Verdict, j.Why = Unknown, "with which public address this machine is seen cannot be told from here"
	j.Remedy = "see that the address is in allowedCidrs"
}

func (j *Judgement) judgePrivate(c *config.Cluster, m Machine) {
	e := c.Kubernetes.Endpoint
	if address, block, found := m.in(e.PrivateCIDRs); found {
		j.Verdict, j.Why = Reachable, fmt.Sprintf("this machine has %s, in %s", address, block)
		return
	}
	if len(e.SecurityGroups) > 0 {
		j.Verdict, j.Why = Unknown, "which security groups this machine has cannot be told from here"
		j.Remedy = "see that it is a member of " + wording.Or(e.SecurityGroups)
		return
	}
	j.Verdict = Unreachable
	j.Why = "this machine is not there: it has no address but loopback"
	if has := m.text(); has != "" {
		j.Why = "this machine is not there: it has " + has
	}
	j.Remedy = remedies(c)
}

// judgeNetwork: whether a machine elsewhere reaches the network, and finds the API's name
// there, is not seen on it.
func (j *Judgement) judgeNetwork(c *config.Cluster, m Machine) {
	if c.Network.CIDR != "" {
		if address, block, found := m.in([]string{c.Network.CIDR}); found {
			j.Verdict, j.Why = Reachable, fmt.Sprintf("this machine has %s, in %s", address, block)
			return
		}
	}
	j.Verdict, j.Why = Unknown, "whether this machine's network is connected to it cannot be told from here"
	j.Remedy = remedies(c)
}

// remedies are the ways to a private endpoint.
func remedies(c *config.Cluster) string {
	e := c.Kubernetes.Endpoint
	if opensToNetwork(c) {
		ways := []string{
			"run tombolo on a machine in the network, or in one that is connected to it by peering or a VPN and finds the API's private name",
			"set HTTPS_PROXY to a tunnel into the network",
		}
		if e.Public {
			ways = []string{"see that the address of this machine is in kubernetes.endpoint.allowedCidrs"}
		}
		return wording.Or(ways) + " (" + guide + "); if there is a way that cannot be seen from here, add --assume-reachable or set " + AddressesVariable
	}
	ways := []string{
		"add the network of this machine to kubernetes.endpoint.privateCidrs",
		"run tombolo on a machine in the network, with its block there",
		"set HTTPS_PROXY to a tunnel into the network",
	}
	if !e.Public {
		ways = append(ways, "set public: true with allowedCidrs")
	}
	return wording.Or(ways) + " (" + guide + " has the commands); if there is a way that cannot be seen from here, such as address translation " +
		"between a VPN and the network, add --assume-reachable or set " + AddressesVariable
}

// Words are the judgement as a sentence about the cluster.
func (j Judgement) Words(cluster string) string {
	if j.From == "" {
		return fmt.Sprintf("the Kubernetes API of %s does not answer this machine: %s", cluster, j.Why)
	}
	return fmt.Sprintf("the Kubernetes API of %s will be reachable %s; %s", cluster, j.From, j.Why)
}

// endpointOf is a URL as the API of a cluster gets it, for the rules of proxies:
// https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html and
// https://learn.microsoft.com/azure/aks/private-clusters
func endpointOf(c *config.Cluster) *url.URL {
	region := c.Cloud.Region
	if c.Cloud.Provider == config.Azure {
		host := c.Name + "-01234567"
		if c.Kubernetes.Endpoint.Public {
			return &url.URL{Scheme: "https", Host: host + ".hcp." + region + ".azmk8s.io"}
		}
		return &url.URL{Scheme: "https", Host: host + ".privatelink." + region + ".azmk8s.io"}
	}
	host := "0123456789abcdef0123456789abcdef.gr7." + region + ".eks.amazonaws.com"
	if awsfacts.Partition(region) == "aws-cn" {
		host += ".cn"
	}
	return &url.URL{Scheme: "https", Host: host}
}

// in finds an address of the machine in one of the blocks.
func (m Machine) in(blocks []string) (address netip.Addr, block string, found bool) {
	for _, text := range blocks {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			continue // the file's rules have said so
		}
		for _, a := range m.Addresses {
			if prefix.Bits() > 0 && prefix.Contains(a) {
				return a, text, true
			}
		}
	}
	return netip.Addr{}, "", false
}

// maxShown bounds the addresses in a message: a machine with containers has dozens.
const maxShown = 4

func (m Machine) text() string {
	var all []string
	for _, a := range m.Addresses {
		if a.Is4() {
			all = append(all, a.String())
		}
	}
	if n := len(all); n > maxShown {
		all = append(all[:maxShown], fmt.Sprintf("%d more", n-maxShown))
	}
	return strings.TrimSpace(wording.And(all))
}
