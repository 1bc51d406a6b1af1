// Package cloudmanager makes in the cloud what the objects of a cluster ask
// for, and takes it away with them. It plays, for the lab, the controllers that
// do so on AWS: the cloud controller manager, the AWS Load Balancer Controller,
// the driver of EBS volumes, Karpenter, and EKS Auto Mode; and on Azure: the cloud
// controller manager, the driver of disks, and Azure Service Operator. What they make is tagged as theirs,
// and keeps networks and what is in them from being deleted.
package cloudmanager

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"tombolo/lab/reconcile"
	"tombolo/lab/standin"
)

// Cloud is what a manager needs of a region of the account.
type Cloud interface {
	// Create makes a resource of a type.
	Create(ctx context.Context, token string, inputs map[string]any) (standin.Resource, error)
	// Update changes inputs of a resource; others stay as they are.
	Update(ctx context.Context, token, id string, changes map[string]any) error
	// Delete deletes a resource; one that does not exist is no error.
	Delete(ctx context.Context, token, id string) error
	// Find lists the resources of a type that have all of the tags.
	Find(token string, tags map[string]string) []standin.Resource
}

// Options of a Manager; all are required.
type Options struct {
	// Cloud returns the account of a cluster, as its controllers have it.
	Cloud func(cluster standin.ClusterSpec) Cloud
	// Entra returns Azure as an identity has it, for a token of a service account.
	Entra func(client, assertion string) (Cloud, error)
	// Log says what is made and why something cannot be.
	Log *slog.Logger
}

// Manager works for clusters, each on its own.
type Manager struct {
	o       Options
	watches reconcile.Clusters[*watch]
}

// New returns a manager that works for no cluster yet.
func New(o Options) *Manager { return &Manager{o: o} }

// Watch works for a cluster until Forget; kubeconfig is an admin's. A cluster that is
// watched already stays so.
func (m *Manager) Watch(cluster standin.ClusterSpec, kubeconfig string) error {
	_, _, err := m.watches.Open(cluster.Name, func() (*watch, error) {
		c, err := newClients(kubeconfig)
		if err != nil {
			return nil, fmt.Errorf("watch what %s asks of the cloud: %w", cluster.Name, err)
		}
		w := newWatch(cluster, m.o.Cloud(cluster), c, m.o.Log.With("cluster", cluster.Name))
		w.entra = m.o.Entra
		w.loop.Start()
		return w, nil
	})
	return err
}

// Forget stops working for a cluster. What was made for it stays in the cloud,
// as it does in AWS when a control plane goes.
func (m *Manager) Forget(cluster string) {
	if w, found := m.watches.Take(cluster); found {
		w.loop.End()
	}
}

// Close stops working for every cluster.
func (m *Manager) Close() {
	for _, w := range m.watches.TakeAll() {
		w.loop.End()
	}
}

// The kinds of objects that ask for something.
const (
	service = "service"
	ingress = "ingress"
	claim   = "claim"
	volume  = "volume"
	pod     = "pod"
	// deployment may be an operator's.
	deployment = "deployment"
	// nodeClaim is of a kind that not every cluster has.
	nodeClaim = "nodeclaim"
)

// workers reconcile at the same time.
const workers = 4

// watch is one cluster's.
type watch struct {
	cluster string
	cloud   Cloud
	// maker is the cloud's.
	maker maker
	// entra signs in to Azure.
	entra func(client, assertion string) (Cloud, error)
	clients
	log  *slog.Logger
	loop *reconcile.Loop
	// pods there are, where nodes are made for them.
	pods cache.Store
	// pools is held while a node is made for pods that wait: they wait at the same time.
	pools sync.Mutex
}

// clients of a cluster's API: of the kinds that every cluster has, of any, and
// of no more than what an object is called.
type clients struct {
	client   kubernetes.Interface
	objects  dynamic.Interface
	metadata metadata.Interface
}

func newClients(kubeconfig string) (c clients, err error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return c, err
	}
	config.QPS, config.Burst = 50, 100
	if c.client, err = kubernetes.NewForConfig(config); err != nil {
		return c, err
	}
	if c.objects, err = dynamic.NewForConfig(config); err != nil {
		return c, err
	}
	c.metadata, err = metadata.NewForConfig(config)
	return c, err
}

func newWatch(cluster standin.ClusterSpec, cloud Cloud, c clients, log *slog.Logger) *watch {
	factory := informers.NewSharedInformerFactory(c.client, 0)
	w := &watch{cluster: cluster.Name, cloud: cloud, clients: c, log: log}
	o := reconcile.Options{
		Factory: factory,
		Informers: map[string]cache.SharedIndexInformer{
			service: factory.Core().V1().Services().Informer(),
			claim:   factory.Core().V1().PersistentVolumeClaims().Informer(),
			volume:  factory.Core().V1().PersistentVolumes().Informer(),

			deployment: factory.Apps().V1().Deployments().Informer(),
		},
		Workers: workers, Least: 100 * time.Millisecond, Most: 5 * time.Second,
		Do: w.reconcile, Log: log,
		Failed: func(o reconcile.Object, err error) {
			if !apierrors.IsConflict(err) { // then the cache was behind
				w.log.Warn("the cloud does not have yet what is asked for", o.Kind, o.Key, "error", err)
			}
		},
	}
	if cluster.Tenant != "" {
		w.maker, o.Beside = &azureMaker{watch: w, id: cluster.ID}, w.followOperated
	} else {
		w.maker, o.Beside = awsMaker{w}, w.beside
		o.Informers[ingress] = factory.Networking().V1().Ingresses().Informer()
		o.Informers[pod] = factory.Core().V1().Pods().Informer()
		w.pods = o.Informers[pod].GetStore()
	}
	w.loop = reconcile.New(o)
	return w
}

