package flux

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/distribution"
	"tombolo/components/object"
	"tombolo/internal/names"
)

// syncTimeout is how long Flux waits for the tree's objects to become ready.
const syncTimeout = "10m"

// syncObjects are the GitRepository and the Kustomization. Git may hold them
// too; when it no longer does, Flux must not take away what it lives on.
func (f Follow) syncObjects(private bool) []distribution.Object {
	repository := map[string]any{
		"interval": f.Interval.String(),
		"url":      f.URL,
		"ref":      map[string]any{"branch": f.Branch},
	}
	if private {
		repository["secretRef"] = map[string]any{"name": names.PlatformAuth}
	}
	kustomization := map[string]any{
		"interval": f.Interval.String(),
		"path":     f.treePath(),
		"prune":    true,
		"wait":     true,
		"timeout":  syncTimeout,
		// On destroy, what Flux made is gone before the Kustomization is.
		"deletionPolicy": "WaitForTermination",
		"sourceRef":      map[string]any{"kind": "GitRepository", "name": names.Platform},
		"postBuild": map[string]any{"substituteFrom": []any{
			map[string]any{"kind": "ConfigMap", "name": f.SubstituteFrom},
		}},
	}
	objects := []distribution.Object{
		{"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository", "spec": repository},
		{"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "spec": kustomization},
	}
	for _, o := range objects {
		o["metadata"] = map[string]any{"name": names.Platform, "namespace": names.FluxNamespace}
		o.Annotate(pruneAnnotation, disabled)
	}
	return objects
}

// authSecret is the Secret with the credentials; empty without any.
func authSecret(auth *distribution.Auth) object.Args {
	if auth == nil {
		return object.Args{}
	}
	data := map[string]pulumi.StringInput{"username": auth.Username, "password": auth.Password, "identity": auth.PrivateKey}
	if auth.KnownHosts != "" {
		data["known_hosts"] = pulumi.String(auth.KnownHosts)
	}
	return object.Secret(object.Meta{Name: names.PlatformAuth, Namespace: names.FluxNamespace}, "Opaque", data)
}
