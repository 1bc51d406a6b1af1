// Package controlplane runs Kubernetes control planes as host processes: etcd,
// kube-apiserver, kube-controller-manager, kube-scheduler, and kwok, which
// plays the nodes. It is what stands behind the lab's EKS and AKS.
package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/mod/semver"

	"tombolo/lab/ports"
	"tombolo/lab/process"
	"tombolo/lab/reconcile"
	"tombolo/lab/standin"
)

// Version of the control plane's binaries; older minor versions down to oldest are
// emulated, as --emulated-version of `kube-apiserver --help` says.
const (
	Version = "1.36"
	oldest  = "1.33"
)

// Options of a Manager; but for Light and Log, all are required.
type Options struct {
	// Dir holds a directory per cluster: certificates, data, admin kubeconfig.
	Dir string
	// Tools is the directory of the binaries.
	Tools string
	// Home is HOME of the processes.
	Home string
	// Supervisor runs the processes.
	Supervisor *process.Supervisor
	// Ports are remembered here.
	Ports *ports.Book
	// TokenReviewURL returns where a cluster's API server has bearer tokens
	// reviewed, an https URL.
	TokenReviewURL func(cluster string) string
	// TokenReviewCA is the authority of that URL, PEM.
	TokenReviewCA []byte
	// TokenReviewBy is the bearer token of requests to that URL.
	TokenReviewBy string
	// Light runs control planes that are an API server and nothing else, all on
	// one etcd. Their nodes and workloads are said to be ready, and their
	// namespaces emptied when they are deleted; nothing is scheduled, and what
	// belongs to a deleted object stays. Default: whole ones.
	Light bool
	// Pace is the share of the typical time that nodes take to boot, and pods to have their images. Light control
	// planes have neither. Default: 0, no time.
	Pace float64
	// Log says what could not be done in the background. Default: nothing.
	Log *slog.Logger
}

// Manager runs control planes, one per cluster.
type Manager struct {
	o Options

	mu    sync.Mutex
	locks map[string]*sync.Mutex         // one operation at a time on each cluster
	specs map[string]standin.ClusterSpec // what the running clusters were started as

	shared     *sharedEtcd // nil unless Light
	caretakers reconcile.Clusters[*caretaker]
}

// The manager is what a stand-in needs behind its managed clusters.
var _ standin.Clusters = (*Manager)(nil)

// New returns a manager. It starts nothing.
func New(o Options) *Manager {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	m := &Manager{o: o, locks: map[string]*sync.Mutex{}, specs: map[string]standin.ClusterSpec{}}
	if o.Light {
		// No cluster has a name that begins with a dot.
		m.shared = &sharedEtcd{dir: filepath.Join(o.Dir, ".etcd"), tools: o.Tools, home: o.Home}
	}
	return m
}

// Close ends what the manager does in the background. The processes are left
// to the supervisor's end.
func (m *Manager) Close() {
	for _, c := range m.caretakers.TakeAll() {
		c.loop.End()
	}
}

var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)

// Start brings a control plane up and returns when its API serves and its
// controllers run. One that runs is left alone, unless its spec changed, such
// as its version: then it starts anew. One that was stopped with the lab comes
// back with its data, on the same endpoint.
func (m *Manager) Start(ctx context.Context, spec standin.ClusterSpec) (standin.ClusterInfo, error) {
	defer m.lock(spec.Name)()
	info, err := m.start(ctx, spec)
	if err != nil {
		return standin.ClusterInfo{}, fmt.Errorf("start the control plane of %s: %w", spec.Name, err)
	}
	return info, nil
}

func (m *Manager) start(ctx context.Context, spec standin.ClusterSpec) (standin.ClusterInfo, error) {
	if !validName.MatchString(spec.Name) {
		return standin.ClusterInfo{}, fmt.Errorf("%q is no name for a cluster", spec.Name)
	}
	if m.shared != nil {
		if err := m.shared.start(ctx, m.o.Supervisor, m.o.Ports); err != nil {
			return standin.ClusterInfo{}, err
		}
	}
	admins := spec.AdminGroups
	spec.AdminGroups = nil // objects in the cluster, which need no other control plane
	c, err := m.prepare(spec)
	if err != nil {
		return standin.ClusterInfo{}, err
	}
	if before := m.setSpec(spec); !reflect.DeepEqual(before, spec) {
		m.o.Supervisor.Stop(processNames(spec.Name)...)
	}
	if err := c.run(ctx, m.o.Supervisor); err != nil {
		m.o.Supervisor.Stop(processNames(spec.Name)...)
		return standin.ClusterInfo{}, err
	}
	if err := m.takeCare(spec.Name); err != nil {
		return standin.ClusterInfo{}, err
	}
	if spec.Tenant != "" {
		client, err := m.client(spec.Name)
		if err != nil {
			return standin.ClusterInfo{}, err
		}
		if err := furnish(ctx, client, admins); err != nil {
			return standin.ClusterInfo{}, err
		}
	}
	return standin.ClusterInfo{Endpoint: c.endpoint(), CA: c.ca.PEM()}, nil
}

