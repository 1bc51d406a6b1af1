package health

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"tombolo/automation/kube"
)

// healthChecks is how kustomize-controller says that it waits for what a revision has made.
// Source: checkHealth in internal/controller/kustomization_controller.go of fluxcd/kustomize-controller v1.9.4.
var healthChecks = regexp.MustCompile(`Running health checks for revision (\S+) with a timeout of (\S+)`)

// unready is why a Kustomization or another object of Flux is not ready: what Flux says, until when it waits, and
// the source's newer revision that it has not looked at.
func (f flux) unready(p *platform, o *unstructured.Unstructured, ready metav1.Condition) string {
	said := strings.TrimSpace(ready.Reason + ": " + ready.Message)
	if o.GetKind() == externalSecret {
		return said + p.ofSecret(o)
	}
	working, has := condition(o, "Reconciling")
	if ready.Status == "Unknown" && has {
		said = strings.TrimSpace(working.Reason + ": " + working.Message)
	}
	at := kube.Text(o, "status", "lastAttemptedRevision")
	if m := healthChecks.FindStringSubmatch(said); m != nil {
		at = m[1]
		if timeout, err := time.ParseDuration(m[2]); err == nil && has {
			said += ", until about " + clock(working.LastTransitionTime.Add(timeout))
		}
	}
	if newer, ok := f.expected(p, o); ok && at != "" && newer != at {
		said += fmt.Sprintf("; this is about %s, and %s is not looked at yet", at, newer)
	}
	return said
}

// storeOf is the store that an ExternalSecret reads from.
func storeOf(o *unstructured.Unstructured) ref {
	r := ref{Kind: cmp.Or(kube.Text(o, "spec", "secretStoreRef", "kind"), secretStore), Namespace: o.GetNamespace(), Name: kube.Text(o, "spec", "secretStoreRef", "name")}
	if r.Kind == clusterStore {
		r.Namespace = ""
	}
	return r
}

// ofSecret is why an ExternalSecret gets nothing, after what its condition says: what was refused to its
// store, where that is not ready, or else to it. Events alone have the words of who refuses.
func (p *platform) ofSecret(o *unstructured.Unstructured) string {
	r, why := storeOf(o), p.refusals[refOf(o)]
	if store := p.objects[r]; store != nil {
		if ready, found := condition(store, "Ready"); found && ready.Status != metav1.ConditionTrue {
			why = r.Kind + " " + r.Name + ": " + cmp.Or(p.refusals[r], ready.Reason+": "+ready.Message)
		}
	}
	if why == "" {
		return ""
	}
	return "; " + strings.Join(strings.Fields(why), " ") // Vault's have several lines
}

// syncing says what Argo CD is doing with an Application, since when, and which newer revision it has not looked at;
// "" when it does nothing.
func syncing(o *unstructured.Unstructured) string {
	if kube.Text(o, "status", "operationState", "phase") != "Running" {
		return ""
	}
	out := "is being synced"
	at := kube.Text(o, "status", "operationState", "syncResult", "revision")
	if at != "" {
		out += " to " + at
	}
	if since, err := time.Parse(time.RFC3339, kube.Text(o, "status", "operationState", "startedAt")); err == nil {
		out += " since " + clock(since)
	}
	if message := kube.Text(o, "status", "operationState", "message"); message != "" {
		out += ": " + message
	}
	if newer := syncedTo(o); at != "" && newer != "" && newer != at {
		out += "; " + newer + " is not synced before this ends"
	}
	return out
}

// clock is a time of the day, which says its zone.
func clock(t time.Time) string { return t.UTC().Format("15:04:05 UTC") }
