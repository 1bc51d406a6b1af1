package controlplane

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
)

// caretaker does for a light control plane what others wait for and what the
// parts that it lacks would do: namespaces that are deleted become empty and
// go; nodes, workloads and quotas become ready.
type caretaker struct {
	client   kubernetes.Interface
	metadata metadata.Interface
	log      *slog.Logger
	cancel   context.CancelFunc
	done     chan struct{}
	factory  informers.SharedInformerFactory
	queue    workqueue.TypedRateLimitingInterface[chore]
	chores   map[string]cache.SharedIndexInformer // by kind
}

// chore is an object to look after.
type chore struct{ kind, key string }

// caretakerWorkers is how many chores of a cluster are done at the same time.
const caretakerWorkers = 4

// startCaretaker looks after a cluster until end.
func startCaretaker(kubeconfig string, log *slog.Logger) (*caretaker, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("look after a light control plane: %w", err)
	}
	c, err := newCaretaker(config, log)
	if err != nil {
		return nil, fmt.Errorf("look after a light control plane: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	go c.run(ctx)
	return c, nil
}

func newCaretaker(config *rest.Config, log *slog.Logger) (*caretaker, error) {
	config.QPS, config.Burst = 100, 200
	config.WarningHandler = rest.NoWarnings{} // of kinds on their way out, which are emptied like others
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	meta, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	return &caretaker{
		client: client, metadata: meta, log: log, done: make(chan struct{}), factory: factory,
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[chore](50*time.Millisecond, 5*time.Second)),
		chores: map[string]cache.SharedIndexInformer{
			"namespace":   factory.Core().V1().Namespaces().Informer(),
			"node":        factory.Core().V1().Nodes().Informer(),
			"deployment":  factory.Apps().V1().Deployments().Informer(),
			"statefulset": factory.Apps().V1().StatefulSets().Informer(),
			"quota":       factory.Core().V1().ResourceQuotas().Informer(),
		},
	}, nil
}

// end returns when nothing is being done any more.
func (c *caretaker) end() {
	c.cancel()
	<-c.done
}

// run does chores until ctx ends.
func (c *caretaker) run(ctx context.Context) {
	defer close(c.done)
	for kind, informer := range c.chores {
		enqueue := func(object any) {
			if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object); err == nil {
				c.queue.Add(chore{kind, key})
			}
		}
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: enqueue, DeleteFunc: enqueue, UpdateFunc: func(_, object any) { enqueue(object) },
		})
		if err != nil {
			c.log.Error("cannot look after objects", "kind", kind, "error", err)
			return
		}
	}
	c.factory.Start(ctx.Done())
	c.factory.WaitForCacheSync(ctx.Done())
	context.AfterFunc(ctx, c.queue.ShutDown)
	var working sync.WaitGroup
	for range caretakerWorkers {
		working.Go(func() {
			for c.next(ctx) {
			}
		})
	}
	working.Wait()
	c.factory.Shutdown()
}

// next does one chore; false when ctx has ended.
func (c *caretaker) next(ctx context.Context) bool {
	todo, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(todo)
	switch err := c.do(ctx, todo); {
	case ctx.Err() != nil:
		return false
	case err != nil:
		c.log.Debug("to be done again", todo.kind, todo.key, "error", err)
		c.queue.AddRateLimited(todo)
	default:
		c.queue.Forget(todo)
	}
	return true
}

// do looks after one object, as the cache has it: an older one is refused by
// the API, and comes again.
func (c *caretaker) do(ctx context.Context, todo chore) error {
	object, exists, err := c.chores[todo.kind].GetStore().GetByKey(todo.key)
	if err != nil {
		return err
	}
	if !exists {
		return c.tidy(ctx, todo)
	}
	switch object := object.(type) {
	case *corev1.Namespace:
		if object.DeletionTimestamp == nil {
			return nil
		}
		return c.emptyNamespace(ctx, object)
	case *corev1.Node:
		return c.readyNode(ctx, object)
	case *appsv1.Deployment:
		return c.readyDeployment(ctx, object)
	case *appsv1.StatefulSet:
		return c.readyStatefulSet(ctx, object)
	case *corev1.ResourceQuota:
		return c.readyQuota(ctx, object)
	}
	return nil
}
