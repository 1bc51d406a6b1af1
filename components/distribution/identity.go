package distribution

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/object"
)

// This file gives the pods that read Git the identity of Auth.ClientID. What it makes are patches of the
// distribution's objects, also of those that Git has: an engine that cannot read the repository never
// gets the label that a commit would bring. What AKS's webhook reads:
// https://azure.github.io/azure-workload-identity/docs/topics/service-account-labels-and-annotations.html
const (
	clientAnnotation = "azure.workload.identity/client-id"
	useLabel         = "azure.workload.identity/use"
)

// identityAnnotation of pods is the client id, which they get when they start: another one rolls them.
const identityAnnotation = "tombolo/git-identity"

func (r Recipe) byIdentity() bool { return r.Args.Auth != nil && r.Args.Auth.ClientID != nil }

// annotateAccount has the webhook say to pods of the service account which identity they have.
func (r Recipe) annotateAccount(ctx *pulumi.Context, name string, opts ...pulumi.ResourceOption) (pulumi.Resource, error) {
	return r.patch(ctx, name+"-reader-account", object.Args{APIVersion: "v1", Kind: "ServiceAccount"},
		pulumi.StringMap{clientAnnotation: r.Args.Auth.ClientID}, opts...)
}

// labelPods has the webhook look at the pods that read Git. The provider tries a patch in a preview as it
// is, and without its Deployment it is no valid one: it has to wait for that.
func (r Recipe) labelPods(ctx *pulumi.Context, name string, installed Installed, opts ...pulumi.ResourceOption) (pulumi.Resource, error) {
	const api, kind = "apps/v1", "Deployment"
	i := slices.Index(installed.identities, api+" "+kind+" "+r.Namespace+"/"+r.Reader)
	if i < 0 {
		return nil, fmt.Errorf("the distribution has no Deployment %s, which reads the repository by the cluster's identity", r.Reader)
	}
	made := installed.Resources[i].(*pulumi.CustomResourceState)
	id := pulumi.All(r.Args.Auth.ClientID, made.ID()).ApplyT(func(v []any) string { return v[0].(string) })
	pods := map[string]any{"metadata": map[string]any{
		"labels": map[string]any{useLabel: "true"}, "annotations": map[string]any{identityAnnotation: id},
	}}
	return r.patch(ctx, name+"-reader-pods", object.Args{
		APIVersion: api, Kind: kind, Fields: map[string]any{"spec": map[string]any{"template": pods}},
	}, pulumi.StringMap{"pulumi.com/skipAwait": pulumi.String("true")}, append(opts, pulumi.DependsOn(installed.Resources))...)
}

func (r Recipe) patch(ctx *pulumi.Context, name string, args object.Args, annotations pulumi.StringMap, opts ...pulumi.ResourceOption) (pulumi.Resource, error) {
	all := pulumi.StringMap{PatchForce: pulumi.String("true")}
	maps.Copy(all, annotations)
	args.Patch, args.Meta = true, object.Meta{Name: r.Reader, Namespace: r.Namespace, Annotations: all}
	patch, err := object.New(ctx, name, args, opts...)
	if err != nil {
		return nil, fmt.Errorf("identity of %s: %w", r.Reader, err)
	}
	return patch, nil
}
