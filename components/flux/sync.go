package flux

import (
	"encoding/base64"

	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apiextensions"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// syncTimeout is how long Flux waits for the tree's objects to become ready.
const syncTimeout = "10m"

// sync makes the objects that tell Flux what to follow.
func sync(ctx *pulumi.Context, name string, args *EngineArgs, parent pulumi.Resource, installed []pulumi.Resource) error {
	spec := map[string]any{
		"interval": args.Interval.String(),
		"url":      args.URL,
		"ref":      map[string]any{"branch": args.Branch},
	}
	before := installed
	if args.Auth != nil {
		secret, err := authSecret(ctx, name, args.Auth, parent)
		if err != nil {
			return err
		}
		before = append(before, secret)
		spec["secretRef"] = map[string]any{"name": AuthName}
	}
	repository, err := custom(ctx, name+"-repository", "source.toolkit.fluxcd.io/v1", "GitRepository", spec,
		pulumi.Parent(parent), pulumi.DependsOn(before))
	if err != nil {
		return err
	}
	before = append(before, repository)
	_, err = custom(ctx, name+"-kustomization", "kustomize.toolkit.fluxcd.io/v1", "Kustomization", map[string]any{
		"interval": args.Interval.String(),
		"path":     args.treePath(),
		"prune":    true,
		"wait":     true,
		"timeout":  syncTimeout,
		// On destroy, what Flux made is gone before the Kustomization is.
		"deletionPolicy": "WaitForTermination",
		"sourceRef":      map[string]any{"kind": "GitRepository", "name": SyncName},
		"postBuild": map[string]any{"substituteFrom": []any{
			map[string]any{"kind": "ConfigMap", "name": args.SubstituteFrom},
		}},
	}, pulumi.Parent(parent), pulumi.DependsOn(before))
	return err
}

func custom(ctx *pulumi.Context, name, apiVersion, kind string, spec map[string]any, opts ...pulumi.ResourceOption) (pulumi.Resource, error) {
	return apiextensions.NewCustomResource(ctx, name, &apiextensions.CustomResourceArgs{
		ApiVersion:  pulumi.String(apiVersion),
		Kind:        pulumi.String(kind),
		Metadata:    metav1.ObjectMetaArgs{Name: pulumi.String(SyncName), Namespace: pulumi.String(Namespace)},
		OtherFields: map[string]any{"spec": input(spec)},
	}, opts...)
}

// authSecret sends data, not stringData: server-side apply does not track the
// latter, and a removed key would stay.
func authSecret(ctx *pulumi.Context, name string, auth *Auth, parent pulumi.Resource) (pulumi.Resource, error) {
	data := pulumi.StringMap{}
	for key, value := range map[string]pulumi.StringInput{
		"username": auth.Username, "password": auth.Password,
		"identity": auth.PrivateKey, "known_hosts": auth.KnownHosts,
	} {
		if value == nil {
			continue
		}
		data[key] = value.ToStringOutput().ApplyT(func(s string) string {
			return base64.StdEncoding.EncodeToString([]byte(s))
		}).(pulumi.StringOutput)
	}
	return corev1.NewSecret(ctx, name+"-auth", &corev1.SecretArgs{
		Metadata: metav1.ObjectMetaArgs{Name: pulumi.String(AuthName), Namespace: pulumi.String(Namespace)},
		Type:     pulumi.String("Opaque"),
		Data:     data,
	}, pulumi.Parent(parent))
}
