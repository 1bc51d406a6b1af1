// Package controllers is the part of a kubelet that the lab needs: where a
// Deployment asks for a GitOps controller, it runs the real one as a host
// process, with the Deployment's own arguments and service account.
package controllers

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"

	"tombolo/lab/ports"
	"tombolo/lab/process"
)

// Options of an Agent; all are required.
type Options struct {
	// Dir holds a directory per controller: kubeconfig, token, data.
	Dir string
	// Tools is the directory of the controllers' binaries.
	Tools string
	// Home is HOME of the processes.
	Home string
	// Proxy is the URL of the HTTP proxy that knows the lab's host names.
	Proxy string
	// Supervisor runs the processes.
	Supervisor *process.Supervisor
	// Ports are remembered here.
	Ports *ports.Book
	// Log says what is started and why something cannot be.
	Log *slog.Logger
}

// Agent watches the Deployments of clusters.
type Agent struct {
	o Options

	mu      sync.Mutex
	watches map[string]*watch // by cluster
}

// New returns an agent that watches nothing yet.
func New(o Options) *Agent { return &Agent{o: o, watches: map[string]*watch{}} }

// Watch runs what the Deployments of a cluster ask for, until Forget. Where a
// cluster is watched already, controllers that were given up are tried again.
// kubeconfig is an admin's.
func (a *Agent) Watch(cluster, kubeconfig string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if w := a.watches[cluster]; w != nil {
		w.lookAgain()
		return nil
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("watch the deployments of %s: %w", cluster, err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("watch the deployments of %s: %w", cluster, err)
	}
	w := newWatch(a.o, cluster, config, client)
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	a.watches[cluster] = w
	go w.run(ctx)
	return nil
}

// Forget ends a cluster's controllers and removes their data.
func (a *Agent) Forget(cluster string) {
	a.mu.Lock()
	w := a.watches[cluster]
	delete(a.watches, cluster)
	a.mu.Unlock()
	if w == nil {
		return
	}
	w.end()
	for key := range w.running {
		w.remove(key)
	}
}

// Close stops watching. The processes are left to the supervisor's end, and
// their data to the next start.
func (a *Agent) Close() {
	a.mu.Lock()
	watches := a.watches
	a.watches = map[string]*watch{}
	a.mu.Unlock()
	for _, w := range watches {
		w.end()
	}
}

// watch is one cluster's. All but run's own goroutine is done when end returns.
type watch struct {
	o       Options
	cluster string
	config  *rest.Config
	client  kubernetes.Interface
	log     *slog.Logger
	cancel  context.CancelFunc
	done    chan struct{}
	factory informers.SharedInformerFactory
	store   cache.SharedIndexInformer // the cluster's Deployments
	queue   workqueue.TypedRateLimitingInterface[string]

	running map[string]*running // by the Deployment's namespace/name
}

// running is a controller that has been started.
type running struct {
	plan   plan
	cancel context.CancelFunc // ends the renewal of its token
}

func newWatch(o Options, cluster string, config *rest.Config, client kubernetes.Interface) *watch {
	w := &watch{
		o: o, cluster: cluster, config: config, client: client, log: o.Log.With("cluster", cluster),
		done: make(chan struct{}), running: map[string]*running{},
		factory: informers.NewSharedInformerFactory(client, 0),
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](500*time.Millisecond, 30*time.Second)),
	}
	w.store = w.factory.Apps().V1().Deployments().Informer()
	return w
}

// lookAgain has every Deployment reconciled, as if each had changed.
func (w *watch) lookAgain() {
	for _, key := range w.store.GetStore().ListKeys() {
		w.queue.Add(key)
	}
}

func (w *watch) end() {
	w.cancel()
	<-w.done
	for _, r := range w.running {
		r.cancel()
	}
}

// run reconciles Deployments, one at a time, until ctx ends.
func (w *watch) run(ctx context.Context) {
	defer close(w.done)
	enqueue := func(object any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object); err == nil {
			w.queue.Add(key)
		}
	}
	_, err := w.store.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: enqueue, DeleteFunc: enqueue, UpdateFunc: func(_, object any) { enqueue(object) },
	})
	if err != nil {
		w.log.Error("cannot watch deployments", "error", err)
		return
	}
	w.factory.Start(ctx.Done())
	w.factory.WaitForCacheSync(ctx.Done())
	context.AfterFunc(ctx, w.queue.ShutDown)
	for w.next(ctx) {
	}
	w.factory.Shutdown()
}

// next reconciles the next Deployment; false when ctx has ended.
func (w *watch) next(ctx context.Context) bool {
	key, shutdown := w.queue.Get()
	if shutdown {
		return false
	}
	defer w.queue.Done(key)
	switch err := w.reconcile(ctx, key); {
	case ctx.Err() != nil:
		return false
	case err != nil:
		w.log.Warn("controller cannot run yet", "deployment", key, "error", err)
		w.queue.AddRateLimited(key)
	default:
		w.queue.Forget(key)
	}
	return true
}

// reconcile has the process of a Deployment run, or not, as it asks.
func (w *watch) reconcile(ctx context.Context, key string) error {
	object, exists, err := w.store.GetStore().GetByKey(key)
	if err != nil {
		return fmt.Errorf("look up deployment %s: %w", key, err)
	}
	var want plan
	wanted := false
	if exists {
		want, wanted = planFor(w.cluster, object.(*appsv1.Deployment))
	}
	r := w.running[key]
	switch {
	case !wanted:
		w.remove(key)
		return nil
	case r != nil && r.plan.equal(want) && w.o.Supervisor.Keeps(want.process):
		return nil
	case r != nil:
		w.log.Info("controller starts anew", "process", want.process)
		w.stop(key)
	}
	return w.start(ctx, key, want)
}

// start runs a controller and returns when it is healthy.
func (w *watch) start(ctx context.Context, key string, p plan) error {
	dir := filepath.Join(w.o.Dir, p.process)
	for _, d := range []string{dir, filepath.Join(dir, "data"), filepath.Join(dir, "tmp")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return fmt.Errorf("make the controller's directory: %w", err)
		}
	}
	l, err := chooseListeners(w.o.Ports, w.cluster, p.process)
	if err != nil {
		return err
	}
	expires, err := w.writeCredentials(ctx, p, dir)
	if err != nil {
		return err
	}
	if err := w.o.Supervisor.Start(ctx, p.spec(w.o, dir, l)); err != nil {
		return err
	}
	renewal, cancel := context.WithCancel(context.Background())
	w.running[key] = &running{plan: p, cancel: cancel}
	go w.renew(renewal, p, dir, expires)
	w.log.Info("controller runs", "process", p.process)
	return nil
}

// stop ends a controller and keeps its data.
func (w *watch) stop(key string) {
	r := w.running[key]
	if r == nil {
		return
	}
	r.cancel()
	delete(w.running, key)
	w.o.Supervisor.Stop(r.plan.process)
}

// remove ends a controller and removes its data.
func (w *watch) remove(key string) {
	r := w.running[key]
	if r == nil {
		return
	}
	w.stop(key)
	w.log.Info("controller stopped", "process", r.plan.process)
	if err := os.RemoveAll(filepath.Join(w.o.Dir, r.plan.process)); err != nil {
		w.log.Warn("data of a controller is left", "process", r.plan.process, "error", err)
	}
}
