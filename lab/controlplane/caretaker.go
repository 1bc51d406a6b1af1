package controlplane

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"tombolo/lab/reconcile"
)

// caretaker does for a light control plane what others wait for and what the
// parts that it lacks would do: namespaces that are deleted become empty and
// go; nodes, workloads and quotas become ready.
type caretaker struct {
	client   kubernetes.Interface
	metadata metadata.Interface
	log      *slog.Logger
	loop     *reconcile.Loop
}

// caretakerWorkers is how many objects of a cluster are looked after at the same time.
const caretakerWorkers = 4

// startCaretaker looks after a cluster until its loop ends.
func startCaretaker(kubeconfig string, log *slog.Logger) (*caretaker, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("look after a light control plane: %w", err)
	}
	c, err := newCaretaker(config, log)
	if err != nil {
		return nil, fmt.Errorf("look after a light control plane: %w", err)
	}
	c.loop.Start()
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
	c := &caretaker{client: client, metadata: meta, log: log}
	c.loop = reconcile.New(reconcile.Options{
		Factory: factory,
		Informers: map[string]cache.SharedIndexInformer{
			"namespace":   factory.Core().V1().Namespaces().Informer(),
			"node":        factory.Core().V1().Nodes().Informer(),
			"deployment":  factory.Apps().V1().Deployments().Informer(),
			"statefulset": factory.Apps().V1().StatefulSets().Informer(),
			"quota":       factory.Core().V1().ResourceQuotas().Informer(),
		},
		Workers: caretakerWorkers, Least: 50 * time.Millisecond, Most: 5 * time.Second,
		Do: c.do, Log: log,
		Failed: func(o reconcile.Object, err error) { log.Debug("to be done again", o.Kind, o.Key, "error", err) },
	})
	return c, nil
}

// do looks after one object, as the cache has it: an older one is refused by
// the API, and comes again.
func (c *caretaker) do(ctx context.Context, o reconcile.Object, object any) error {
	if object == nil {
		return c.tidy(ctx, o)
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
