// Package bootstrap is the program of the bootstrap stack: what a cluster needs
// before GitOps can own the rest, and the GitOps engine; on a spoke, its
// registration with the hub's engine.
package bootstrap

import (
	"fmt"
	"slices"

	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/infraconfig"
	"tombolo/components/namespaces"
	"tombolo/components/previewers"
	"tombolo/config"
	"tombolo/stacks/handoff"
)

// Options of the program.
type Options struct {
	// CoreStack is the stack with the hand-off, such as demo-core.
	CoreStack string
	// Hub is the cluster whose engine runs this one: the cluster itself unless
	// it is a spoke. HubCoreStack is the stack with the hub's hand-off.
	Hub          *config.Cluster
	HubCoreStack string
	// Placeholders stand for the hand-offs in a preview.
	Placeholders bool
	// Predicted are core's outputs as a preview of core has just told them.
	Predicted map[string]any
	// Told says that Predicted, and PredictedHub of a spoke's hub, are all that is known
	// of these outputs.
	Told         bool
	PredictedHub map[string]any
	// ToldStacks are the outputs of the stacks that the cluster file takes values from,
	// by their whole names, with secrets masked, when the backend of the run does not
	// have these stacks, or not as they will be. Nil when it has them. A stack that has nil
	// itself comes before in the order, and its outputs are not known.
	ToldStacks map[string]map[string]any
	// WithoutSecrets takes the secrets that the cluster file names as unknown, in a preview.
	WithoutSecrets bool
	// New says that the stack has no resources.
	New bool
	// Env is the environment of the run, before the process's own.
	Env map[string]string
}

// Run prepares the cluster and hands it to the GitOps engine.
func Run(ctx *pulumi.Context, c *config.Cluster, o Options) error {
	p := &program{ctx: ctx, c: c, o: o}
	if err := p.run(); err != nil {
		return fmt.Errorf("bootstrap of %s: %w", c.Name, err)
	}
	return nil
}

// program is one run.
type program struct {
	ctx *pulumi.Context
	c   *config.Cluster
	o   Options

	last distributionRecord // of the engine's distribution
	// takenOver says that the engine was there before bootstrap; taken is what this run
	// found of it, when it is the first.
	takenOver bool
	lenient   bool // as distributionRecord has it
	taken     taken
	h         handoff.Handoff
	own       connection // to the cluster itself
	prepared  pulumi.ResourceOption
	published *infraconfig.InfraConfig
	// read are the values of other stacks and of Parameter Store.
	read map[config.Source]any
}

func (p *program) run() error {
	hand, ok := map[config.Engine]func() error{
		config.Flux: p.makeFlux, config.ArgoCD: p.joinArgoCD,
	}[p.c.GitOps.Engine]
	if !ok {
		return fmt.Errorf("GitOps engine %q is unknown; expected flux or argocd", p.c.GitOps.Engine)
	}
	var err error
	if !p.o.Placeholders && !p.c.IsSpoke() {
		if p.last, err = lastDistribution(p.ctx); err != nil {
			return err
		}
	}
	if err = p.readValues(); err != nil {
		return err
	}
	if p.h, err = p.handOff(p.o.CoreStack, p.c, p.o.Predicted); err != nil {
		return err
	}
	if p.own, err = connect(p.ctx, "kubernetes", p.h, p.c.Cloud); err != nil {
		return err
	}
	if err := p.meetInstalled(); err != nil {
		return err
	}
	if err := p.prepare(); err != nil {
		return err
	}
	return hand()
}

// handOff is what the core stack of a cluster hands on.
func (p *program) handOff(stack string, of *config.Cluster, predicted map[string]any) (handoff.Handoff, error) {
	if p.o.Told && !p.o.Placeholders {
		return handoff.Told(p.ctx, stack, string(of.Cloud.Provider), predicted)
	}
	return handoff.ImportPredicted(p.ctx, stack, string(of.Cloud.Provider), p.o.Placeholders, predicted)
}

// connection is a way to a cluster.
type connection struct {
	kubeconfig pulumi.StringOutput
	provider   pulumi.ResourceOption
}

// connect makes a Kubernetes provider. Its identity is the cluster's own: a
// kubeconfig that changes replaces nothing. ConfigMaps and Secrets are updated
// in place, so that no reader ever finds one missing.
func connect(ctx *pulumi.Context, name string, h handoff.Handoff, by config.Cloud) (connection, error) {
	kubeconfig := pulumi.All(h.ClusterName, h.Region, h.ClusterEndpoint, h.ClusterCA).ApplyT(func(v []any) (string, error) {
		text, err := handoff.Kubeconfig(h.Cloud, v[0].(string), v[1].(string), v[2].(string), v[3].(string), by)
		return string(text), err
	}).(pulumi.StringOutput)
	return provide(ctx, name, kubeconfig, h.ClusterID)
}

func provide(ctx *pulumi.Context, name string, kubeconfig pulumi.StringOutput, identifier pulumi.StringInput) (connection, error) {
	provider, err := kubernetes.NewProvider(ctx, name, &kubernetes.ProviderArgs{
		Kubeconfig:             kubeconfig,
		ClusterIdentifier:      identifier.ToStringOutput(),
		EnableServerSideApply:  pulumi.Bool(true),
		EnableConfigMapMutable: pulumi.Bool(true),
		EnableSecretMutable:    pulumi.Bool(true),
	})
	if err != nil {
		return connection{}, err
	}
	return connection{kubeconfig, pulumi.Provider(provider)}, nil
}

// prepare makes what the engine and the platform tree find when they start.
func (p *program) prepare() error {
	spaces, err := namespaces.NewNamespaces(p.ctx, p.c.Name, &namespaces.NamespacesArgs{
		Owner:      p.c.Name,
		Namespaces: p.namespaces(),
		Existing:   existingNamespaces(p.ctx, p.own.kubeconfig, p.o.Env),
	}, p.own.provider)
	if err != nil {
		return err
	}
	inside := pulumi.DependsOn(spaces.Resources)
	p.published, err = infraconfig.NewInfraConfig(p.ctx, p.c.Name, infraConfigArgs(p.c, p.o.Hub, p.h, p.read), p.own.provider, inside)
	if err != nil {
		return err
	}
	sealing, err := p.seal(inside)
	if err != nil {
		return err
	}
	channel, err := p.channel(inside)
	if err != nil {
		return err
	}
	hook, err := p.webhook(inside)
	if err != nil {
		return err
	}
	p.prepared = pulumi.DependsOn(slices.Concat(sealing, channel, hook, spaces.Resources, p.published.Resources))
	if len(p.c.Kubernetes.Previewers) == 0 {
		return nil
	}
	_, err = previewers.NewPreviewers(p.ctx, p.c.Name, &previewers.PreviewersArgs{Groups: partOf(p.c).previewers(p.c)}, p.own.provider)
	return err
}