// takeCare has a light control plane's caretaker at work.
func (m *Manager) takeCare(cluster string) error {
	if m.shared == nil {
		return nil
	}
	_, _, err := m.caretakers.Open(cluster, func() (*caretaker, error) {
		return startCaretaker(m.AdminKubeconfig(cluster), m.o.Log.With("cluster", cluster))
	})
	return err
}

// Stop ends a control plane and removes its data. One that does not exist is
// no error.
func (m *Manager) Stop(ctx context.Context, name string) error {
	defer m.lock(name)()
	if !validName.MatchString(name) {
		return fmt.Errorf("stop the control plane of %q: no cluster has such a name", name)
	}
	if c, found := m.caretakers.Take(name); found {
		c.loop.End()
	}
	m.o.Supervisor.Stop(processNames(name)...)
	if err := m.erase(ctx, name); err != nil {
		return fmt.Errorf("remove the data of cluster %s: %w", name, err)
	}
	m.setSpec(standin.ClusterSpec{Name: name})
	if err := os.RemoveAll(m.dir(name)); err != nil {
		return fmt.Errorf("remove the data of cluster %s: %w", name, err)
	}
	return nil
}

// erase removes what a light control plane has in the shared store.
func (m *Manager) erase(ctx context.Context, cluster string) error {
	there, err := m.exists(cluster)
	if m.shared == nil || !there || err != nil {
		return err
	}
	if err := m.shared.start(ctx, m.o.Supervisor, m.o.Ports); err != nil {
		return err
	}
	return m.shared.erase(ctx, cluster)
}

// AdminKubeconfig is the path of a cluster's kubeconfig for the lab itself. It
// has a client key of the group system:masters.
func (m *Manager) AdminKubeconfig(cluster string) string {
	return filepath.Join(m.dir(cluster), "admin.kubeconfig")
}

// exists says whether a cluster has been started and not stopped.
func (m *Manager) exists(cluster string) (bool, error) {
	_, err := os.Stat(m.AdminKubeconfig(cluster))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// setSpec remembers what a cluster runs as, and returns what it was before.
func (m *Manager) setSpec(spec standin.ClusterSpec) (before standin.ClusterSpec) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before, m.specs[spec.Name] = m.specs[spec.Name], spec
	return before
}

func (m *Manager) dir(cluster string) string { return filepath.Join(m.o.Dir, cluster) }

func (m *Manager) lock(cluster string) (unlock func()) {
	m.mu.Lock()
	l := m.locks[cluster]
	if l == nil {
		l = &sync.Mutex{}
		m.locks[cluster] = l
	}
	m.mu.Unlock()
	l.Lock()
	return l.Unlock
}

// prepare makes the files that the processes start from.
func (m *Manager) prepare(spec standin.ClusterSpec) (*cluster, error) {
	if semver.Compare("v"+spec.Version, "v"+oldest) < 0 && spec.Version != "" {
		return nil, fmt.Errorf("the lab has the control plane of Kubernetes %s, and cannot serve %s; use %s or newer in the lab", Version, spec.Version, oldest)
	}
	c := &cluster{spec: spec, dir: m.dir(spec.Name), tools: m.o.Tools, home: m.o.Home, pace: m.o.Pace, shared: m.shared}
	if err := c.choosePorts(m.o.Ports); err != nil {
		return nil, err
	}
	if err := c.issueCertificates(); err != nil {
		return nil, err
	}
	if err := c.writeKubeconfigs(m.o.TokenReviewURL(spec.Name), m.o.TokenReviewCA, m.o.TokenReviewBy); err != nil {
		return nil, err
	}
	return c, nil
}

// processNames are a cluster's processes in the order to stop them: clients
// before servers.
func processNames(cluster string) []string {
	return []string{
		cluster + "-kwok", cluster + "-kube-scheduler", cluster + "-kube-controller-manager",
		cluster + "-kube-apiserver", cluster + "-etcd",
	}
}

// olderMinor is the version to emulate, or "" for the binaries' own.
func olderMinor(version string) string {
	minor := strings.TrimPrefix(semver.MajorMinor("v"+strings.TrimPrefix(version, "v")), "v")
	if minor == Version {
		return ""
	}
	return minor
}
