// Package flux installs Flux and gives it the repository to follow.
//
// What is made is of two kinds. The distribution (definitions, rights,
// controllers) is applied and handed over: whatever Flux or the platform tree
// does to it afterwards, a later up neither diffs nor reverts it, until a user
// asks for another distribution. The sync objects (GitRepository,
// Kustomization, credentials) stay with Pulumi, so that a branch or a password
// changed in the cluster file arrives.
//
// Files are both kinds as a Git repository holds them, for a Flux that manages
// itself.
package flux

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/distribution"
	"tombolo/components/object"
	"tombolo/components/webhook"
	"tombolo/internal/names"
)

const engineType = "tombolo:flux:Engine"

// Product is Flux, as a distribution.
func Product() distribution.Product {
	return distribution.Product{Name: "Flux", Namespace: names.FluxNamespace, Reader: names.SourceController, Environment: withoutGit()}
}

// withoutGit is the environment in which kustomize-controller finds no Git. It needs none:
// source-controller fetches. But kustomize, which it builds with, starts one for each reference
// that it takes for a repository, with what teams write as arguments, before the team's account
// is looked at, and with --no-remote-bases too. The image has Git in /usr/bin and the controller
// alone in /usr/local/bin. What it does need of /usr/bin is GnuPG, for SOPS, which takes a path.
// Sources: https://github.com/fluxcd/kustomize-controller/blob/v1.9.4/Dockerfile,
// https://github.com/kubernetes-sigs/kustomize/blob/api/v0.21.1/api/internal/git/cloner.go and
// https://github.com/getsops/sops/blob/v3.13.2/pgp/keysource.go ("SOPS_GPG_EXEC").
func withoutGit() distribution.Environment {
	return distribution.Environment{
		Deployment: "kustomize-controller", Containers: []string{"manager"},
		Variables: [][2]string{{"PATH", "/usr/local/bin"}, {"SOPS_GPG_EXEC", "/usr/bin/gpg"}},
	}
}

// EngineArgs are the arguments of an engine.
type EngineArgs struct {
	distribution.EngineArgs
	// Substitution is what Flux does with variables that have no value. Default:
	// SubstituteAsReleased.
	Substitution Substitution
	// SubstituteFrom names the ConfigMap with values for variables.
	SubstituteFrom string
	// Webhook is the type of the Git host that tells of pushes, with the Secret
	// names.PlatformWebhook; "" for none.
	Webhook string
}

// follow is what Flux follows.
func (a *EngineArgs) follow() Follow { return Follow{a.Repository, a.SubstituteFrom} }

// Follow is a tree in a Git repository, and how Flux follows it.
type Follow struct {
	distribution.Repository
	// SubstituteFrom names the ConfigMap with values for variables.
	SubstituteFrom string
}

// NewEngine installs Flux and makes the GitRepository and the Kustomization.
func NewEngine(ctx *pulumi.Context, name string, args *EngineArgs, opts ...pulumi.ResourceOption) (*distribution.Engine, error) {
	recipe, err := args.recipe()
	if err != nil {
		return nil, fmt.Errorf("flux %s: %w", name, err)
	}
	c, err := distribution.NewEngine(ctx, name, recipe, opts...)
	if err != nil {
		return nil, fmt.Errorf("flux %s: %w", name, err)
	}
	return c, nil
}

func (a *EngineArgs) recipe() (distribution.Recipe, error) {
	if err := errors.Join(append(a.Problems(), a.follow().substituteProblem())...); err != nil {
		return distribution.Recipe{}, err
	}
	objects, err := Product().Parse(a.Manifest)
	if err == nil {
		err = a.Substitution.apply(objects)
	}
	following := a.follow().syncObjects(providerOf(a.Auth))
	sync := []distribution.SyncObject{{Name: "repository", Object: following[0]}, {Name: "kustomization", Object: following[1]}}
	if err == nil && a.Webhook != "" {
		if !hasReceivers(objects) {
			return distribution.Recipe{}, errors.New("the distribution has no Receivers, which gitops.webhook needs; take one with notification-controller, or remove the key")
		}
		sync = append(sync, distribution.SyncObject{Name: "receiver", Object: receiver(a.Webhook)})
	}
	return distribution.Recipe{
		Product: Product(), Type: engineType, Args: &a.EngineArgs, Objects: objects, Secret: authSecret(a.Auth), Sync: sync,
	}, err
}

