package argocd

import "encoding/json"

// finalizersPatch is the merge patch that replaces the finalizers of just this
// version of the Application.
func finalizersPatch(a Application, finalizers []string) ([]byte, error) {
	meta := map[string]any{"finalizers": finalizers, "resourceVersion": a.GetResourceVersion()}
	if a.GetResourceVersion() == "" {
		delete(meta, "resourceVersion")
	}
	return json.Marshal(map[string]any{"metadata": meta})
}
