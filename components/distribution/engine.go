package distribution

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/object"
	"tombolo/internal/names"
)

// EngineArgs are the arguments that all engines have.
type EngineArgs struct {
	// Manifest is the engine's install manifest, as Product.Load returns it. A
	// Namespace in it is left out: make it before the engine.
	Manifest []byte
	// HandedOver leaves the objects of the distribution as they are, whatever
	// they hold by now. Otherwise Manifest is applied, even to fields with other
	// owners.
	HandedOver bool
	// Made lists the objects that were last applied, as Engine.Made did. With
	// HandedOver these are kept, no more and no fewer, whatever Manifest has.
	// Default: the objects of Manifest.
	Made []string
	// TakenOver says that the engine was there before: what is made of the distribution,
	// and what its pods need, outlives the stack. With HandedOver exactly
	// the objects in Made are kept, also none.
	TakenOver bool
	// Repository that the engine follows.
	Repository
	// Auth for the repository; nil reads anonymously.
	Auth *Auth
	// CertificateAuthority is what pods find in the ConfigMap names.CompanyCA, in PEM; ""
	// for none.
	CertificateAuthority string
	// PullConfig is what the Secret names.ImagePull has for the images, as Docker's
	// config.json; nil for none. It must be a Pulumi secret.
	PullConfig pulumi.StringInput
}

// Repository is a tree in a Git repository, and how often an engine reads it.
type Repository struct {
	// URL and Branch of the repository, and Path of the tree in it.
	URL, Branch, Path string
	// Interval between reads of the repository, at least 1s.
	Interval time.Duration
}

// Auth is the credentials for a Git repository: Username and Password, or
// PrivateKey and KnownHosts, or PrivateKey and App, or ClientID. Secrets must be Pulumi secrets.
type Auth struct {
	Username, Password, PrivateKey pulumi.StringInput
	// KnownHosts are lines of a known_hosts file.
	KnownHosts string
	// App is a GitHub App; nil for none.
	App *App
	// ClientID is that of an identity of Entra that trusts the service account Product.Reader, for a
	// repository at Azure DevOps; nil for none.
	ClientID pulumi.StringInput
}

// App is a GitHub App that is installed where the repository is.
type App struct {
	// ID of the App, and InstallationID of its installation.
	ID, InstallationID int
	// API is the address of GitHub's API, for one that is not github.com's; "" for that.
	API string
}

// Problems are what is wrong with the repository.
func (r Repository) Problems() []error {
	var problems []error
	for what, v := range map[string]string{"URL": r.URL, "branch": r.Branch, "path": r.Path} {
		if v == "" {
			problems = append(problems, fmt.Errorf("%s is required", what))
		}
	}
	if r.Interval < time.Second {
		problems = append(problems, fmt.Errorf("interval %s is shorter than 1s", r.Interval))
	}
	return problems
}

// Problems are what is wrong with the arguments.
func (a *EngineArgs) Problems() []error {
	problems := a.Repository.Problems()
	if a.Auth != nil {
		basic := a.Auth.Username != nil && a.Auth.Password != nil
		ssh := a.Auth.PrivateKey != nil && a.Auth.KnownHosts != ""
		app := a.Auth.PrivateKey != nil && a.Auth.App != nil
		if len(slices.DeleteFunc([]bool{basic, ssh, app, a.Auth.ClientID != nil}, func(is bool) bool { return !is })) != 1 {
			problems = append(problems, errors.New("auth needs user name and password, or private key and known hosts, or private key and GitHub App, or the client id of an identity"))
		}
	}
	return problems
}

// Engine is a GitOps engine that follows a repository.
type Engine struct {
	pulumi.ResourceState

	// Made lists the objects of the distribution, once all of them are there:
	// "apps/v1 Deployment flux-system/source-controller".
	Made pulumi.StringArrayOutput
	// Resources are the objects of the distribution and those that tell the engine what to
	// follow, which wait for all others: for what is made after the engine and deleted
	// before it. An option that names the component may miss some, because Pulumi enters a
	// child with its component no sooner than the child is registered, beside the program.
	Resources []pulumi.Resource
}

// Recipe is what NewEngine makes.
type Recipe struct {
	Product
	// Type of the component, such as tombolo:flux:Engine.
	Type string
	Args *EngineArgs
	// Objects of the distribution. Once it is handed over, Args.Made decides which
	// of them are registered.
	Objects []Object
	// Configure makes what controllers read when they start; nil for nothing.
	Configure func(parent, after pulumi.ResourceOption) ([]pulumi.Resource, error)
	// Secret with the credentials for the repository; the zero Args for none.
	Secret object.Args
	// Sync are the objects that tell the engine what to follow, in their order.
	Sync []SyncObject
}

