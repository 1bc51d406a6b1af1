// Package argocd installs Argo CD and gives it the repository to follow.
//
// As with Flux, what is made is of two kinds. The distribution is applied and
// handed over: whatever Git does to it afterwards, a later up neither diffs nor
// reverts it, until a user asks for another one. Everything else stays with
// Pulumi, so that what the cluster file changes arrives: the AppProject and the
// root Application, the credentials, and the few settings of Argo CD that waves
// and spokes need. Those are fields of their own in the distribution's objects.
package argocd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/distribution"
	"tombolo/internal/names"
)

const engineType = "tombolo:argocd:Engine"

const (
	// InCluster is the address of the cluster that Argo CD runs in.
	InCluster = "https://kubernetes.default.svc"
	// SecretTypeLabel tells Argo CD what one of its Secrets is.
	SecretTypeLabel = "argocd.argoproj.io/secret-type"
)

// Product is Argo CD, as a distribution.
func Product() distribution.Product {
	return distribution.Product{Name: "Argo CD", Namespace: names.ArgoCDNamespace, Release: "argocd", Environment: withoutFiles()}
}

// withoutFiles is the environment in which Git, also as kustomize starts it in the repo-server,
// fetches by the network alone. By a path it would read other teams' checkouts, and run what a
// reference names as the other end's program. Argo CD guards the build against the latter since
// 3.5.4, but not what it edits before. Sources:
// https://git-scm.com/docs/git#Documentation/git.txt-codeGITALLOWPROTOCOLcode and
// https://github.com/argoproj/argo-cd/blob/v3.5.7/util/kustomize/kustomize.go ("Build").
func withoutFiles() distribution.Environment {
	return distribution.Environment{
		Deployment: "argocd-repo-server", Containers: []string{"argocd-repo-server", "repo-server"}, // the manifest's, the chart's
		Variables: [][2]string{{"GIT_ALLOW_PROTOCOL", "git:http:https:ssh"}},
	}
}

// ServiceAccounts are those of Argo CD's components that talk to spokes.
func ServiceAccounts() []string {
	return []string{"argocd-application-controller", "argocd-applicationset-controller", "argocd-server"}
}

// EngineArgs are the arguments of an engine. The manifest is the plain one, the one
// for high availability, or what a chart became. KnownHosts join those that the
// distribution brings. Seconds of the interval count.
type EngineArgs struct {
	distribution.EngineArgs
	// RoleARN is the IAM role of the ServiceAccounts, by IRSA; nil for none.
	RoleARN pulumi.StringInput
	// SignIn of people; nil for Argo CD's own account alone.
	SignIn *SignIn
}

// NewEngine installs Argo CD and makes the root Application.
func NewEngine(ctx *pulumi.Context, name string, args *EngineArgs, opts ...pulumi.ResourceOption) (*distribution.Engine, error) {
	recipe, err := args.recipe(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("argocd %s: %w", name, err)
	}
	c, err := distribution.NewEngine(ctx, name, recipe, opts...)
	if err != nil {
		return nil, fmt.Errorf("argocd %s: %w", name, err)
	}
	return c, nil
}

func (a *EngineArgs) recipe(ctx *pulumi.Context, name string) (distribution.Recipe, error) {
	if a == nil {
		return distribution.Recipe{}, errors.New("arguments are missing")
	}
	if err := errors.Join(append(a.Problems(), a.SignIn.problems()...)...); err != nil {
		return distribution.Recipe{}, err
	}
	objects, err := Product().Parse(a.Manifest)
	if err != nil {
		return distribution.Recipe{}, err
	}
	var hosts string // that the distribution brings, where they are ours to extend
	if a.Auth != nil && a.Auth.KnownHosts != "" {
		if hosts, err = takeKnownHosts(objects); err != nil {
			return distribution.Recipe{}, err
		}
	}
	return distribution.Recipe{
		Product: Product(), Type: engineType, Args: &a.EngineArgs, Objects: objects, Secret: authSecret(a),
		Configure: func(parent, after pulumi.ResourceOption) ([]pulumi.Resource, error) {
			return configure(ctx, name, a, hosts, parent, after)
		},
		Sync: []distribution.SyncObject{{Name: "project", Object: project()}, {Name: "root", Object: a.root()}},
	}, nil
}

// treePath is the path as Argo CD expects it: relative to the repository's root,
// "." for the root.
func treePath(path string) string {
	path = strings.Trim(strings.TrimPrefix(path, "./"), "/")
	if path == "" {
		return "."
	}
	return path
}
