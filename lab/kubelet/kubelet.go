// Package kubelet is the part of a kubelet that finds the images of pods, for networks in
// which that can fail. It pulls nothing and runs nothing: a pod whose images are found is said
// to run, another waits with the kubelet's own words, and is tried again.
package kubelet

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"tombolo/lab/reconcile"
)

// Options of a Manager; all are required.
type Options struct {
	// UserData is that of a node of a cluster, as text.
	UserData func(cluster string, node *corev1.Node) (string, error)
	// Proxies are the URLs of the proxies that nodes may name, by their host and port.
	Proxies map[string]string
	// Log says which images are not found.
	Log *slog.Logger
}

// Manager has the pods of clusters start.
type Manager struct {
	o       Options
	watches reconcile.Clusters[*watch]
}

// New returns a manager that has no cluster yet.
func New(o Options) *Manager { return &Manager{o: o} }

// Watch starts the pods of a cluster until Forget. kubeconfig is an admin's.
func (m *Manager) Watch(cluster, kubeconfig string) error {
	_, _, err := m.watches.Open(cluster, func() (*watch, error) {
		config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
		if err != nil {
			return nil, err
		}
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		w := newWatch(m.o, cluster, client)
		w.loop.Start()
		return w, nil
	})
	if err != nil {
		return fmt.Errorf("watch the pods of %s: %w", cluster, err)
	}
	return nil
}

// Forget leaves a cluster's pods alone.
func (m *Manager) Forget(cluster string) {
	if w, found := m.watches.Take(cluster); found {
		w.loop.End()
	}
}

// Close leaves all of them alone.
func (m *Manager) Close() {
	for _, w := range m.watches.TakeAll() {
		w.loop.End()
	}
}

type watch struct {
	o       Options
	cluster string
	client  kubernetes.Interface
	loop    *reconcile.Loop
}

const pods = "pod"

func newWatch(o Options, cluster string, client kubernetes.Interface) *watch {
	w := &watch{o: o, cluster: cluster, client: client}
	factory := informers.NewSharedInformerFactory(client, 0)
	w.loop = reconcile.New(reconcile.Options{
		Factory: factory, Informers: map[string]cache.SharedIndexInformer{pods: factory.Core().V1().Pods().Informer()},
		Workers: 8, Least: time.Second, Most: 10 * time.Second, Log: o.Log,
		Do: func(ctx context.Context, _ reconcile.Object, object any) error {
			if object == nil {
				return nil
			}
			return w.run(ctx, object.(*corev1.Pod))
		},
		Failed: func(ref reconcile.Object, err error) {
			o.Log.Warn("pod does not run yet", "cluster", cluster, "pod", ref.Key, "error", err)
		},
	})
	return w
}

// run has a pod run that is on a node and does not run yet.
func (w *watch) run(ctx context.Context, pod *corev1.Pod) error {
	if pod.Spec.NodeName == "" || pod.DeletionTimestamp != nil || pod.Status.PodIP != "" {
		return nil
	}
	missing, err := w.missing(ctx, pod)
	if err != nil {
		return err
	}
	updated := pod.DeepCopy()
	if len(missing) == 0 {
		running(updated)
		return w.update(ctx, updated)
	}
	reason := slices.Sorted(maps.Values(missing))[0]
	if !backsOff(pod) { // what changes nothing would have it tried again at once
		waiting(updated, missing)
		if err := w.update(ctx, updated); err != nil {
			return err
		}
		w.event(ctx, pod, reason)
	}
	return errors.New(reason) // to be tried again
}

func (w *watch) update(ctx context.Context, pod *corev1.Pod) error {
	_, err := w.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	return reconcile.IgnoreGone(err)
}

const (
	errImagePull = "ErrImagePull"
	backOff      = "ImagePullBackOff"
)

// backsOff says whether a pod has been tried twice.
func backsOff(pod *corev1.Pod) bool {
	return slices.ContainsFunc(slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses), func(s corev1.ContainerStatus) bool {
		return s.State.Waiting != nil && s.State.Waiting.Reason == backOff
	})
}