// SyncObject is an object, and the end of its name in Pulumi.
type SyncObject struct {
	Name string
	Object
}

// NewEngine installs an engine and makes its sync objects. They are made last and
// go first: when they are deleted, the engine still lives to remove what it has
// made, and the deletion waits for that.
func NewEngine(ctx *pulumi.Context, name string, r Recipe, opts ...pulumi.ResourceOption) (*Engine, error) {
	objects, err := r.Objects, error(nil)
	if r.Args.HandedOver && (len(r.Args.Made) > 0 || r.Args.TakenOver) {
		if objects, err = Kept(objects, r.Args.Made); err != nil {
			return nil, err
		}
	}
	c := &Engine{}
	if err := ctx.RegisterComponentResourceV2(r.Type, name, r.inputs(), c, opts...); err != nil {
		return nil, fmt.Errorf("register the component: %w", err)
	}
	installation := Installation{
		Product: r.Product, HandedOver: r.Args.HandedOver, Retained: r.Args.TakenOver, Parent: c,
		Configure: func(after pulumi.ResourceOption) ([]pulumi.Resource, error) {
			if len(objects) == 0 { // others have the pods
				return nil, nil
			}
			made, err := r.forPods(ctx, name, pulumi.Parent(c), pulumi.RetainOnDelete(r.Args.TakenOver))
			if err == nil && r.byIdentity() {
				var account pulumi.Resource
				account, err = r.annotateAccount(ctx, name, pulumi.Parent(c), after)
				made = append(made, account)
			}
			if err != nil || r.Configure == nil {
				return made, err
			}
			configured, err := r.Configure(pulumi.Parent(c), after)
			return append(made, configured...), err
		},
	}
	installed, err := installation.Install(ctx, name, objects)
	if err != nil {
		return nil, err
	}
	before := slices.Clone(installed.Resources)
	if r.byIdentity() {
		pods, err := r.labelPods(ctx, name, installed, pulumi.Parent(c))
		if err != nil {
			return nil, err
		}
		before = append(before, pods)
	}
	if c.Resources, err = r.sync(ctx, name, pulumi.Parent(c), before); err != nil {
		return nil, err
	}
	c.Made = installed.Made()
	return c, ctx.RegisterResourceOutputs(c, pulumi.Map{"made": c.Made})
}

// inputs of the component are what is not secret of the credentials, too: the Secret has it as one
// secret with the rest, and a preview would not show that it changes.
func (r Recipe) inputs() pulumi.Map {
	inputs := pulumi.Map{"url": pulumi.String(r.Args.URL)}
	if auth := r.Args.Auth; auth != nil && auth.Username != nil {
		inputs["username"] = auth.Username
	}
	if auth := r.Args.Auth; auth != nil && auth.KnownHosts != "" {
		inputs["knownHosts"] = pulumi.String(auth.KnownHosts)
	}
	if auth := r.Args.Auth; auth != nil && auth.App != nil {
		inputs["githubApp"] = pulumi.Int(auth.App.ID)
		inputs["githubAppInstallation"] = pulumi.Int(auth.App.InstallationID)
	}
	return inputs
}

// forPods makes what pods need to start: the certificates that they trust, and the
// credentials for their images.
func (r Recipe) forPods(ctx *pulumi.Context, name string, opts ...pulumi.ResourceOption) ([]pulumi.Resource, error) {
	meta := func(name string) object.Meta { return object.Meta{Name: name, Namespace: r.Namespace} }
	var made []pulumi.Resource
	if text := r.Args.CertificateAuthority; text != "" {
		certificates := object.ConfigMap(meta(names.CompanyCA), pulumi.StringMap{names.CompanyCAKey: pulumi.String(text)})
		authority, err := object.New(ctx, name+"-"+names.CompanyCA, certificates, opts...)
		if err != nil {
			return nil, fmt.Errorf("certificates that the engine trusts: %w", err)
		}
		made = append(made, authority)
	}
	if r.Args.PullConfig == nil {
		return made, nil
	}
	credentials := object.Secret(meta(names.ImagePull), "kubernetes.io/dockerconfigjson",
		map[string]pulumi.StringInput{".dockerconfigjson": r.Args.PullConfig})
	secret, err := object.New(ctx, name+"-"+names.ImagePull, credentials, opts...)
	if err != nil {
		return nil, fmt.Errorf("credentials for the engine's images: %w", err)
	}
	return append(made, secret), nil
}

