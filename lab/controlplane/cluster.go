package controlplane

import (
	"context"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"tombolo/lab/pki"
	"tombolo/lab/ports"
	"tombolo/lab/process"
	"tombolo/lab/standin"
)

// cluster is one control plane's files and ports.
type cluster struct {
	spec  standin.ClusterSpec
	dir   string
	tools string
	home  string
	ca    *pki.Authority
	ports clusterPorts
	// pace is that of Options.
	pace float64
	// shared is the store of a light control plane; nil for one with its own.
	shared *sharedEtcd
}

type clusterPorts struct {
	api, controllers, scheduler, kwok int
	etcd                              etcdPorts
}

func (c *cluster) choosePorts(book *ports.Book) error {
	name := c.spec.Name + "-"
	wanted := map[string]*int{name + "kube-apiserver": &c.ports.api}
	if c.shared == nil {
		maps.Copy(wanted, map[string]*int{
			name + "etcd": &c.ports.etcd.client, name + "etcd-peer": &c.ports.etcd.peer,
			name + "kube-controller-manager": &c.ports.controllers, name + "kube-scheduler": &c.ports.scheduler, name + "kwok": &c.ports.kwok,
		})
	}
	return book.Fill(wanted)
}

func (c *cluster) endpoint() string { return local("https", c.ports.api) }

func local(scheme string, port int) string {
	return scheme + "://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// The names of the certificates and keys in a cluster's pki directory.
const (
	servingCert       = "serving" // every server of the control plane
	etcdClientCert    = "etcd-client"
	adminCert         = "admin"
	controllersCert   = "kube-controller-manager"
	schedulerCert     = "kube-scheduler"
	serviceAccountKey = "service-account"
)

func (c *cluster) issueCertificates() (err error) {
	if c.ca, err = pki.Open(filepath.Join(c.dir, "pki"), "lab cluster "+c.spec.Name); err != nil {
		return err
	}
	serving := pki.Subject{
		CommonName: "kube-apiserver",
		DNSNames:   []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local", PrivateHost(c.spec.Name)},
		IPs:        []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	if services, err := netip.ParsePrefix(c.spec.ServiceCIDR); err == nil {
		serving.IPs = append(serving.IPs, services.Masked().Addr().Next().AsSlice())
	}
	for name, subject := range map[string]pki.Subject{
		servingCert:     serving,
		etcdClientCert:  {CommonName: "kube-apiserver"},
		adminCert:       {CommonName: "lab", Organizations: []string{"system:masters"}},
		controllersCert: {CommonName: "system:kube-controller-manager"},
		schedulerCert:   {CommonName: "system:kube-scheduler"},
	} {
		if err := c.ca.Issue(name, subject); err != nil {
			return err
		}
	}
	return c.ca.IssueKey(serviceAccountKey)
}

// run starts the processes: the API on its store, then what needs the API, all
// at once. A light control plane is the API alone.
func (c *cluster) run(ctx context.Context, s *process.Supervisor) error {
	if c.shared != nil {
		return c.runAPI(ctx, s)
	}
	if err := c.runEtcd(ctx, s); err != nil {
		return err
	}
	if err := c.runAPI(ctx, s); err != nil {
		return err
	}
	return c.runControllers(ctx, s)
}

func (c *cluster) runEtcd(ctx context.Context, s *process.Supervisor) error {
	trust, err := c.ca.TLS(etcdClientCert)
	if err != nil {
		return err
	}
	etcd := c.process("etcd", c.etcdArgs(), c.ports.etcd.client, c.ports.etcd.peer)
	etcd.Healthy = process.HTTPHealthy(local("https", c.ports.etcd.client)+"/readyz", trust)
	return s.Start(ctx, etcd)
}

func (c *cluster) runAPI(ctx context.Context, s *process.Supervisor) error {
	admin, err := c.ca.TLS(adminCert)
	if err != nil {
		return err
	}
	api := c.process("kube-apiserver", c.apiServerArgs(), c.ports.api)
	api.Healthy = process.HTTPHealthy(c.endpoint()+"/readyz?verbose", admin)
	return s.Start(ctx, api)
}

func (c *cluster) runControllers(ctx context.Context, s *process.Supervisor) error {
	admin, err := c.ca.TLS(adminCert)
	if err != nil {
		return err
	}
	controllers := c.process("kube-controller-manager", c.controllerManagerArgs(), c.ports.controllers)
	controllers.Healthy = process.HTTPHealthy(local("https", c.ports.controllers)+"/healthz", admin)
	scheduler := c.process("kube-scheduler", c.schedulerArgs(), c.ports.scheduler)
	scheduler.Healthy = process.HTTPHealthy(local("https", c.ports.scheduler)+"/healthz", admin)
	args, err := c.kwokArgs()
	if err != nil {
		return err
	}
	kwok := c.process("kwok", args, c.ports.kwok)
	kwok.Healthy = process.HTTPHealthy(local("http", c.ports.kwok)+"/healthz", nil)
	g, ctx := errgroup.WithContext(ctx)
	for _, spec := range []process.Spec{controllers, scheduler, kwok} {
		g.Go(func() error { return s.Start(ctx, spec) })
	}
	return g.Wait()
}

// process is what the cluster's processes have in common.
func (c *cluster) process(tool string, args []string, listens ...int) process.Spec {
	return process.Spec{
		Name: c.spec.Name + "-" + tool,
		Path: filepath.Join(c.tools, tool),
		Args: args,
		Dir:  c.dir,
		Env: []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + c.home, "TMPDIR=" + c.home,
		},
		Ports:   listens,
		Restart: true,
		// etcd has what matters: open watches need not drain.
		StopGrace: 3 * time.Second,
		// Several clusters that start at once on a busy machine take more than a minute.
		StartTimeout: 3 * time.Minute,
	}
}

func (c *cluster) file(name string) string { return filepath.Join(c.dir, name) }
