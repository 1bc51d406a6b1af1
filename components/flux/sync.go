package flux

import (
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/distribution"
	"tombolo/internal/names"
)

// syncTimeout is how long Flux waits for the tree's objects to become ready.
const syncTimeout = "10m"

// sync makes the objects that tell Flux what to follow.
func sync(ctx *pulumi.Context, name string, args *EngineArgs, parent pulumi.Resource, installed []pulumi.Resource) error {
	before := installed
	if args.Auth != nil {
		secret, err := authSecret(ctx, name, args.Auth, parent)
		if err != nil {
			return err
		}
		before = append(before, secret)
	}
	for i, o := range args.syncObjects(args.Auth != nil) {
		role := []string{"repository", "kustomization"}[i]
		o.Annotate(distribution.PatchForce, "true")
		made, err := distribution.Custom(ctx, name+"-"+role, o, pulumi.Parent(parent), pulumi.DependsOn(before))
		if err != nil {
			return err
		}
		before = append(before, made)
	}
	return nil
}

// syncObjects are the GitRepository and the Kustomization. Git may hold them
// too; when it no longer does, Flux must not take away what it lives on.
func (f Follow) syncObjects(private bool) []object {
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
	objects := []object{
		{"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository", "spec": repository},
		{"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "spec": kustomization},
	}
	for _, o := range objects {
		o["metadata"] = map[string]any{"name": names.Platform, "namespace": names.FluxNamespace}
		o.Annotate(pruneAnnotation, disabled)
	}
	return objects
}

func authSecret(ctx *pulumi.Context, name string, auth *Auth, parent pulumi.Resource) (pulumi.Resource, error) {
	return corev1.NewSecret(ctx, name+"-auth", &corev1.SecretArgs{
		Metadata: metav1.ObjectMetaArgs{Name: pulumi.String(names.PlatformAuth), Namespace: pulumi.String(names.FluxNamespace)},
		Type:     pulumi.String("Opaque"),
		Data: distribution.SecretData(map[string]pulumi.StringInput{
			"username": auth.Username, "password": auth.Password,
			"identity": auth.PrivateKey, "known_hosts": auth.KnownHosts,
		}),
	}, pulumi.Parent(parent))
}
