package lab

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"

	"tombolo/lab/aws/eks"
	"tombolo/lab/charts"
	"tombolo/lab/company"
	"tombolo/lab/controllers"
	"tombolo/lab/kubelet"
	"tombolo/lab/pki"
)

const (
	// CompanyCAVariable is the variable of Env with the file of the company's certificates,
	// in a proxied network: its proxy opens TLS, and signs with these.
	CompanyCAVariable = "TOMBOLO_LAB_COMPANY_CA"
	// MirrorPasswordVariable is the variable of Env with the password of the user robot at
	// the company's mirror of images, in a proxied network.
	MirrorPasswordVariable = "TOMBOLO_MIRROR_PASSWORD"
)

// companyLog is where the company's proxy writes what it is asked for, among the processes'
// logs.
const companyLog = "company-proxy"

// mirrored are the paths of the company's mirror, one for each registry, and whether it takes
// a password to read there: nodes have none.
var mirrored = map[string]bool{"ghcr": true, "quay": false, "docker-hub": false, "k8s": false}

// companyNetwork is a network without a way to the internet.
type companyNetwork struct {
	proxy     *company.Proxy
	authority *pki.Authority
	log       *os.File
}

// newCompany makes the company's side of a proxied network.
func (d *daemon) newCompany() (*companyNetwork, error) {
	p := d.lab.paths()
	if _, err := secret(p.mirrorPassword()); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(p.logs(), 0o755); err != nil {
		return nil, fmt.Errorf("make the lab's directories: %w", err)
	}
	log, err := os.OpenFile(filepath.Join(p.logs(), companyLog+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log of the company's proxy: %w", err)
	}
	c := &companyNetwork{log: log}
	c.proxy = company.NewProxy(map[string]http.Handler{
		GitHost:            d.gitHandler(),
		company.ChartsHost: charts.Handler(p.charts()),
		company.MirrorHost: company.Mirror(func() (string, error) { return secret(p.mirrorPassword()) }, mirrored),
	}, log)
	if c.authority, err = pki.Open(p.company(), "company"); err != nil {
		return nil, err
	}
	return c, c.authority.Issue("hosts", pki.Subject{CommonName: "company", DNSNames: c.proxy.Hosts()})
}

// proxies that processes and nodes may name.
func (d *daemon) proxies() map[string]string {
	return map[string]string{company.ProxyHost: proxyFor(d.ports.company, d.token)}
}

func (d *daemon) egress() *controllers.Company {
	return &controllers.Company{Proxies: d.proxies(), NoWay: proxyFor(d.ports.noWay, d.token)}
}

// kubelet of the nodes in a proxied network.
func (d *daemon) kubelet() *kubelet.Manager {
	return kubelet.New(kubelet.Options{
		Proxies: d.proxies(), Log: d.log,
		UserData: func(cluster string, node *corev1.Node) (string, error) {
			group := node.Labels["eks.amazonaws.com/nodegroup"]
			if group == "" {
				return "", fmt.Errorf("node %s is of no node group, and the lab does not know its user data", node.Name)
			}
			return eks.UserData(d.accounts.sts().Of(d.clusters.owner(cluster)), cluster, group)
		},
	})
}

// serve opens the company's proxy, and the one that leads nowhere, until close.
func (c *companyNetwork) serve(d *daemon, failed chan<- error) (closeAll func(), _ error) {
	trust, err := c.authority.TLS("hosts")
	if err != nil {
		return nil, err
	}
	inside := &http.Server{Handler: c.proxy.Inside(), TLSConfig: trust, ReadHeaderTimeout: 10 * time.Second}
	outer := &http.Server{Addr: loopback(d.ports.company), Handler: withProxyToken(d.token, c.proxy), ReadHeaderTimeout: 10 * time.Second}
	nowhere := &http.Server{Addr: loopback(d.ports.noWay), Handler: http.HandlerFunc(company.NoWay), ReadHeaderTimeout: 10 * time.Second}
	go func() { failed <- inside.ServeTLS(c.proxy.Tunnel(), "", "") }()
	go func() { failed <- outer.ListenAndServe() }()
	go func() { failed <- nowhere.ListenAndServe() }()
	return func() {
		for _, s := range []*http.Server{outer, nowhere, inside} {
			s.Close()
		}
		c.log.Close()
	}, nil
}