// beside is what is done beside the loop, until ctx ends.
func (w *watch) beside(ctx context.Context) {
	var auto sync.WaitGroup
	auto.Go(func() { w.followAutoImage(ctx) })
	w.followDefined(ctx, nodeClaims, w.watchNodeClaims)
	auto.Wait()
}

// reconcile has the cloud have what an object asks for, as the cache has it. An
// object that is gone has had a finalizer: there is nothing left of it.
func (w *watch) reconcile(ctx context.Context, o reconcile.Object, object any) error {
	if o.Kind == nodeClaim {
		return w.reconcileNodeClaim(ctx, o.Key)
	}
	if k, operated := kindNamed(o.Kind); operated {
		return w.reconcileOperated(ctx, k, o.Key)
	}
	if _, aws := w.maker.(awsMaker); aws && o.Kind == deployment {
		d, _ := object.(*appsv1.Deployment)
		return w.guardServices(ctx, d)
	}
	switch object := object.(type) {
	case *corev1.Service:
		return w.reconcileService(ctx, object.DeepCopy())
	case *networkingv1.Ingress:
		return w.reconcileIngress(ctx, object.DeepCopy())
	case *corev1.PersistentVolumeClaim:
		return w.reconcileClaim(ctx, object)
	case *corev1.PersistentVolume:
		return w.reconcileVolume(ctx, object.DeepCopy())
	case *appsv1.Deployment:
		return w.reconcileOperator(ctx, object)
	case *corev1.Pod:
		return w.reconcilePod(ctx, object)
	}
	return nil
}

// maker is what a cloud's controllers make for Services and claims.
type maker interface {
	// holder is the finalizer of the controller that gives a Service its load balancer; "" for
	// a class without a controller in the lab.
	holder(s *corev1.Service) string
	// balance makes what is missing of the load balancer of a Service, and tells where it is.
	balance(ctx context.Context, s *corev1.Service) (corev1.LoadBalancerIngress, error)
	// unbalance takes away what was made for a Service.
	unbalance(ctx context.Context, s *corev1.Service) error
	// driver is the provisioner of disks, and diskType the type of what it makes.
	driver() string
	diskType() string
	// ensureDisk makes the disk of a claim, unless there is one.
	ensureDisk(ctx context.Context, claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) (disk, error)
}

// disk of a claim.
type disk struct {
	// id in the cloud.
	id string
	// zone that nodes have to be in which use it, by their label zoneLabel.
	zone, zoneLabel string
}

// The finalizers that keep an object until what was made for it in the cloud is
// gone.
const (
	cleanupFinalizer = "service.kubernetes.io/load-balancer-cleanup"
	serviceFinalizer = "service.k8s.aws/resources"
	ingressFinalizer = "ingress.k8s.aws/resources"
)

// updater writes objects of a kind.
type updater[T metav1.Object] interface {
	Update(ctx context.Context, object T, o metav1.UpdateOptions) (T, error)
}

// hold gives an object a finalizer.
func hold[T metav1.Object](ctx context.Context, objects updater[T], object T, finalizer string) (T, error) {
	if slices.Contains(object.GetFinalizers(), finalizer) {
		return object, nil
	}
	object.SetFinalizers(append(object.GetFinalizers(), finalizer))
	updated, err := objects.Update(ctx, object, metav1.UpdateOptions{})
	if err != nil {
		return object, fmt.Errorf("set the finalizer: %w", err)
	}
	return updated, nil
}

// release lets an object with a finalizer go once clean has removed what was
// made for it.
func release[T metav1.Object](ctx context.Context, objects updater[T], object T, finalizer string, clean func() error) error {
	if !slices.Contains(object.GetFinalizers(), finalizer) {
		return nil
	}
	if err := clean(); err != nil {
		return err
	}
	object.SetFinalizers(slices.DeleteFunc(object.GetFinalizers(), func(f string) bool { return f == finalizer }))
	_, err := objects.Update(ctx, object, metav1.UpdateOptions{})
	return reconcile.IgnoreGone(err)
}

// untyped is an updater of objects whose kind has no client of its own.
type untyped struct{ client dynamic.ResourceInterface }

func (u untyped) Update(ctx context.Context, object *unstructured.Unstructured, o metav1.UpdateOptions) (*unstructured.Unstructured, error) {
	return u.client.Update(ctx, object, o)
}
