package bootstrap

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/argocd"
	"tombolo/components/distribution"
	"tombolo/components/flux"
	"tombolo/components/object"
	"tombolo/components/registration"
	"tombolo/config"
	"tombolo/internal/names"
	"tombolo/stacks/handoff"
)

// makeEngine makes an engine by install, unless Git has taken it over, and records
// what was applied.
func (p *program) makeEngine(product distribution.Product, e engine,
	install func(distribution.EngineArgs) (*distribution.Engine, error),
) (*distribution.Engine, error) {
	args, err := p.engineArgs(product)
	if err != nil {
		return nil, err
	}
	own, err := p.custody(e, args.Manifest)
	if err != nil {
		return nil, err
	}
	args.HandedOver, args.Made, args.TakenOver = own.handedOver, own.made, p.takenOver
	made, err := install(args)
	if err != nil {
		return nil, err
	}
	record := p.engineRecord()
	record.Digest = own.digest
	p.ctx.Export(distributionKey, record.output(made.Made))
	return made, nil
}

func (p *program) engineArgs(product distribution.Product) (distribution.EngineArgs, error) {
	manifest, err := manifestOf(p.ctx.Context(), product, p.c)
	if err != nil {
		return distribution.EngineArgs{}, err
	}
	repository, err := repository(p.c)
	if err != nil {
		return distribution.EngineArgs{}, err
	}
	args := distribution.EngineArgs{Manifest: manifest, Repository: repository, CertificateAuthority: p.c.Egress.Certificates()}
	if args.PullConfig, err = p.pullConfig(); err != nil {
		return distribution.EngineArgs{}, err
	}
	if p.c.GitOps.ByIdentity() {
		args.Auth = &distribution.Auth{ClientID: partOf(p.c).gitIdentity(p.h)}
		return args, nil
	}
	args.Auth, err = p.secrets().auth(p.c.GitOps)
	return args, err
}

// repository is what the cluster's engine follows.
func repository(c *config.Cluster) (distribution.Repository, error) {
	g := c.GitOps
	interval, err := time.ParseDuration(g.Interval)
	if err != nil {
		err = fmt.Errorf("gitops.interval: %w", err)
	}
	return distribution.Repository{URL: g.URL, Branch: g.Branch, Path: g.Path, Interval: interval}, err
}

// substitution: a variable without a value is an error everywhere. A Flux that was there
// before does as it did, or the manifests of others would be refused after an upgrade.
func (r distributionRecord) substitution() flux.Substitution {
	switch {
	case !r.TakenOver:
		return flux.SubstituteStrictly
	case r.Lenient:
		return flux.SubstituteLeniently
	}
	return flux.SubstituteAsReleased
}

// engineRecord is what this run is to record, without what it makes.
func (p *program) engineRecord() distributionRecord {
	return distributionRecord{TakenOver: p.takenOver, Lenient: p.lenient}
}

// makeFlux installs Flux.
func (p *program) makeFlux() error {
	_, err := p.makeEngine(flux.Product(), fluxEngine(p.c, p.engineRecord()), func(args distribution.EngineArgs) (*distribution.Engine, error) {
		return flux.NewEngine(p.ctx, p.c.Name, &flux.EngineArgs{
			EngineArgs: args, Substitution: p.engineRecord().substitution(), SubstituteFrom: names.InfraConfig,
			Webhook: webhookType(p.c),
		}, p.own.provider, p.prepared)
	})
	return err
}

// GitFiles are the files by which the cluster's engine manages itself from its repository, by their
// name below gitops.path.
func GitFiles(ctx context.Context, c *config.Cluster) (map[string][]byte, error) {
	manifest, err := manifestOf(ctx, product(c), c)
	if err != nil {
		return nil, err
	}
	repository, err := repository(c)
	if err != nil {
		return nil, err
	}
	if c.GitOps.Engine == config.ArgoCD {
		args := argocd.EngineArgs{EngineArgs: distribution.EngineArgs{Manifest: manifest, Repository: repository}, SignIn: signIn(c.GitOps.ArgoCD.OIDC)}
		if c.GitOps.Auth != nil {
			args.Auth = &distribution.Auth{KnownHosts: c.GitOps.Auth.KnownHosts}
		}
		return argocd.Files(&args)
	}
	provider := flux.Anonymous
	if auth := c.GitOps.Auth; auth != nil {
		provider = cmp.Or(map[config.AuthType]flux.Provider{config.AuthGitHubApp: flux.GitHub, config.AuthWorkloadIdentity: flux.Azure}[auth.Type], flux.Generic)
	}
	return flux.Files(&flux.FilesArgs{
		Manifest: manifest, Substitution: flux.SubstituteStrictly, Provider: provider,
		Follow: flux.Follow{Repository: repository, SubstituteFrom: names.InfraConfig},
	})
}

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
	engine, err := p.makeEngine(argocd.Product(), argocdEngine(p.c), func(args distribution.EngineArgs) (*distribution.Engine, error) {
		return argocd.NewEngine(p.ctx, p.c.Name, &argocd.EngineArgs{
			EngineArgs: args, RoleARN: partOf(p.c).engineRole(p.h), SignIn: signIn(p.c.GitOps.ArgoCD.OIDC), Webhook: webhookType(p.c) != "",
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

// hubTokenPath is where the cluster file refers to the token of an external hub.
const hubTokenPath = "gitops.externalHub.token"

// connectExternalHub reaches a hub that others run. The kubeconfig is a secret: it holds
// the token. The hub's identity is its name in the file, so that neither another token
// nor another address replaces the registration.
func (p *program) connectExternalHub() (connection, error) {
	h := p.c.GitOps.ExternalHub
	token, err := p.secrets().resolve(hubTokenPath, h.Token)
	if err != nil {
		return connection{}, err
	}
	text := token.ToStringOutput().ApplyT(func(token string) (string, error) {
		kubeconfig, err := handoff.TokenKubeconfig(h.Name, h.Endpoint, h.CertificateAuthority, token)
		return string(kubeconfig), err
	}).(pulumi.StringOutput)
	kubeconfig, err := object.Known(p.ctx, pulumi.ToSecret(text))
	if err != nil {
		return connection{}, err
	}
	return provide(p.ctx, "hub", kubeconfig.(pulumi.StringOutput), pulumi.String(names.ExternalHub+h.Name))
}

// HubKubeconfig is a kubeconfig for the cluster's external hub, with the token in plain
// text. kept reads a key of the bootstrap stack's encrypted config. No error holds the
// token.
func HubKubeconfig(c *config.Cluster, env map[string]string, kept func(key string) (string, error)) ([]byte, error) {
	h := c.GitOps.ExternalHub
	token, err := secrets{cluster: c, env: env}.plain(hubTokenPath, h.Token, kept)
	if err != nil {
		return nil, fmt.Errorf("reach hub %s: %w", h.Name, err)
	}
	return handoff.TokenKubeconfig(h.Name, h.Endpoint, h.CertificateAuthority, token)
}
