package health

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"tombolo/automation/argocd"
	"tombolo/automation/kube"
)

// checkApplication judges an Application by its status: compared as it is
// declared now, synced, healthy unless onlySync, and at the repository's revision.
func checkApplication(p *platform, o *unstructured.Unstructured, onlySync bool) Check {
	c := Check{Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName(), Revision: syncedTo(o)}
	c.Since, _ = time.Parse(time.RFC3339, kube.Text(o, "status", "health", "lastTransitionTime"))
	c.Message = obstacle(o, onlySync)
	if c.Message == "" {
		c.Message = behindRoot(p, o)
	}
	if c.Ready = c.Message == ""; c.Ready {
		c.Message = kube.Text(o, "status", "operationState", "message")
	}
	return c
}

// obstacle is why an Application is not as Git declares it; "" when it is.
func obstacle(o *unstructured.Unstructured, onlySync bool) string {
	sync, health := kube.Text(o, "status", "sync", "status"), kube.Text(o, "status", "health", "status")
	switch problem, failed := errorCondition(o), failedOperation(o); {
	case o.GetDeletionTimestamp() != nil:
		return "is being deleted"
	case sync == "":
		return "not compared with Git yet: is Argo CD's application controller running?"
	case refreshing(o):
		return "was asked to look at Git now and has not yet"
	case problem != "":
		return problem
	case !compared(o):
		return "its latest change is not compared with the cluster yet"
	case failed != "":
		return failed
	case sync != "Synced" && syncing(o) != "":
		return sync + unsynced(o) + "; " + syncing(o)
	case sync != "Synced":
		return sync + unsynced(o)
	case syncing(o) != "":
		return syncing(o)
	case health != "Healthy" && !onlySync:
		return strings.TrimSuffix(health+": "+unhealthyPart(o), ": ")
	}
	return ""
}

// refreshing says that Argo CD was asked to compare and has not yet.
func refreshing(o *unstructured.Unstructured) bool {
	return o.GetAnnotations()[argocd.RefreshAnnotation] != ""
}

// errorCondition is the first of the conditions that tell of an error.
func errorCondition(o *unstructured.Unstructured) string {
	for _, c := range kube.Conditions(o) {
		if strings.HasSuffix(c.Type, "Error") {
			return c.Type + ": " + c.Message
		}
	}
	return ""
}

// compared says that the status is about the sources and the destination that
// the Application has now. Argo CD writes what it compared without what is empty.
func compared(o *unstructured.Unstructured) bool {
	for _, field := range []string{"source", "sources", "destination"} {
		is, _, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", field)
		was, _, _ := unstructured.NestedFieldNoCopy(o.Object, "status", "sync", "comparedTo", field)
		if !reflect.DeepEqual(withoutEmpty(is), withoutEmpty(was)) {
			return false
		}
	}
	return true
}

// withoutEmpty is a value without what is empty in it; nil when all is.
func withoutEmpty(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, item := range v {
			if kept := withoutEmpty(item); kept != nil {
				out[key] = kept
			}
		}
		if len(out) > 0 {
			return out
		}
	case []any:
		out := make([]any, 0, len(v))
		for _, item := range v {
			out = append(out, withoutEmpty(item))
		}
		if len(out) > 0 {
			return out
		}
	case string:
		if v != "" {
			return v
		}
	case bool:
		if v {
			return v
		}
	default:
		return v
	}
	return nil
}

// failedOperation is the first cause of a sync that failed; "" when the last one did not, or was about
// another revision. A sync that has ended and is running has failed, and Argo CD tries it again.
func failedOperation(o *unstructured.Unstructured) string {
	phase := kube.Text(o, "status", "operationState", "phase")
	again := phase == "Running" && kube.Text(o, "status", "operationState", "finishedAt") != ""
	if phase != "Failed" && phase != "Error" && !again {
		return ""
	}
	if at := kube.Text(o, "status", "operationState", "syncResult", "revision"); at != "" && at != kube.Text(o, "status", "sync", "revision") {
		return ""
	}
	for _, m := range entries(o, "status", "operationState", "syncResult", "resources") {
		if m["status"] == "SyncFailed" || m["hookPhase"] == "Failed" || m["hookPhase"] == "Error" {
			return fmt.Sprintf("sync failed: %s: %s", objectName(m), m["message"])
		}
	}
	return "sync failed: " + kube.Text(o, "status", "operationState", "message")
}

// unsynced names the first of the resources that are not as Git declares them.
func unsynced(o *unstructured.Unstructured) string {
	for _, m := range resources(o) {
		if m["status"] == "OutOfSync" {
			return ": " + objectName(m)
		}
	}
	return ""
}

// unhealthyPart is why the Application is not healthy: the first of its resources that is
// not, where Argo CD keeps that, or what it says itself.
func unhealthyPart(o *unstructured.Unstructured) string {
	for _, m := range resources(o) {
		status, _, _ := unstructured.NestedString(m, "health", "status")
		message, _, _ := unstructured.NestedString(m, "health", "message")
		if status != "" && status != "Healthy" {
			return strings.TrimSuffix(objectName(m)+" is "+status+": "+message, ": ")
		}
	}
	return kube.Text(o, "status", "health", "message")
}

func resources(o *unstructured.Unstructured) []map[string]any {
	return entries(o, "status", "resources")
}

// entries are the objects of a list in an object.
func entries(o *unstructured.Unstructured, path ...string) []map[string]any {
	list, _, _ := unstructured.NestedSlice(o.Object, path...)
	out := make([]map[string]any, 0, len(list))
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// objectName is a resource of a status, as "Deployment monitoring/prometheus".
func objectName(m map[string]any) string {
	kind, _ := m["kind"].(string)
	namespace, _ := m["namespace"].(string)
	name, _ := m["name"].(string)
	return kind + " " + strings.TrimPrefix(namespace+"/"+name, "/")
}

// syncedTo is the revision, or the revisions, that an Application is compared with.
func syncedTo(o *unstructured.Unstructured) string {
	if several, ok, _ := unstructured.NestedStringSlice(o.Object, "status", "sync", "revisions"); ok {
		return strings.Join(several, ", ")
	}
	return kube.Text(o, "status", "sync", "revision")
}

// behindRoot says that an Application which follows the same branch as the root
// is at another revision.
func behindRoot(p *platform, o *unstructured.Unstructured) string {
	root := p.objects[p.engine.repository()]
	if root == nil || root == o {
		return ""
	}
	followed, _, _ := unstructured.NestedMap(root.Object, "spec", "source")
	expected := kube.Text(root, "status", "sync", "revision")
	revisions, several, _ := unstructured.NestedStringSlice(o.Object, "status", "sync", "revisions")
	sources, _, _ := unstructured.NestedSlice(o.Object, "spec", "sources")
	if !several {
		source, _, _ := unstructured.NestedMap(o.Object, "spec", "source")
		sources, revisions = []any{source}, []string{kube.Text(o, "status", "sync", "revision")}
	}
	for i, item := range sources {
		source, _ := item.(map[string]any)
		if i < len(revisions) && source["repoURL"] == followed["repoURL"] && source["targetRevision"] == followed["targetRevision"] && revisions[i] != expected {
			return fmt.Sprintf("is at revision %s, and the root at %s", orNone(revisions[i]), expected)
		}
	}
	return ""
}
