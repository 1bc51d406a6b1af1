// Package bootstrap is the program of the bootstrap stack: what a cluster needs
// before GitOps can own the rest, and the GitOps engine.
package bootstrap

import (
	"fmt"

	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/infraconfig"
	"tombolo/components/namespaces"
	"tombolo/config"
	"tombolo/stacks/handoff"
)

// Options of the program.
type Options struct {
	// CoreStack is the stack with the hand-off, such as demo-core.
	CoreStack string
	// Placeholders stand for the hand-off in a preview.
	Placeholders bool
	// Env is the environment of the run, before the process's own.
	Env map[string]string
}

// Run prepares the cluster and hands it to the GitOps engine.
func Run(ctx *pulumi.Context, c *config.Cluster, o Options) error {
	if c.GitOps.Engine != config.Flux {
		return fmt.Errorf("bootstrap of %s: GitOps engine %q is none of flux", c.Name, c.GitOps.Engine)
	}
	var last distributionRecord
	if !o.Placeholders {
		var err error
		if last, err = lastDistribution(ctx); err != nil {
			return fmt.Errorf("bootstrap of %s: %w", c.Name, err)
		}
	}
	h, err := handoff.Import(ctx, o.CoreStack, o.Placeholders)
	if err != nil {
		return fmt.Errorf("bootstrap of %s: %w", c.Name, err)
	}
	kubeconfig := pulumi.All(h.ClusterName, h.Region, h.ClusterEndpoint, h.ClusterCA).ApplyT(func(v []any) (string, error) {
		text, err := handoff.Kubeconfig(v[0].(string), v[1].(string), v[2].(string), v[3].(string), c.Cloud.Profile)
		return string(text), err
	}).(pulumi.StringOutput)
	provider, err := newProvider(ctx, h, kubeconfig)
	if err != nil {
		return fmt.Errorf("bootstrap of %s: %w", c.Name, err)
	}
	if err := prepare(ctx, c, o, last, h, kubeconfig, pulumi.Provider(provider)); err != nil {
		return fmt.Errorf("bootstrap of %s: %w", c.Name, err)
	}
	return nil
}

// newProvider makes the Kubernetes provider. Its identity is the cluster's ARN:
// a kubeconfig that changes replaces nothing. ConfigMaps and Secrets are
// updated in place, so that nobody ever finds one missing.
func newProvider(ctx *pulumi.Context, h handoff.Handoff, kubeconfig pulumi.StringOutput) (*kubernetes.Provider, error) {
	return kubernetes.NewProvider(ctx, "kubernetes", &kubernetes.ProviderArgs{
		Kubeconfig:             kubeconfig,
		ClusterIdentifier:      h.ClusterARN,
		EnableServerSideApply:  pulumi.Bool(true),
		EnableConfigMapMutable: pulumi.Bool(true),
		EnableSecretMutable:    pulumi.Bool(true),
	})
}

func prepare(ctx *pulumi.Context, c *config.Cluster, o Options, last distributionRecord, h handoff.Handoff, kubeconfig pulumi.StringOutput, provider pulumi.ResourceOption) error {
	spaces, err := namespaces.NewNamespaces(ctx, c.Name, &namespaces.NamespacesArgs{
		Owner:      c.Name,
		Namespaces: namespaceArgs(c),
		Existing:   existingNamespaces(ctx, kubeconfig, o.Env),
	}, provider)
	if err != nil {
		return err
	}
	inside := pulumi.DependsOn([]pulumi.Resource{spaces})
	published, err := infraconfig.NewInfraConfig(ctx, c.Name, infraConfigArgs(c, h), provider, inside)
	if err != nil {
		return err
	}
	return makeEngine(ctx, c, o, last, kubeconfig, provider, pulumi.DependsOn([]pulumi.Resource{spaces, published}))
}