func hasReceivers(objects []distribution.Object) bool {
	return slices.ContainsFunc(objects, func(o distribution.Object) bool {
		return o.Is("CustomResourceDefinition", "receivers.notification.toolkit.fluxcd.io")
	})
}

// receiver has the Git host's events start a fetch of the repository. At the interval it takes a new
// token up.
func receiver(host string) distribution.Object {
	kind, events := webhook.ReceiverOf(host)
	spec := map[string]any{
		"type": kind, "interval": "1m", "secretRef": map[string]any{"name": names.PlatformWebhook},
		"resources": []any{map[string]any{"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository", "name": names.Platform}},
	}
	if events != nil {
		spec["events"] = events
	}
	return distribution.Object{
		"apiVersion": "notification.toolkit.fluxcd.io/v1", "kind": "Receiver", "spec": spec,
		"metadata": map[string]any{"name": names.Platform, "namespace": names.FluxNamespace},
	}
}

func (f Follow) substituteProblem() error {
	if f.SubstituteFrom == "" {
		return errors.New("substituteFrom is required")
	}
	return nil
}

// treePath is the path as Flux expects it: relative to the repository's root.
func (f Follow) treePath() string {
	return "./" + strings.TrimPrefix(strings.TrimPrefix(f.Path, "./"), "/")
}

// syncTimeout is how long Flux waits for the tree's objects to become ready.
const syncTimeout = "10m"

// syncObjects are the GitRepository and the Kustomization. Git may hold them
// too; when it no longer does, Flux must not take away what it lives on.
func (f Follow) syncObjects(provider Provider) []distribution.Object {
	repository := map[string]any{
		"interval": f.Interval.String(),
		"url":      f.URL,
		"ref":      map[string]any{"branch": f.Branch},
	}
	if provider == Generic || provider == GitHub {
		repository["secretRef"] = map[string]any{"name": names.PlatformAuth}
	}
	if provider == GitHub || provider == Azure {
		repository["provider"] = string(provider)
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

// Provider is what spec.provider of a GitRepository calls a kind of credentials.
type Provider string

// The providers. Generic and GitHub need the Secret names.PlatformAuth; Azure is the identity of
// source-controller's pods: https://github.com/fluxcd/source-controller/blob/v1.9.3/docs/spec/v1/gitrepositories.md#azure
const (
	Anonymous Provider = ""
	Generic   Provider = "generic"
	GitHub    Provider = "github"
	Azure     Provider = "azure"
)

func providerOf(auth *distribution.Auth) Provider {
	switch {
	case auth == nil:
		return Anonymous
	case auth.ClientID != nil:
		return Azure
	case auth.App != nil:
		return GitHub
	}
	return Generic
}

// authSecret is the Secret with the credentials; empty without any.
func authSecret(auth *distribution.Auth) object.Args {
	if auth == nil || auth.ClientID != nil {
		return object.Args{}
	}
	if auth.App != nil {
		return object.Secret(object.Meta{Name: names.PlatformAuth, Namespace: names.FluxNamespace}, "Opaque", appData(auth))
	}
	data := map[string]pulumi.StringInput{"username": auth.Username, "password": auth.Password, "identity": auth.PrivateKey}
	if auth.KnownHosts != "" {
		data["known_hosts"] = pulumi.String(auth.KnownHosts)
	}
	return object.Secret(object.Meta{Name: names.PlatformAuth, Namespace: names.FluxNamespace}, "Opaque", data)
}

// appData is what source-controller reads of a GitHub App, with spec.provider: github.
// https://github.com/fluxcd/source-controller/blob/v1.9.3/docs/spec/v1/gitrepositories.md#configure-github-app-secret
func appData(auth *distribution.Auth) map[string]pulumi.StringInput {
	data := map[string]pulumi.StringInput{
		"githubAppID": pulumi.String(strconv.Itoa(auth.App.ID)), "githubAppInstallationID": pulumi.String(strconv.Itoa(auth.App.InstallationID)),
		"githubAppPrivateKey": auth.PrivateKey,
	}
	if auth.App.API != "" {
		data["githubAppBaseURL"] = pulumi.String(auth.App.API)
	}
	return data
}
