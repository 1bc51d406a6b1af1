package bootstrap

import (
	"context"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"

	"tombolo/components/distribution"
	"tombolo/config"
	"tombolo/internal/names"
)

// This file finds an engine that others have installed on a cluster of theirs. Two of a
// kind work on the same objects, and ours, applied over it, would be deleted with all that
// it has made when bootstrap is destroyed: definitions go with their objects.

// meetInstalled fails when an existing cluster has an engine of the file's kind that is
// not ours, and is not to be taken over. It asks before anything is made, as long as
// nothing is: whatever comes later may be ours. A preview asks, too, when it knows the way:
// the cluster is there before core.
func (p *program) meetInstalled() error {
	if !p.c.IsExisting() || p.c.IsSpoke() {
		return nil
	}
	if p.last.Digest != "" {
		p.takenOver, p.lenient = p.last.TakenOver, p.last.Lenient
		return nil
	}
	text, err := internals.UnsafeAwaitOutput(p.ctx.Context(), p.own.kubeconfig)
	if err != nil || !text.Known {
		return err
	}
	e := fluxEngine(p.c, distributionRecord{TakenOver: true})
	if p.c.GitOps.Engine == config.ArgoCD {
		e = argocdEngine()
	}
	kubeconfig := text.Value.(string)
	found, err := e.findOthers(p.ctx.Context(), kubeconfig, p.o.Env, p.c.Name)
	if err != nil || found == nil {
		return err
	}
	if !p.c.GitOps.TakeOver {
		return e.refuse(found)
	}
	return p.takeOver(e, kubeconfig)
}

// findOthers asks for the engine's definition, which every installation of it has,
// whatever its namespace; nil for none, and for one that bootstrap has begun with: then
// the engine's namespace is ours, and the definition was applied as we apply it. The label
// alone does not say so: people set it to hand a namespace over.
func (e engine) findOthers(ctx context.Context, kubeconfig string, env map[string]string, cluster string) (*metav1.PartialObjectMetadata, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	client, host, err := metadataClient(kubeconfig, env)
	if err != nil {
		return nil, err
	}
	namespace, err := metadataOf(ctx, client, schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, e.product.Namespace)
	var found *metav1.PartialObjectMetadata
	if err == nil {
		found, err = metadataOf(ctx, client, definitionsResource, e.definition)
	}
	if err != nil {
		return nil, e.unanswered(err, host)
	}
	begun := found != nil && namespace != nil &&
		namespace.Labels[names.ClusterLabel] == cluster && found.Annotations[distribution.PatchForce] != ""
	if begun {
		return nil, nil
	}
	return found, nil
}

// definitionsResource is that of custom resource definitions.
var definitionsResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

func (e engine) unanswered(err error, host string) error {
	return fmt.Errorf("look for %s on the existing cluster: %w; check that %s is reachable from here and that this identity is an admin of the cluster: "+
		"its owner can give it an access entry", e.product.Name, err, host)
}

// refuse tells of an engine that is not to be taken over.
func (e engine) refuse(found *metav1.PartialObjectMetadata) error {
	return fmt.Errorf("the existing cluster has %s already: its definition %s was made at %s, and not by Tombolo; nothing was made: two of them would work on the same objects. %s",
		e.product.Name, e.definition, found.CreationTimestamp.UTC().Format("2006-01-02 15:04 MST"), e.instead)
}

// metadataOf reads an object's metadata; nil when there is none.
func metadataOf(ctx context.Context, client metadata.Interface, resource schema.GroupVersionResource, name string) (*metav1.PartialObjectMetadata, error) {
	found, err := client.Resource(resource).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return found, err
}
