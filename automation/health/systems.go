package health

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"tombolo/automation/kube"
	"tombolo/internal/names"
)

// System is what a look has found of one team's system. No verification waits for it: what
// a team has in its repository is the team's to mend.
type System struct {
	// Name of the system, and of its namespace.
	Name string `json:"name"`
	// Team that looks after it.
	Team string `json:"team"`
	// Ready says that everything which the engine has for it is.
	Ready bool `json:"ready"`
	// Suspended says that nothing is delivered, as its file wants it.
	Suspended bool `json:"suspended,omitempty"`
	// Revision that was delivered last.
	Revision string `json:"revision,omitempty"`
	// Refusal is why it is not ready: the first cause. For what is being tried again, it is
	// why the last try failed.
	Refusal string `json:"refusal,omitempty"`
}

// systemName is the name of what delivers a system, in the system's namespace.
const systemName = "system"

// setApart takes what is in the namespaces of systems out of the platform. A system is a
// release in the namespace names.SystemsNamespace; it stays, as it is the platform's.
func (flux) setApart(p *platform) {
	p.apart = map[string][]ref{}
	for _, r := range p.order {
		if r.Kind == "HelmRelease" && r.Namespace == names.SystemsNamespace {
			p.apart[r.Name] = nil
		}
	}
	p.order = slices.DeleteFunc(p.order, func(r ref) bool {
		_, ofSystem := p.apart[r.Namespace]
		if ofSystem {
			p.apart[r.Namespace] = append(p.apart[r.Namespace], r)
		}
		return ofSystem
	})
}

// systems are those of the cluster, by name.
func (p *platform) systems() []System {
	var out []System
	for _, name := range slices.Sorted(maps.Keys(p.apart)) {
		out = append(out, p.engine.system(p, name))
	}
	return out
}

// notSetUp is why a system is not ready that the engine has nothing for yet.
const notSetUp = "nothing is set up for it yet"

func (f flux) system(p *platform, name string) System {
	s := System{Name: name, Ready: true}
	if release := p.objects[ref{"HelmRelease", names.SystemsNamespace, name}]; release != nil {
		s.Team = kube.Text(release, "spec", "values", "team")
	}
	delivery := p.objects[ref{"Kustomization", name, systemName}]
	if delivery == nil {
		s.Ready, s.Refusal = false, notSetUp
	} else {
		s.Revision, s.Suspended = revision(delivery), suspended(delivery)
	}
	var checks []Check
	for _, r := range p.apart[name] {
		if s.Suspended {
			break
		}
		c := f.check(p, p.objects[r])
		if r.Kind != externalSecret {
			c.Message = cmp.Or(p.refusals[r], c.Message)
		}
		checks = append(checks, c)
	}
	if cause, failing := p.firstCause(checks); failing {
		s.Ready, s.Refusal = false, cmp.Or(s.Refusal, cause.String())
	}
	return s
}

// readRefusals reads why the last try failed of what is being tried again in the namespaces of
// systems: meanwhile, its condition says only that it is in progress. Those of secrets and their
// stores never say who refuses what. Without an event, or the right to read it, that stays.
func (p *platform) readRefusals(ctx context.Context, k kube.Cluster) {
	p.refusals = map[ref]string{}
	tried := map[ref]bool{}
	for _, all := range p.apart {
		for _, r := range all {
			if ready, found := condition(p.objects[r], "Ready"); found && ready.Status == metav1.ConditionUnknown {
				tried[r] = true
			}
		}
	}
	for r, o := range p.objects {
		if r.Kind != externalSecret && r.Kind != secretStore && r.Kind != clusterStore {
			continue
		}
		if ready, found := condition(o, "Ready"); found && ready.Status == metav1.ConditionFalse {
			tried[r] = true
		}
	}
	if len(tried) == 0 {
		return
	}
	// One list for all: with many systems, one for each would be hundreds of calls.
	events := k.Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "events"})
	list, err := events.List(ctx, metav1.ListOptions{FieldSelector: "type=Warning,involvedObject.kind!=Pod"})
	if err != nil {
		return
	}
	slices.SortStableFunc(list.Items, func(a, b unstructured.Unstructured) int { return eventTime(&a).Compare(eventTime(&b)) })
	for i := range list.Items {
		e := &list.Items[i]
		r := ref{kube.Text(e, "involvedObject", "kind"), kube.Text(e, "involvedObject", "namespace"), kube.Text(e, "involvedObject", "name")}
		if tried[r] && kube.Text(e, "type") == "Warning" {
			p.refusals[r] = strings.TrimSpace(kube.Text(e, "reason") + ": " + kube.Text(e, "message"))
		}
	}
}

// eventTime is when an event was seen last.
func eventTime(o *unstructured.Unstructured) time.Time {
	at, err := time.Parse(time.RFC3339, kube.Text(o, "lastTimestamp"))
	if err != nil {
		return o.GetCreationTimestamp().Time
	}
	return at
}
