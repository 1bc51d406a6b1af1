package bootstrap

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/argocd"
	"tombolo/components/distribution"
	"tombolo/components/registration"
	"tombolo/config"
	"tombolo/stacks/handoff"
)

// joinArgoCD makes the engine of a hub, and registers the cluster with its hub.
func (p *program) joinArgoCD() error {
	if p.c.IsHub() {
		return p.makeHub()
	}
	return p.joinHub()
}

// makeHub installs Argo CD, and registers the cluster with itself. The registration
// is deleted before the engine: while Argo CD still lives to act on it.
func (p *program) makeHub() error {
	engine, err := p.makeEngine(argocd.Product(), argocdEngine(), func(args distribution.EngineArgs) (*distribution.Engine, error) {
		return argocd.NewEngine(p.ctx, p.c.Name, &argocd.EngineArgs{
			EngineArgs: args, RoleARN: partOf(p.c).engineRole(p.h), SignIn: signIn(p.c.GitOps.ArgoCD.OIDC),
		}, p.own.provider, p.prepared)
	})
	if err != nil {
		return err
	}
	_, err = registration.NewRegistration(p.ctx, p.c.Name, p.registrationArgs(pulumi.String(argocd.InCluster), nil),
		p.own.provider, pulumi.DependsOn(engine.Resources))
	return err
}

func signIn(o *config.ArgoCDOIDC) *argocd.SignIn {
	if o == nil {
		return nil
	}
	return new(argocd.SignIn(*o))
}

// joinHub gives the hub's Argo CD its rights on this cluster, and registers the
// cluster there.
func (p *program) joinHub() error {
	options := p.c.GitOps.ArgoCD
	access, err := registration.NewAccess(p.ctx, p.c.Name, &registration.AccessArgs{
		Namespace: p.c.EngineNamespace(), Rotation: options.Rotation,
	}, p.own.provider, p.prepared)
	if err != nil {
		return err
	}
	at, err := p.connectHub()
	if err != nil {
		return fmt.Errorf("hub %s: %w", p.c.Hub(), err)
	}
	credentials := partOf(p.c).credentials(p.h)
	if credentials == nil || options.Credentials == config.CredentialsServiceAccount {
		credentials = registration.Token{Token: access.Token, CA: p.h.ClusterCA}
	}
	_, err = registration.NewRegistration(p.ctx, p.c.Name, p.registrationArgs(p.unclaimed(at), credentials),
		at.provider, pulumi.DependsOn(slices.Concat(access.Resources, p.published.Resources)))
	return err
}

// connectHub reaches the hub by its own hand-off, or as the file says where others run it.
func (p *program) connectHub() (connection, error) {
	if p.c.HasExternalHub() {
		return p.connectExternalHub()
	}
	hub, err := p.handOff(p.o.HubCoreStack, p.o.Hub, p.o.PredictedHub)
	if err != nil {
		return connection{}, err
	}
	return connect(p.ctx, "hub", hub, p.o.Hub.Cloud)
}

// registrationArgs carry what infrastructure knows to Git: labels for
// generators, annotations for templates.
func (p *program) registrationArgs(server pulumi.StringInput, credentials registration.Credentials) *registration.RegistrationArgs {
	args := &registration.RegistrationArgs{
		Cluster: p.c.Name, Labels: p.c.RegistrationLabels(), Annotations: registered(p.c, p.o.Hub, p.h, p.published.Keys), Server: server, Credentials: credentials,
	}
	if p.c.HasExternalHub() {
		args.HubEndpoint, args.HubCA = p.c.GitOps.ExternalHub.Endpoint, p.c.GitOps.ExternalHub.CertificateAuthority
	}
	return args
}

// registered are the annotations of a cluster's registration: the keys of its infra
// ConfigMap among them.
func registered(c, hub *config.Cluster, h handoff.Handoff, keys pulumi.StringMap) map[string]pulumi.StringInput {
	annotations := map[string]pulumi.StringInput{
		config.ValuesAnnotation: values(c, h, keys),
	}
	if !c.HasExternalHub() { // whose repository no file says
		annotations[config.RepositoryAnnotation] = pulumi.String(hub.GitOps.URL)
		annotations[config.RevisionAnnotation] = pulumi.String(hub.GitOps.Branch)
	}
	for key, value := range c.Annotations {
		annotations[key] = pulumi.String(value)
	}
	for key, value := range keys {
		annotations[key] = value
	}
	return annotations
}

// values are config.ValuesAnnotation: all of it as one JSON text, for templates
// that hand it on to a chart.
func values(c *config.Cluster, h handoff.Handoff, keys pulumi.StringMap) pulumi.StringOutput {
	enabled := c.Addons.Enabled()
	inputs := []any{keys.ToStringMapOutput()}
	for _, a := range enabled {
		inputs = append(inputs, addonValues(c, a, h))
	}
	return pulumi.All(inputs...).ApplyT(func(v []any) (string, error) {
		addons := map[string]any{}
		for i, a := range enabled {
			addons[a.Name] = v[i+1]
		}
		text, err := json.Marshal(map[string]any{"cluster": v[0], "addons": addons})
		if err != nil {
			return "", fmt.Errorf("write %s: %w", config.ValuesAnnotation, err)
		}
		return string(text), nil
	}).(pulumi.StringOutput)
}
