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
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/distribution"
	"tombolo/internal/names"
)

const engineType = "tombolo:flux:Engine"

// Product is Flux, as a distribution.
func Product() distribution.Product {
	return distribution.Product{Name: "Flux", Namespace: names.FluxNamespace}
}

// EngineArgs are the arguments of an Engine.
type EngineArgs struct {
	// Manifest is Flux's install manifest, as Product().Load returns it. Its Namespace
	// is left out: make flux-system before the engine.
	Manifest []byte
	// StrictSubstitution refuses manifests with variables that have no value.
	StrictSubstitution bool
	// HandedOver leaves the objects of the distribution as they are, whatever
	// they hold by now. Otherwise they are made what Manifest says, whoever
	// owns their fields.
	HandedOver bool
	// Made lists the objects that were last applied, as Engine.Made did. With
	// HandedOver these are kept, no more and no fewer, whatever Manifest has.
	// Default: the objects of Manifest.
	Made []string
	// Follow says what Flux follows.
	Follow
	// Auth for the repository; nil reads anonymously.
	Auth *Auth
}

// Follow is a tree in a Git repository, and how Flux follows it.
type Follow struct {
	// URL and Branch of the repository, and Path of the tree in it.
	URL, Branch, Path string
	// Interval between looks at the repository, at least 1s.
	Interval time.Duration
	// SubstituteFrom names the ConfigMap with values for variables.
	SubstituteFrom string
}

// Auth is the credentials for a Git repository: Username and Password, or
// PrivateKey and KnownHosts. Secrets must be Pulumi secrets.
type Auth struct {
	Username, Password     pulumi.StringInput
	PrivateKey, KnownHosts pulumi.StringInput
}

// Engine is Flux, following a repository.
type Engine struct {
	pulumi.ResourceState

	// Made lists the objects of the distribution, once all of them are there:
	// "apps/v1 Deployment flux-system/source-controller".
	Made pulumi.StringArrayOutput
}

// NewEngine installs Flux and makes the sync objects. They are made last and
// go first: when the Kustomization is deleted, Flux still lives to remove what
// it has made, and the deletion waits for that.
func NewEngine(ctx *pulumi.Context, name string, args *EngineArgs, opts ...pulumi.ResourceOption) (*Engine, error) {
	if err := args.validate(); err != nil {
		return nil, fmt.Errorf("flux %s: %w", name, err)
	}
	objects, err := args.objects()
	if err != nil {
		return nil, fmt.Errorf("flux %s: %w", name, err)
	}
	c := &Engine{}
	if err := ctx.RegisterComponentResourceV2(engineType, name, pulumi.Map{"url": pulumi.String(args.URL)}, c, opts...); err != nil {
		return nil, fmt.Errorf("register flux %s: %w", name, err)
	}
	installation := distribution.Installation{Product: Product(), HandedOver: args.HandedOver, Parent: c}
	installed, err := installation.Install(ctx, name, objects)
	if err != nil {
		return nil, fmt.Errorf("flux %s: %w", name, err)
	}
	if err := sync(ctx, name, args, c, installed.Resources); err != nil {
		return nil, fmt.Errorf("flux %s: %w", name, err)
	}
	c.Made = installed.Made()
	return c, ctx.RegisterResourceOutputs(c, pulumi.Map{"made": c.Made})
}

// objects are what is registered of the distribution.
func (a *EngineArgs) objects() ([]object, error) {
	objects, err := Product().Parse(a.Manifest)
	if err != nil {
		return nil, err
	}
	if a.StrictSubstitution {
		if err := makeStrict(objects); err != nil {
			return nil, err
		}
	}
	if a.HandedOver && len(a.Made) > 0 {
		return distribution.Kept(objects, a.Made)
	}
	return objects, nil
}

func (a *EngineArgs) validate() error {
	if a == nil {
		return errors.New("arguments are missing")
	}
	problems := a.problems()
	if a.Auth != nil {
		basic := a.Auth.Username != nil && a.Auth.Password != nil
		ssh := a.Auth.PrivateKey != nil && a.Auth.KnownHosts != nil
		if basic == ssh {
			problems = append(problems, errors.New("auth needs user name and password, or private key and known hosts"))
		}
	}
	return errors.Join(problems...)
}

func (f Follow) problems() []error {
	var problems []error
	for what, v := range map[string]string{"URL": f.URL, "branch": f.Branch, "path": f.Path, "substituteFrom": f.SubstituteFrom} {
		if v == "" {
			problems = append(problems, fmt.Errorf("%s is required", what))
		}
	}
	if f.Interval < time.Second {
		problems = append(problems, fmt.Errorf("interval %s is shorter than 1s", f.Interval))
	}
	return problems
}

// treePath is the path as Flux wants it: relative to the repository's root.
func (f Follow) treePath() string {
	return "./" + strings.TrimPrefix(strings.TrimPrefix(f.Path, "./"), "/")
}
