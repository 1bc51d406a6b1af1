// Package reconcile has work done on the objects of a cluster whenever they change:
// on each object by one worker at a time, and again after a failure. It is the loop
// of what plays a controller in the lab.
package reconcile

import (
	"context"
	"log/slog"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// Object of a cluster: the name of its informer, and its key there.
type Object struct{ Kind, Key string }

func (o Object) String() string { return o.Kind + " " + o.Key }

// Options of a Loop; all are required that have no default.
type Options struct {
	// Factory has made the informers, which are here by the kinds of Object.
	Factory   informers.SharedInformerFactory
	Informers map[string]cache.SharedIndexInformer
	// Workers work at the same time.
	Workers int
	// Least is the pause before an object is tried again after its first failure.
	// It doubles with each further one, up to Most.
	Least, Most time.Duration
	// Do works on an object as the cache has it; nil when it is gone, or when its
	// kind has no informer here.
	Do func(ctx context.Context, o Object, object any) error
	// Failed is told of a failure, before the object is tried again.
	Failed func(o Object, err error)
	// Beside runs beside the workers until ctx ends. Default: nothing.
	Beside func(ctx context.Context)
	// Log says what cannot be watched.
	Log *slog.Logger
}

// Loop reconciles objects between Start and End.
type Loop struct {
	o      Options
	queue  workqueue.TypedRateLimitingInterface[Object]
	cancel context.CancelFunc
	done   chan struct{}
}

// New makes a loop that does not run yet.
func New(o Options) *Loop {
	return &Loop{o: o, done: make(chan struct{}), queue: workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[Object](o.Least, o.Most))}
}

// Start has the loop run until End.
func (l *Loop) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	go l.run(ctx)
}

// End returns when nothing is being done any more.
func (l *Loop) End() {
	l.cancel()
	<-l.done
}

// Add has an object reconciled.
func (l *Loop) Add(o Object) { l.queue.Add(o) }

// AddAll has every object reconciled, as if each had changed.
func (l *Loop) AddAll() {
	for kind, informer := range l.o.Informers {
		for _, key := range informer.GetStore().ListKeys() {
			l.queue.Add(Object{kind, key})
		}
	}
}

// Follow has the informer's objects reconciled as they change.
func (l *Loop) Follow(kind string, informer cache.SharedIndexInformer) error {
	enqueue := func(object any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object); err == nil {
			l.queue.Add(Object{kind, key})
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: enqueue, DeleteFunc: enqueue, UpdateFunc: func(_, object any) { enqueue(object) },
	})
	return err
}

func (l *Loop) run(ctx context.Context) {
	defer close(l.done)
	for kind, informer := range l.o.Informers {
		if err := l.Follow(kind, informer); err != nil {
			l.o.Log.Error("cannot watch objects", "kind", kind, "error", err)
			return
		}
	}
	l.o.Factory.Start(ctx.Done())
	l.o.Factory.WaitForCacheSync(ctx.Done())
	context.AfterFunc(ctx, l.queue.ShutDown)
	var working sync.WaitGroup
	if l.o.Beside != nil {
		working.Go(func() { l.o.Beside(ctx) })
	}
	for range l.o.Workers {
		working.Go(func() {
			for l.next(ctx) {
			}
		})
	}
	working.Wait()
	l.o.Factory.Shutdown()
}

// next reconciles the next object; false when ctx has ended.
func (l *Loop) next(ctx context.Context) bool {
	o, shutdown := l.queue.Get()
	if shutdown {
		return false
	}
	defer l.queue.Done(o)
	switch err := l.do(ctx, o); {
	case ctx.Err() != nil:
		return false
	case err != nil:
		l.o.Failed(o, err)
		l.queue.AddRateLimited(o)
	default:
		l.queue.Forget(o)
	}
	return true
}

func (l *Loop) do(ctx context.Context, o Object) error {
	informer, ok := l.o.Informers[o.Kind]
	if !ok {
		return l.o.Do(ctx, o, nil)
	}
	object, exists, err := informer.GetStore().GetByKey(o.Key)
	if err != nil {
		return err
	}
	if !exists {
		object = nil
	}
	return l.o.Do(ctx, o, object)
}

// IgnoreGone is an error of a call to the API unless it says that the object is
// gone.
func IgnoreGone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
