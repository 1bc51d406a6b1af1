// Package flux installs Flux and gives it the repository to follow.
//
// What is made is of two kinds. The distribution (definitions, rights,
// controllers) is made once and handed over: whatever Flux or the platform
// tree does to it afterwards, a later up neither diffs nor reverts it. The sync
// objects (GitRepository, Kustomization, credentials) stay with Pulumi, so that
// a branch or a password changed in the cluster file arrives.
package flux

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

const engineType = "tombolo:flux:Engine"

const (
	// Namespace of Flux and of its sync objects.
	Namespace = "flux-system"
	// SyncName is the name of the GitRepository and the Kustomization.
	SyncName = "platform"
	// AuthName is the name of the Secret with the Git credentials.
	AuthName = "platform-auth"
)

// EngineArgs are the arguments of an Engine.
type EngineArgs struct {
	// Manifest is Flux's install manifest, as Load returns it. Its Namespace
	// is left out: make flux-system before the engine.
	Manifest []byte
	// StrictSubstitution refuses manifests with variables that have no value.
	StrictSubstitution bool
	// URL and Branch of the repository, and Path of the tree in it.
	URL, Branch, Path string
	// Interval between looks at the repository.
	Interval time.Duration
	// Auth for the repository; nil reads anonymously.
	Auth *Auth
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

	// Objects is the number of objects of the distribution.
	Objects pulumi.IntOutput
}

// NewEngine installs Flux and makes the sync objects. They are made last and
// go first: when the Kustomization is deleted, Flux still lives to remove what
// it has made, and the deletion waits for that.
func NewEngine(ctx *pulumi.Context, name string, args *EngineArgs, opts ...pulumi.ResourceOption) (*Engine, error) {
	if err := args.validate(); err != nil {
		return nil, fmt.Errorf("flux %s: %w", name, err)
	}
	objects, err := parse(args.Manifest)
	if err != nil {
		return nil, fmt.Errorf("flux %s: %w", name, err)
	}
	if args.StrictSubstitution {
		if err := makeStrict(objects); err != nil {
			return nil, fmt.Errorf("flux %s: %w", name, err)
		}
	}
	c := &Engine{}
	if err := ctx.RegisterComponentResourceV2(engineType, name, pulumi.Map{"url": pulumi.String(args.URL)}, c, opts...); err != nil {
		return nil, fmt.Errorf("register flux %s: %w", name, err)
	}
	installed, err := install(ctx, name, objects, c)
	if err != nil {
		return nil, fmt.Errorf("flux %s: %w", name, err)
	}
	if err := sync(ctx, name, args, c, installed); err != nil {
		return nil, fmt.Errorf("flux %s: %w", name, err)
	}
	c.Objects = pulumi.Int(len(objects)).ToIntOutput()
	return c, ctx.RegisterResourceOutputs(c, pulumi.Map{"objects": c.Objects})
}

func (a *EngineArgs) validate() error {
	if a == nil {
		return errors.New("arguments are missing")
	}
	var problems []error
	for what, v := range map[string]string{"URL": a.URL, "branch": a.Branch, "path": a.Path, "substituteFrom": a.SubstituteFrom} {
		if v == "" {
			problems = append(problems, fmt.Errorf("%s is required", what))
		}
	}
	if a.Interval < time.Second {
		problems = append(problems, fmt.Errorf("interval %s is shorter than 1s", a.Interval))
	}
	if a.Auth != nil {
		basic := a.Auth.Username != nil && a.Auth.Password != nil
		ssh := a.Auth.PrivateKey != nil && a.Auth.KnownHosts != nil
		if basic == ssh {
			problems = append(problems, errors.New("auth needs user name and password, or private key and known hosts"))
		}
	}
	return errors.Join(problems...)
}

// treePath is the path as Flux wants it: relative to the repository's root.
func (a *EngineArgs) treePath() string {
	return "./" + strings.TrimPrefix(strings.TrimPrefix(a.Path, "./"), "/")
}
