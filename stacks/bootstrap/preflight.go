package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"

	"tombolo/components/argocd"
	"tombolo/components/distribution"
	"tombolo/components/flux"
	"tombolo/components/registration"
	"tombolo/config"
	"tombolo/internal/names"
)

// Preflight checks what the program will need besides the cluster file: the
// engine's distribution, with its checksum, and the secrets in files and in the
// environment. Core takes a quarter of an hour in a cloud; what is missing is
// better said before it. All problems are reported together. A spoke
// needs no engine, for its hub has it, but the token of a hub that others run.
func Preflight(ctx context.Context, c *config.Cluster, env map[string]string) error {
	s := secrets{cluster: c, env: env}
	problems := []error{s.checkSealing()}
	if ch := c.GitOps.Channel; ch != nil {
		problems = append(problems, s.check(channelAddressPath, ch.Address, names.CheckChannel))
	}
	if h := c.GitOps.ExternalHub; c.HasExternalHub() {
		return errors.Join(append(problems, s.check(hubTokenPath, h.Token, nil))...)
	}
	if c.IsSpoke() {
		return errors.Join(problems...)
	}
	if _, err := manifestOf(ctx, product(c), c); err != nil {
		problems = append(problems, fmt.Errorf("gitops.distribution: %w", err))
	}
	if w := c.GitOps.Webhook; w != nil {
		problems = append(problems, s.check(webhookSecretPath, w.Secret, names.CheckWebhookToken))
	}
	if pull := c.Egress.Images.PullSecret; pull != nil {
		problems = append(problems, s.check(pullPasswordPath, pull.Password, nil))
	}
	if a := c.GitOps.Auth; a != nil {
		problems = append(problems, s.check("gitops.auth.password", a.Password, nil), s.checkGitKey(a))
	}
	return errors.Join(problems...)
}

// check reads a secret that is asked for and not in Pulumi's own keeping; judge, if there is one, says what is
// wrong with it.
func (s secrets) check(path string, ref *config.SecretRef, judge func(secret string) error) error {
	if ref == nil || ref.Config != "" {
		return nil
	}
	secret, err := s.read(path, ref)
	if err != nil || judge == nil {
		return err
	}
	if err := judge(secret); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// product is the engine that is installed on the cluster.
func product(c *config.Cluster) distribution.Product {
	if c.GitOps.Engine == config.ArgoCD {
		return argocd.Product()
	}
	return flux.Product()
}

// labManifests names a directory in which the lab has manifests of its own, by the checksums of the
// releases in whose place they are: it downloads nothing.
const labManifests = "TOMBOLO_LAB_MANIFESTS"

// source is where the engine's install manifest or chart is.
func source(c *config.Cluster) distribution.Source {
	d := c.GitOps.Distribution
	if dir := os.Getenv(labManifests); dir != "" && d.Path == "" && d.SHA256 != "" {
		own := filepath.Join(dir, d.SHA256)
		if _, err := os.Stat(own); err == nil {
			return distribution.Source{Path: own}
		}
	}
	s := distribution.Source{SHA256: d.SHA256, Values: d.Values, KubernetesVersion: c.Kubernetes.Version}
	if d.Path != "" {
		s.Path = besideFile(c, d.Path)
	} else {
		s.URL = d.URL
	}
	return s
}

// besideFile is a path of the cluster file, which is relative to it.
func besideFile(c *config.Cluster, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(c.File), path)
}

// unclaimed is the address of the cluster's API, once it is sure that the hub has no
// other owner's cluster of the name: the registration would be taken from it. One
// without an owner is from before, and is taken over.
func (p *program) unclaimed(hub connection) pulumi.StringOutput {
	return pulumi.All(hub.kubeconfig, p.h.Owner, p.h.ClusterEndpoint).ApplyT(func(v []any) (string, error) {
		err := refuseRegistered(p.ctx.Context(), v[0].(string), p.c.Name, v[1].(string), p.o.Env)
		if p.ctx.DryRun() && apierrors.IsForbidden(err) {
			err = nil // previewers may not read Secrets, and the up that follows looks
		}
		return v[2].(string), err
	}).(pulumi.StringOutput)
}

func refuseRegistered(ctx context.Context, kubeconfig, cluster, own string, env map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	client, host, err := metadataClient(kubeconfig, env)
	if err != nil {
		return err
	}
	secret := registration.SecretName(cluster)
	found, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace(names.ArgoCDNamespace).Get(ctx, secret, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the registration of %s at its hub: %w; check that %s is reachable from here and that this identity is among its kubernetes.admins, "+
			"or for a hub that others run that its token may get Secret %s/%s", cluster, err, host, names.ArgoCDNamespace, secret)
	}
	if by := found.Annotations[names.OwnerKey]; by != "" && by != own {
		return fmt.Errorf("the hub has registered another cluster %s: Secret %s/%s has the owner %s, and this cluster is %s; "+
			"give this one another name, or deregister the other one with the backend that has it",
			cluster, names.ArgoCDNamespace, secret, by, own)
	}
	return nil
}

// What follows finds an engine that others have installed on a cluster of theirs. Two of a
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
		e = argocdEngine(p.c)
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
