package cloudmanager

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
)

// definitions are the kinds that a cluster has by definition.
var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// followDefined runs a function while the cluster has the definition of a kind, until ctx ends:
// it comes with an addon, and may go again.
func (w *watch) followDefined(ctx context.Context, kind schema.GroupVersionResource, run func(ctx context.Context)) {
	only := func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector("metadata.name", kind.Resource+"."+kind.Group).String()
	}
	factory := metadatainformer.NewFilteredSharedInformerFactory(w.metadata, 0, metav1.NamespaceAll, only)
	informer := factory.ForResource(definitions).Informer()
	var following sync.WaitGroup
	var cancel context.CancelFunc = func() {}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) {
			var defined context.Context
			defined, cancel = context.WithCancel(ctx)
			following.Go(func() { run(defined) })
		},
		DeleteFunc: func(any) { cancel() },
	})
	if err != nil {
		w.log.Error("cannot watch definitions", "error", err)
		return
	}
	factory.Start(ctx.Done())
	<-ctx.Done()
	factory.Shutdown()
	cancel()
	following.Wait()
}

// watchNodeClaims has NodeClaims reconciled as they change and as they drift, until ctx ends.
func (w *watch) watchNodeClaims(ctx context.Context) {
	informer := dynamicinformer.NewFilteredDynamicInformer(w.objects, nodeClaims, metav1.NamespaceAll, 0, cache.Indexers{}, nil).Informer()
	err := w.loop.Follow(nodeClaim, informer)
	if err != nil {
		w.log.Error("cannot watch node claims", "error", err)
		return
	}
	var polling sync.WaitGroup
	polling.Go(func() { w.pollDrift(ctx, informer.GetStore()) })
	informer.RunWithContext(ctx)
	polling.Wait()
}

// followOperated reconciles the kinds of Azure Service Operator's that are defined, until ctx
// ends.
func (w *watch) followOperated(ctx context.Context) {
	var all sync.WaitGroup
	for _, k := range operatedKinds {
		all.Go(func() {
			w.followDefined(ctx, k.resource, func(ctx context.Context) {
				informer := dynamicinformer.NewFilteredDynamicInformer(w.objects, k.resource, metav1.NamespaceAll, 0, cache.Indexers{}, nil).Informer()
				if err := w.loop.Follow(k.kind, informer); err != nil {
					w.log.Error("cannot watch objects", "kind", k.kind, "error", err)
					return
				}
				informer.RunWithContext(ctx)
			})
		})
	}
	all.Wait()
}
