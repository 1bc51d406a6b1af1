package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"

	"tombolo/lab/aws/ec2"
	"tombolo/lab/aws/eks"
	"tombolo/lab/azure/containerservice"
	"tombolo/lab/control"
	"tombolo/lab/controlplane"
	"tombolo/lab/proxy"
	"tombolo/lab/standin"
)

// Network is where this machine stands to the networks of a lab's clusters.
type Network = control.Network

// The networks.
const (
	OpenNetwork   = control.OpenNetwork
	ClosedNetwork = control.ClosedNetwork
)

// RunnerVariable is the variable of Env with the URL of the runner's proxy, in a closed
// network. Its user is the address that the runner has: another user is another runner.
const RunnerVariable = "TOMBOLO_LAB_RUNNER"

const (
	// outsideAddress is what a closed network sees this machine with: one for
	// documentation, by RFC 5737.
	outsideAddress = "203.0.113.7"
	// runnerAddress is the runner's, in a network of its own beside the clusters'.
	runnerAddress = "10.8.0.10"
	apiPort       = 443
)

// ErrOtherNetwork is wrapped where a lab has another network than was asked for.
var ErrOtherNetwork = errors.New("a lab keeps it: run `tombolo lab down`, which removes it, first")

func (l *Lab) network() setting[Network] {
	return setting[Network]{what: "network", file: l.paths().network(), variable: control.NetworkVariable, all: control.Networks()}
}

// ChooseNetwork gives a lab that is yet to be made its network. It fails with
// ErrOtherNetwork where the lab exists and has another.
func (l *Lab) ChooseNetwork(n Network) error { return l.network().choose(n, ErrOtherNetwork) }

// Network is the lab's. A lab that is yet to be made has the environment's, and OpenNetwork
// by default.
func (l *Lab) Network() (Network, error) { return l.network().get() }

// doors are the private endpoints of the clusters, and where each leads.
type doors struct {
	// closed says that there are any.
	closed bool

	mu sync.Mutex
	to map[string]string // host and port of the API, by cluster
}

// endpoint is the URL of a cluster's API for those outside.
func (d *doors) endpoint(cluster, api string, private bool) string {
	if !d.closed {
		return api
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.to == nil {
		d.to = map[string]string{}
	}
	d.to[cluster] = strings.TrimPrefix(api, "https://")
	if !private {
		return api
	}
	return "https://" + controlplane.PrivateHost(cluster)
}

// behind is where the API of a cluster is; "" when there is no such cluster.
func (d *doors) behind(cluster string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.to[cluster]
}

// runner is the proxy inside. A request's user is the address that it comes from, and its
// password the lab's token.
func (d *daemon) runner() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := &http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
		user, given, _ := asked.BasicAuth()
		from, err := netip.ParseAddr(user)
		if err != nil || !equal(given, d.token) {
			w.Header().Set("Proxy-Authenticate", `Basic realm="lab"`)
			http.Error(w, "the lab's runner wants its address and the lab's token: see "+RunnerVariable+" in `tombolo lab env`", http.StatusProxyAuthRequired)
			return
		}
		proxy.Connect(w, r, func(ctx context.Context, host string) (net.Conn, error) { return d.enter(ctx, host, from) })
	})
}

// enter connects to the API of a cluster, if it lets the address in.
func (d *daemon) enter(ctx context.Context, host string, from netip.Addr) (net.Conn, error) {
	name, ok := controlplane.ClusterOf(host)
	address := d.clusters.doors.behind(name)
	if !ok || address == "" {
		return nil, fmt.Errorf("the lab has no private endpoint %s", host)
	}
	if reason := d.keepsOut(name, from); reason != "" {
		return nil, errors.New(reason)
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", address)
}

// keepsOut says why the private endpoint of a cluster is silent to an address; "" when it is not.
// That of AKS takes whoever reaches the network, and the runner's is connected to all of them:
// https://learn.microsoft.com/azure/aks/private-clusters
func (d *daemon) keepsOut(name string, from netip.Addr) string {
	if r := containerservice.ClusterNamed(d.azure, name); r != nil {
		if r.Outputs.Sub("apiServerAccessProfile").Boolean("enablePrivateCluster") {
			return ""
		}
		return noDoor
	}
	cloud := d.accounts.with(name)
	cluster := eks.ClusterNamed(cloud, name)
	if cluster == nil {
		return "the lab has no cluster " + name
	}
	return refuses(cloud, cluster.Region, cluster.Outputs.Sub("vpcConfig"), from)
}

const noDoor = "the cluster has no private endpoint"

// refuses says why the private endpoint of a cluster in AWS is silent to an address; "" when it is
// not.
func refuses(cloud *standin.Cloud, region string, config standin.Props, from netip.Addr) string {
	group := config.Str("clusterSecurityGroupId")
	switch {
	case !config.Boolean("endpointPrivateAccess"):
		return noDoor
	case !ec2.Admits(cloud, region, group, from, apiPort):
		return fmt.Sprintf("no rule of %s lets %s in at port %d", group, from, apiPort)
	}
	return ""
}
