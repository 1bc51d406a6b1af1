package health

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"tombolo/automation/argocd"
	"tombolo/automation/kube"
	"tombolo/config"
	"tombolo/internal/names"
	"tombolo/internal/wording"
)

// argo is Argo CD, which is on the hub and works on the hub and its spokes. Of
// a hub everything is looked at, of a spoke what is for the spoke.
type argo struct {
	cluster *config.Cluster
	// registrations that the hub had at a look.
	registrations []argocd.Registration
	// made is how many Applications each ApplicationSet had made, by its ref.
	made map[ref]int
}

// argoKinds are the kinds that verify looks at, causes before effects.
var argoKinds = []schema.GroupKind{
	{Group: argocd.Group, Kind: "ApplicationSet"},
	{Group: argocd.Group, Kind: "Application"},
}

func (argo) name() string { return "Argo CD" }

func (argo) repository() ref {
	return ref{Kind: "Application", Namespace: argocd.Namespace, Name: argocd.Root}
}

func (a argo) look(ctx context.Context, k kube.Cluster) (*platform, error) {
	objects, err := k.List(ctx, argoKinds)
	if err != nil {
		return nil, err
	}
	if a.registrations, err = (argocd.Hub{Client: k.Client}).Registrations(ctx); err != nil {
		return nil, err
	}
	all := newPlatform(a, objects)
	a.made = map[ref]int{}
	for _, r := range all.order {
		if set, ok := madeBy(all.objects[r]); ok {
			a.made[set]++
		}
	}
	concerned := a.concerned(all)
	p := newPlatform(a, slices.DeleteFunc(objects, func(o unstructured.Unstructured) bool { return !concerned[refOf(&o)] }))
	a.setApart(p)
	return p, nil
}

// madeBy is the ApplicationSet that made an Application.
func madeBy(o *unstructured.Unstructured) (ref, bool) {
	name := argocd.Application{Unstructured: o}.Set()
	return ref{Kind: "ApplicationSet", Namespace: o.GetNamespace(), Name: name}, name != ""
}

// declaredBy is the Application that declares an object.
func declaredBy(o *unstructured.Unstructured) (ref, bool) {
	namespace, name, ok := strings.Cut(argocd.Parent(o), "/")
	return ref{Kind: "Application", Namespace: namespace, Name: name}, ok
}

// concerned are the objects that are about the cluster: of a spoke its
// Applications, those that declare them, the ApplicationSets that make them or
// should, and the root.
func (a argo) concerned(all *platform) map[ref]bool {
	out := map[ref]bool{}
	for _, r := range all.order {
		if a.cluster.IsHub() {
			out[r] = true
		}
		application := argocd.Application{Unstructured: all.objects[r]}
		if r.Kind != "Application" || !application.IsOf(a.identity()) {
			continue
		}
		out[r] = true
		if parent, ok := declaredBy(all.objects[r]); ok {
			out[parent] = true
		}
	}
	out[a.repository()] = true
	for _, r := range all.order {
		if set, ok := madeBy(all.objects[r]); ok && out[r] {
			out[set] = true
		}
		if own := a.registration(); r.Kind == "ApplicationSet" && own != nil && (argocd.Set{Unstructured: all.objects[r]}).Reaches(own.Labels()) {
			out[r] = true
		}
	}
	return out
}

// registration of the cluster; nil when the hub does not know it.
func (a argo) registration() *argocd.Registration {
	for i := range a.registrations {
		if a.registrations[i].Name() == argocd.SecretName(a.cluster.Name) {
			return &a.registrations[i]
		}
	}
	return nil
}

// identity is how Applications name the cluster.
func (a argo) identity() argocd.Cluster {
	out := argocd.Cluster{Name: a.cluster.Name}
	if own := a.registration(); own != nil {
		out.Server = own.Server()
	}
	return out
}

// fetch has the root and the cluster's Applications compared with Git now. One
// that does not exist is left for verify to miss. Argo CD itself repeats a comparison
// that failed at its interval, which may be an hour.
func (a argo) fetch(ctx context.Context, k kube.Cluster, at time.Time, again bool) error {
	p, err := a.look(ctx, k)
	if err != nil {
		return err
	}
	for _, r := range p.order {
		o := p.objects[r]
		if r.Kind != "Application" || again && (refreshing(o) || syncing(o) != "" || a.check(p, o).Ready) {
			continue
		}
		if err := (argocd.Hub{Client: k.Client}).Refresh(ctx, argocd.Application{Unstructured: o}, fetchManager); err != nil {
			return err
		}
	}
	return nil
}

