// Package controllers is the part of a kubelet that the lab needs: where a
// Deployment or a StatefulSet asks for a GitOps controller, it runs the real
// one as a host process, with the workload's own arguments, environment and
// service account.
package controllers

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"tombolo/lab/ports"
	"tombolo/lab/process"
	"tombolo/lab/reconcile"
)

// Options of an Agent; all but AwaitsPods are required.
type Options struct {
	// Dir holds a directory per controller: kubeconfig, token, data.
	Dir string
	// Tools is the directory of the controllers' binaries.
	Tools string
	// Bin is the directory of the lab's own commands, such as aws.
	Bin string
	// Sockets is where processes put their sockets: a directory with a path
	// so short that one with a name of eight characters fits a system's limit.
	Sockets string
	// Home is HOME of the processes.
	Home string
	// Proxy is the URL of the HTTP proxy that knows the lab's host names. A workload that names
	// a proxy of this machine goes by that one.
	Proxy string
	// Tenant is the id of the lab's tenant of Entra.
	Tenant string
	// CA is the file of the authority of the https hosts behind the proxy, PEM.
	CA string
	// Supervisor runs the processes.
	Supervisor *process.Supervisor
	// Ports are remembered here.
	Ports *ports.Book
	// AwaitsPods has a controller begin once its workload has a pod that is ready, as it takes its time. Default: at
	// once.
	AwaitsPods bool
	// Log says what is started and why something cannot be.
	Log *slog.Logger
}

// Agent watches the workloads of clusters.
type Agent struct {
	o       Options
	watches reconcile.Clusters[*watch]
}

// New returns an agent that watches nothing yet.
func New(o Options) *Agent { return &Agent{o: o} }

// Watch runs what the workloads of a cluster ask for, until Forget. Where a
// cluster is watched already, controllers that were given up are tried again.
// region is the cluster's in its cloud; kubeconfig is an admin's.
func (a *Agent) Watch(cluster, region, kubeconfig string) error {
	w, started, err := a.watches.Open(cluster, func() (*watch, error) {
		config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
		if err != nil {
			return nil, err
		}
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		w := newWatch(a.o, cluster, region, config, client)
		w.loop.Start()
		return w, nil
	})
	if err != nil {
		return fmt.Errorf("watch the workloads of %s: %w", cluster, err)
	}
	if !started {
		w.loop.AddAll()
	}
	return nil
}

// Forget ends a cluster's controllers and removes their data.
func (a *Agent) Forget(cluster string) {
	w, found := a.watches.Take(cluster)
	if !found {
		return
	}
	w.end()
	for ref := range w.running {
		w.remove(ref)
	}
}

// Close stops watching. The processes are left to the supervisor's end, and
// their data to the next start.
func (a *Agent) Close() {
	for _, w := range a.watches.TakeAll() {
		w.end()
	}
}

// workers reconcile at the same time: controllers wait for one another.
const workers = 8

// watch is one cluster's. All that run started is done when end returns.
type watch struct {
	o       Options
	cluster string
	region  string
	config  *rest.Config
	client  kubernetes.Interface
	log     *slog.Logger
	loop    *reconcile.Loop

	mu      sync.Mutex
	running map[reconcile.Object]*running
}

// running is a controller that has been started.
type running struct {
	plan   plan
	cancel context.CancelFunc // ends the renewal of its token
}

func newWatch(o Options, cluster, region string, config *rest.Config, client kubernetes.Interface) *watch {
	w := &watch{
		o: o, cluster: cluster, region: region, config: config, client: client, log: o.Log.With("cluster", cluster),
		running: map[reconcile.Object]*running{},
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	w.loop = reconcile.New(reconcile.Options{
		Factory: factory, Informers: watched(factory),
		Workers: workers, Least: 500 * time.Millisecond, Most: 30 * time.Second,
		Do: w.reconcile, Log: w.log,
		Failed: func(o reconcile.Object, err error) {
			w.log.Warn("controller cannot run yet", o.Kind, o.Key, "error", err)
		},
	})
	return w
}

func (w *watch) end() {
	w.loop.End()
	for _, r := range w.running {
		r.cancel()
	}
}

// reconcile has the process of a workload run, or not, as it asks.
func (w *watch) reconcile(ctx context.Context, ref reconcile.Object, object any) error {
	var want plan
	wanted, ready := false, false
	if object != nil {
		load := asWorkload(object)
		want, wanted = planFor(w.cluster, load)
		ready = load.ready || !w.o.AwaitsPods
	}
	r := w.get(ref)
	switch {
	case !wanted:
		w.remove(ref)
		return nil
	case r == nil && !ready:
		return nil // its status will change
	case r != nil && r.plan.equal(want) && w.o.Supervisor.Keeps(want.process):
		return nil
	case r != nil:
		w.log.Info("controller starts anew", "process", want.process)
		w.stop(ref)
	}
	return w.start(ctx, ref, want)
}

// start runs a controller and returns when it is healthy.
func (w *watch) start(ctx context.Context, ref reconcile.Object, p plan) error {
	dir := filepath.Join(w.o.Dir, p.process)
	for _, d := range []string{dir, filepath.Join(dir, "data"), filepath.Join(dir, "tmp")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return fmt.Errorf("make the controller's directory: %w", err)
		}
	}
	identity, tokens, err := w.identityEnv(ctx, p, dir)
	if err != nil {
		return err
	}
	tokens = append(tokens, apiToken(dir))
	expires, err := w.writeCredentials(ctx, p, dir, tokens)
	if err != nil {
		return err
	}
	if err := w.mount(ctx, p, dir); err != nil {
		return err
	}
	spec, err := w.initialise(ctx, p, dir, identity)
	if err != nil {
		return err
	}
	if err := w.o.Supervisor.Start(ctx, spec); err != nil {
		return err
	}
	renewal, cancel := context.WithCancel(context.Background())
	w.set(ref, &running{plan: p, cancel: cancel})
	go w.renew(renewal, p, tokens, expires)
	w.log.Info("controller runs", "process", p.process)
	return nil
}

// stop ends a controller and keeps its data.
func (w *watch) stop(ref reconcile.Object) {
	r := w.get(ref)
	if r == nil {
		return
	}
	r.cancel()
	w.set(ref, nil)
	w.o.Supervisor.Stop(r.plan.process)
}

// remove ends a controller and removes its data.
func (w *watch) remove(ref reconcile.Object) {
	r := w.get(ref)
	if r == nil {
		return
	}
	w.stop(ref)
	w.log.Info("controller stopped", "process", r.plan.process)
	if err := os.RemoveAll(filepath.Join(w.o.Dir, r.plan.process)); err != nil {
		w.log.Warn("data of a controller is left", "process", r.plan.process, "error", err)
	}
}

// get returns the controller of a workload; nil when none runs.
func (w *watch) get(ref reconcile.Object) *running {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.running[ref]
}

// set records the controller of a workload; nil when it runs no more.
func (w *watch) set(ref reconcile.Object, r *running) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r == nil {
		delete(w.running, ref)
		return
	}
	w.running[ref] = r
}
