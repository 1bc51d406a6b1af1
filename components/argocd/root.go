package argocd

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/distribution"
	"tombolo/components/object"
	"tombolo/internal/names"
)

// ResourcesFinalizer on an Application has Argo CD remove what the Application
// has made before it goes.
const ResourcesFinalizer = "resources-finalizer.argocd.argoproj.io"

// syncRetries is how often Argo CD tries a failed sync again, with growing
// pauses: about twenty minutes in all.
const syncRetries = 10

// project is the AppProject of the platform. It allows every source: charts are
// in many repositories, and which of them are used is reviewed where they are
// named, in Git. It allows every registered cluster and namespace, since the
// platform is what every cluster gets. Teams get projects of their own.
func project() distribution.Object {
	everything := map[string]any{"group": "*", "kind": "*"}
	return distribution.Object{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject",
		"metadata": map[string]any{"name": names.Platform, "namespace": names.ArgoCDNamespace},
		"spec": map[string]any{
			"description":                "What every cluster gets, made by Tombolo",
			"sourceRepos":                []any{"*"},
			"destinations":               []any{map[string]any{"server": "*", "namespace": "*"}},
			"clusterResourceWhitelist":   []any{everything},
			"namespaceResourceWhitelist": []any{everything},
		},
	}
}

// root is the Application that everything else comes from.
func (a *EngineArgs) root() distribution.Object {
	return distribution.Object{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
		"metadata": map[string]any{"name": names.Platform, "namespace": names.ArgoCDNamespace, "finalizers": []any{ResourcesFinalizer}},
		"spec": map[string]any{
			"project":     names.Platform,
			"source":      map[string]any{"repoURL": a.URL, "targetRevision": a.Branch, "path": treePath(a.Path)},
			"destination": map[string]any{"server": InCluster, "namespace": names.ArgoCDNamespace},
			"syncPolicy": map[string]any{
				"automated":   map[string]any{"prune": true, "selfHeal": true},
				"syncOptions": []any{"ServerSideApply=true"},
				"retry": map[string]any{
					"limit":   syncRetries,
					"backoff": map[string]any{"duration": "5s", "factor": 2, "maxDuration": "3m"},
				},
			},
		},
	}
}

// authSecret is a repository of Argo CD's, by the label; empty without credentials.
func authSecret(args *EngineArgs) object.Args {
	if args.Auth == nil {
		return object.Args{}
	}
	meta := object.Meta{
		Name: names.PlatformAuth, Namespace: names.ArgoCDNamespace,
		Labels: pulumi.StringMap{SecretTypeLabel: pulumi.String("repository")},
	}
	return object.Secret(meta, "Opaque", map[string]pulumi.StringInput{
		"type": pulumi.String("git"), "url": pulumi.String(args.URL),
		"username": args.Auth.Username, "password": args.Auth.Password,
		"sshPrivateKey": args.Auth.PrivateKey,
	})
}
