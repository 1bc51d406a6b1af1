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
	"time"

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
	// TrackingAnnotation is on every object that an Application has made; its
	// value starts with the Application's name.
	TrackingAnnotation = "argocd.argoproj.io/tracking-id"
)

// Product is Argo CD, as a distribution.
func Product() distribution.Product {
	return distribution.Product{Name: "Argo CD", Namespace: names.ArgoCDNamespace, Release: "argocd"}
}

// ServiceAccounts are those of Argo CD's components that talk to spokes.
func ServiceAccounts() []string {
	return []string{"argocd-application-controller", "argocd-applicationset-controller", "argocd-server"}
}

// EngineArgs are the arguments of an Engine.
type EngineArgs struct {
	// Manifest is Argo CD's install manifest, as Product().Load returns it: the
	// plain one, the one for high availability, or what a chart became. A Namespace in it is left
	// out: make argocd before the engine.
	Manifest []byte
	// HandedOver leaves the objects of the distribution as they are, whatever
	// they hold by now. Otherwise they are made what Manifest says, whoever
	// owns their fields.
	HandedOver bool
	// Made lists the objects that were last applied, as Engine.Made did. With
	// HandedOver these are kept, no more and no fewer, whatever Manifest has.
	// Default: the objects of Manifest.
	Made []string
	// URL and Branch of the repository, and Path of the root's folder in it.
	URL, Branch, Path string
	// Interval between looks at the repository, at least 1s; seconds count.
	Interval time.Duration
	// Auth for the repository; nil reads anonymously.
	Auth *Auth
	// RoleARN is the IAM role of the ServiceAccounts, by IRSA; nil for none.
	RoleARN pulumi.StringInput
}

// Auth is the credentials for a Git repository: Username and Password, or
// PrivateKey and KnownHosts. Secrets must be Pulumi secrets.
type Auth struct {
	Username, Password pulumi.StringInput
	PrivateKey         pulumi.StringInput
	// KnownHosts are lines of a known_hosts file. They join those that the
	// distribution brings.
	KnownHosts string
}

// Engine is Argo CD, following a repository.
type Engine struct {
	pulumi.ResourceState

	// Made lists the objects of the distribution, once all of them are there:
	// "apps/v1 Deployment argocd/argocd-server".
	Made pulumi.StringArrayOutput
}

// NewEngine installs Argo CD and makes the root Application. It is made last and
// goes first: when it is deleted, Argo CD still lives to remove what it has
// made, and the deletion waits for that.
func NewEngine(ctx *pulumi.Context, name string, args *EngineArgs, opts ...pulumi.ResourceOption) (*Engine, error) {
	if err := args.validate(); err != nil {
		return nil, fmt.Errorf("argocd %s: %w", name, err)
	}
	objects, hosts, err := args.objects()
	if err != nil {
		return nil, fmt.Errorf("argocd %s: %w", name, err)
	}
	c := &Engine{}
	if err := ctx.RegisterComponentResourceV2(engineType, name, pulumi.Map{"url": pulumi.String(args.URL)}, c, opts...); err != nil {
		return nil, fmt.Errorf("register argocd %s: %w", name, err)
	}
	installation := distribution.Installation{
		Product: Product(), HandedOver: args.HandedOver, Parent: c,
		Configure: func(after pulumi.ResourceOption) ([]pulumi.Resource, error) {
			return configure(ctx, name, args, hosts, pulumi.Parent(c), after)
		},
	}
	installed, err := installation.Install(ctx, name, objects)
	if err != nil {
		return nil, fmt.Errorf("argocd %s: %w", name, err)
	}
	if err := makeRoot(ctx, name, args, c, installed.Resources); err != nil {
		return nil, fmt.Errorf("argocd %s: %w", name, err)
	}
	c.Made = installed.Made()
	return c, ctx.RegisterResourceOutputs(c, pulumi.Map{"made": c.Made})
}

// objects are what is registered of the distribution, and the hosts' keys that
// it brings, where they are ours to extend.
func (a *EngineArgs) objects() (objects []distribution.Object, hosts string, err error) {
	objects, err = Product().Parse(a.Manifest)
	if err != nil {
		return nil, "", err
	}
	if a.Auth != nil && a.Auth.KnownHosts != "" {
		if hosts, err = takeKnownHosts(objects); err != nil {
			return nil, "", err
		}
	}
	if a.HandedOver && len(a.Made) > 0 {
		objects, err = distribution.Kept(objects, a.Made)
	}
	return objects, hosts, err
}

func (a *EngineArgs) validate() error {
	if a == nil {
		return errors.New("arguments are missing")
	}
	var problems []error
	for what, v := range map[string]string{"URL": a.URL, "branch": a.Branch, "path": a.Path} {
		if v == "" {
			problems = append(problems, fmt.Errorf("%s is required", what))
		}
	}
	if a.Interval < time.Second {
		problems = append(problems, fmt.Errorf("interval %s is shorter than 1s", a.Interval))
	}
	if a.Auth != nil {
		basic := a.Auth.Username != nil && a.Auth.Password != nil
		ssh := a.Auth.PrivateKey != nil && a.Auth.KnownHosts != ""
		if basic == ssh {
			problems = append(problems, errors.New("auth needs user name and password, or private key and known hosts"))
		}
	}
	return errors.Join(problems...)
}

// treePath is the path as Argo CD wants it: relative to the repository's root,
// "." for the root.
func (a *EngineArgs) treePath() string {
	path := strings.Trim(strings.TrimPrefix(a.Path, "./"), "/")
	if path == "" {
		return "."
	}
	return path
}