// missing are the reasons why images are not found, by container.
func (w *watch) missing(ctx context.Context, pod *corev1.Pod) (map[string]string, error) {
	node, err := w.client.CoreV1().Nodes().Get(ctx, pod.Spec.NodeName, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("read node %s: %w", pod.Spec.NodeName, err)
	}
	data, err := w.o.UserData(w.cluster, node)
	if err != nil {
		return nil, err
	}
	egress, err := ReadEgress(data)
	if err != nil {
		return nil, fmt.Errorf("user data of node %s: %w", node.Name, err)
	}
	logins, err := loginsOf(ctx, w.client, pod)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for _, c := range list {
			if err := pull(ctx, c.Image, egress, logins, w.o.Proxies); err != nil {
				out[c.Name] = fmt.Sprintf("failed to pull and unpack image %q: %v", c.Image, err)
			}
		}
	}
	return out, nil
}

func (w *watch) event(ctx context.Context, pod *corev1.Pod, reason string) {
	now := metav1.Now()
	_, err := w.client.CoreV1().Events(pod.Namespace).Create(ctx, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{GenerateName: pod.Name + ".", Namespace: pod.Namespace},
		InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Type:           corev1.EventTypeWarning, Reason: "Failed", Message: reason, Count: 1, FirstTimestamp: now, LastTimestamp: now,
		Source: corev1.EventSource{Component: "kubelet", Host: pod.Spec.NodeName},
	}, metav1.CreateOptions{})
	if err != nil {
		w.o.Log.Warn("an event is lost", "pod", pod.Name, "error", err)
	}
}

// podAddress is every pod's: nothing is sent to it.
const podAddress = "10.0.0.1"

// running is the status of a pod whose containers run, or of one of a Job, which has ended.
func running(pod *corev1.Pod) {
	now := metav1.Now()
	s := corev1.PodStatus{
		Phase: corev1.PodRunning, HostIP: "127.0.0.1", PodIP: podAddress, PodIPs: []corev1.PodIP{{IP: podAddress}}, StartTime: &now,
		Conditions: conditions(corev1.ConditionTrue, ""),
	}
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: now, FinishedAt: now}}
	state := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}
	for _, owner := range pod.OwnerReferences {
		if owner.Kind == "Job" {
			s.Phase, state = corev1.PodSucceeded, ended
		}
	}
	s.InitContainerStatuses = statuses(pod.Spec.InitContainers, func(string) corev1.ContainerState { return ended })
	s.ContainerStatuses = statuses(pod.Spec.Containers, func(string) corev1.ContainerState { return state })
	pod.Status = s
}

// waiting is the status of a pod with containers whose images are missing.
func waiting(pod *corev1.Pod, missing map[string]string) {
	reason := errImagePull
	if len(pod.Status.ContainerStatuses) > 0 {
		reason = backOff
	}
	state := func(name string) corev1.ContainerState {
		w := &corev1.ContainerStateWaiting{Reason: "PodInitializing"}
		if message, ok := missing[name]; ok {
			w = &corev1.ContainerStateWaiting{Reason: reason, Message: message}
		}
		return corev1.ContainerState{Waiting: w}
	}
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodPending, HostIP: "127.0.0.1", Conditions: conditions(corev1.ConditionFalse, "ContainersNotReady"),
		InitContainerStatuses: statuses(pod.Spec.InitContainers, state), ContainerStatuses: statuses(pod.Spec.Containers, state),
	}
}

func statuses(containers []corev1.Container, state func(name string) corev1.ContainerState) []corev1.ContainerStatus {
	var out []corev1.ContainerStatus
	for _, c := range containers {
		now := state(c.Name)
		runs := now.Running != nil
		out = append(out, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, State: now, Ready: runs || now.Terminated != nil, Started: &runs,
		})
	}
	return out
}

func conditions(ready corev1.ConditionStatus, reason string) []corev1.PodCondition {
	now := metav1.Now()
	out := []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: now},
		{Type: corev1.PodInitialized, Status: ready, Reason: reason, LastTransitionTime: now},
	}
	for _, t := range []corev1.PodConditionType{corev1.ContainersReady, corev1.PodReady} {
		out = append(out, corev1.PodCondition{Type: t, Status: ready, Reason: reason, LastTransitionTime: now})
	}
	return out
}

func decode(text string) (string, error) {
	data, err := base64.StdEncoding.DecodeString(text)
	return string(data), err
}