// sync makes what tells the engine what to follow, and adds it to what was made before.
func (r Recipe) sync(ctx *pulumi.Context, name string, parent pulumi.ResourceOption, before []pulumi.Resource) ([]pulumi.Resource, error) {
	if r.Secret.Kind != "" {
		secret, err := object.New(ctx, name+"-auth", r.Secret, parent)
		if err != nil {
			return nil, err
		}
		before = append(before, secret)
	}
	for _, o := range r.Sync {
		o.Annotate(PatchForce, "true")
		made, err := Custom(ctx, name+"-"+o.Name, o.Object, parent, pulumi.DependsOn(before))
		if err != nil {
			return nil, err
		}
		before = append(before, made)
	}
	return before, nil
}

// leftAlone has Pulumi keep an object and ignore its content: a change, here or in
// the cluster, is neither a diff nor reverted.
func leftAlone() pulumi.ResourceOption { return pulumi.IgnoreChanges([]string{"*"}) }

// Installation says how the objects of a distribution are registered.
type Installation struct {
	// Product that the objects are of.
	Product
	// HandedOver leaves the objects as they are, whatever they hold by now.
	// Otherwise the manifest is applied, even to fields with other owners.
	HandedOver bool
	// Retained leaves the objects where they are when Pulumi's stack is destroyed.
	Retained bool
	// Configure makes what controllers read when they start, after the objects
	// that it changes. Nil for nothing.
	Configure func(after pulumi.ResourceOption) ([]pulumi.Resource, error)
	// Parent of the resources.
	Parent pulumi.Resource
}

// Installed is a distribution that was registered.
type Installed struct {
	// Resources in the order of their stages.
	Resources []pulumi.Resource

	identities []string // of the resources
}

// Install registers the objects in stages; each waits for the one before.
func (i Installation) Install(ctx *pulumi.Context, name string, objects []Object) (Installed, error) {
	var all Installed
	var before []pulumi.Resource
	for n, stage := range stages(objects) {
		if n == controllers && i.Configure != nil {
			configured, err := i.Configure(pulumi.DependsOn(all.Resources))
			if err != nil {
				return Installed{}, err
			}
			before = append(before, configured...)
		}
		made, err := i.stage(ctx, name, stage, pulumi.DependsOn(before))
		if err != nil {
			return Installed{}, err
		}
		for _, o := range stage {
			all.identities = append(all.identities, o.Identity())
		}
		all.Resources = append(all.Resources, made...)
		if len(made) > 0 {
			before = made
		}
	}
	return all, nil
}

func (i Installation) stage(ctx *pulumi.Context, name string, objects []Object, after pulumi.ResourceOption) ([]pulumi.Resource, error) {
	var made []pulumi.Resource
	for _, o := range objects {
		r := &pulumi.CustomResourceState{}
		direct(o)
		inputs, _ := object.Input(map[string]any(o)).(pulumi.Map)
		opts := []pulumi.ResourceOption{pulumi.Parent(i.Parent), after, pulumi.RetainOnDelete(i.Retained)}
		if o.Kind() == "Secret" {
			// What the product writes into it is in the state after a refresh.
			opts = append(opts, pulumi.AdditionalSecretOutputs([]string{"data", "stringData"}))
		}
		if i.HandedOver {
			opts = append(opts, leftAlone())
		}
		if err := ctx.RegisterResource(object.Token(o.Text("apiVersion"), o.Kind()), name+"-"+o.resourceName(i.Namespace), inputs, r, opts...); err != nil {
			return nil, fmt.Errorf("%s %s: %w", o.Kind(), o.Meta("name"), err)
		}
		made = append(made, r)
	}
	return made, nil
}

// Made lists the objects once every one of them is there: what failed half of
// the way must not count as applied.
func (i Installed) Made() pulumi.StringArrayOutput {
	names := slices.Sorted(slices.Values(i.identities))
	registered := make([]any, len(i.Resources))
	for n, r := range i.Resources {
		registered[n] = r.URN()
	}
	return pulumi.All(registered...).ApplyT(func([]any) []string { return names }).(pulumi.StringArrayOutput)
}

// direct says to the Kubernetes provider how to treat an object. It takes the
// fields that were set by hand: who asks for a distribution gets all
// of it. And it does not look whether a controller is well: readiness belongs
// to whoever verifies the cluster; here, a refresh that met a failing controller
// would have the next up apply its first manifest again, over Flux's changes.
func direct(o Object) {
	o.Annotate(PatchForce, "true")
	if o.isController() || o.Kind() == "Service" {
		o.Annotate("pulumi.com/skipAwait", "true")
	}
}

// PatchForce is an annotation, "true", that has the provider apply an object although another manager owns
// fields of it.
const PatchForce = "pulumi.com/patchForce"
