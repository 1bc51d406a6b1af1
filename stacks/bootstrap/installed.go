package bootstrap

import (
	"context"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"

	"tombolo/config"
	"tombolo/internal/names"
)

// This file finds an engine that others have installed on a cluster of theirs. Two of a
// kind work on the same objects, and ours, applied over it, would be deleted with all that
// it has made when bootstrap is destroyed: definitions go with their objects.

// refuseInstalled fails when an existing cluster has an engine of the file's kind that is
// not ours. It asks before anything is made, as long as nothing is: whatever comes later
// may be ours.
func (p *program) refuseInstalled() error {
	if !p.c.IsExisting() || p.c.IsSpoke() || p.o.Placeholders || p.last.Digest != "" {
		return nil
	}
	text, err := internals.UnsafeAwaitOutput(p.ctx.Context(), p.own.kubeconfig)
	if err != nil || !text.Known {
		return err
	}
	e := fluxEngine(p.c)
	if p.c.GitOps.Engine == config.ArgoCD {
		e = argocdEngine()
	}
	return e.refuseOthers(p.ctx.Context(), text.Value.(string), p.o.Env, p.c.Name)
}

// refuseOthers asks for the engine's definition, which every installation of it has,
// whatever its namespace. An engine namespace of ours says that bootstrap has begun before.
func (e engine) refuseOthers(ctx context.Context, kubeconfig string, env map[string]string, cluster string) error {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	client, host, err := metadataClient(kubeconfig, env)
	if err != nil {
		return err
	}
	begun, err := metadataOf(ctx, client, schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, e.product.Namespace)
	if err == nil && begun != nil && begun.Labels[names.ClusterLabel] == cluster {
		return nil
	}
	var found *metav1.PartialObjectMetadata
	if err == nil {
		found, err = metadataOf(ctx, client, schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}, e.definition)
	}
	if err != nil {
		return fmt.Errorf("look for %s on the existing cluster: %w; check that %s is reachable from here and that this identity is an admin of the cluster: "+
			"its owner can give it an access entry", e.product.Name, err, host)
	}
	if found == nil {
		return nil
	}
	return fmt.Errorf("the existing cluster has %s already: its definition %s was made at %s, and not by Tombolo; nothing was made: two of them would work on the same objects. "+
		"Have its owner remove it, definitions included, or leave the cluster to it",
		e.product.Name, e.definition, found.CreationTimestamp.UTC().Format("2006-01-02 15:04 MST"))
}

// metadataOf reads an object's metadata; nil when there is none.
func metadataOf(ctx context.Context, client metadata.Interface, resource schema.GroupVersionResource, name string) (*metav1.PartialObjectMetadata, error) {
	found, err := client.Resource(resource).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return found, err
}
