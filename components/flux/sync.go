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
		o.annotate(patchForce, "true")
		made, err := custom(ctx, name+"-"+role, o, pulumi.Parent(parent), pulumi.DependsOn(before))
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
		repository["secretRef"] = map[string]any{"name": AuthName}
	}
	kustomization := map[string]any{
		"interval": f.Interval.String(),
		"path":     f.treePath(),
		"prune":    true,
		"wait":     true,
		"timeout":  syncTimeout,
		// On destroy, what Flux made is gone before the Kustomization is.
		"deletionPolicy": "WaitForTermination",
		"sourceRef":      map[string]any{"kind": "GitRepository", "name": SyncName},
		"postBuild": map[string]any{"substituteFrom": []any{
			map[string]any{"kind": "ConfigMap", "name": f.SubstituteFrom},
		}},
	}
	objects := []object{
		{"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository", "spec": repository},
		{"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "spec": kustomization},
	}
	for _, o := range objects {
		o["metadata"] = map[string]any{"name": SyncName, "namespace": Namespace}
		o.annotate(pruneAnnotation, disabled)
	}
	return objects
}

func custom(ctx *pulumi.Context, name string, o object, opts ...pulumi.ResourceOption) (pulumi.Resource, error) {
	meta, _ := o["metadata"].(map[string]any)
	annotations := pulumi.StringMap{}
	for key, value := range meta["annotations"].(map[string]any) {
		annotations[key] = pulumi.String(value.(string))
	}
	return apiextensions.NewCustomResource(ctx, name, &apiextensions.CustomResourceArgs{
		ApiVersion: pulumi.String(o.text("apiVersion")),
		Kind:       pulumi.String(o.kind()),
		Metadata: metav1.ObjectMetaArgs{
			Name: pulumi.String(o.meta("name")), Namespace: pulumi.String(o.meta("namespace")), Annotations: annotations,
		},
		OtherFields: map[string]any{"spec": input(o["spec"])},
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