// registered says whether the hub knows the cluster.
func (a argo) registered() Check {
	registered := Check{Kind: "Secret", Namespace: argocd.Namespace, Name: argocd.SecretName(a.cluster.Name)}
	switch own := a.registration(); {
	case own == nil:
		registered.Message = "does not exist: the hub does not know the cluster"
	case own.Leaving():
		registered.Message = "says that the cluster is being destroyed"
	default:
		registered.Ready, registered.Message = true, "the hub knows the cluster"
	}
	return registered
}

// missing says whether the hub knows the cluster, and has a root at all, and which addons of the label
// monitoring no Application releases.
func (a argo) missing(p *platform) []Check {
	out := []Check{a.registered()}
	if root := a.repository(); p.objects[root] == nil {
		out = append(out, Check{Kind: root.Kind, Namespace: root.Namespace, Name: root.Name, Message: "there is no root Application"})
	}
	return append(out, unreleased(a, p, a.cluster.Monitoring(), func(o *unstructured.Unstructured, addon string) bool {
		return o.GetKind() == "Application" && o.GetLabels()[names.AddonLabel] == addon && argocd.Application{Unstructured: o}.IsOf(a.identity())
	})...)
}

// needs lists what an object waits for: an Application for the ApplicationSet
// that makes it, and for what it applied of Argo CD's itself.
func (argo) needs(o *unstructured.Unstructured) []ref {
	var out []ref
	if set, ok := madeBy(o); ok {
		out = append(out, set)
	}
	for _, m := range resources(o) {
		if m["group"] != argocd.Group || o.GetKind() != "Application" {
			continue
		}
		kind, _ := m["kind"].(string)
		namespace, _ := m["namespace"].(string)
		name, _ := m["name"].(string)
		out = append(out, ref{Kind: kind, Namespace: namespace, Name: name})
	}
	return out
}

func (a argo) check(p *platform, o *unstructured.Unstructured) Check {
	if o.GetKind() == "ApplicationSet" {
		return a.checkSet(o)
	}
	// The health of the root is that of all clusters, and not of one spoke.
	return checkApplication(p, o, a.cluster.IsSpoke() && refOf(o) == a.repository())
}

// checkSet judges an ApplicationSet by its conditions, and by the number of
// Applications that it owes: its status does not say which clusters it has seen.
func (a argo) checkSet(o *unstructured.Unstructured) Check {
	c := Check{Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName()}
	failed, has := condition(o, "ErrorOccurred")
	current, judged := condition(o, "ResourcesUpToDate")
	c.Since = current.LastTransitionTime.Time
	reached := a.reached(argocd.Set{Unstructured: o})
	switch {
	case o.GetDeletionTimestamp() != nil:
		c.Message = "is being deleted"
	case !has && !judged:
		c.Message = "not reconciled yet: is Argo CD's ApplicationSet controller running?"
	case failed.Status == "True":
		c.Message = strings.TrimSpace(failed.Reason + ": " + failed.Message)
	case current.Status != "True":
		c.Message = "is not up to date: " + current.Message
	case a.made[refOf(o)] < reached:
		c.Message = fmt.Sprintf("has made %s for %s that its generators reach",
			wording.Plural(a.made[refOf(o)], "Application", "Applications"), wording.Plural(reached, "cluster", "clusters"))
	default:
		c.Ready, c.Message = true, current.Message
	}
	return c
}

// reached is how many Applications the set owes at least.
func (a argo) reached(s argocd.Set) int {
	if !s.ByClustersAlone() {
		return 0
	}
	n := 0
	for _, r := range a.registrations {
		if s.Reaches(r.Labels()) {
			n++
		}
	}
	return n
}

func (a argo) releases(ctx context.Context, k kube.Cluster, addons []string) ([]string, error) {
	return (argocd.Hub{Client: k.Client}).OfAddons(ctx, a.cluster.Name, addons)
}
