// Package registration makes a cluster known to Argo CD: on the hub the Secret
// that Argo CD knows the cluster by, on the cluster the rights that the hub gets
// there.
//
// The Secret is the bridge from infrastructure to Git: generators choose
// clusters by its labels, and templates read its annotations.
package registration

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/argocd"
	"tombolo/components/distribution"
	"tombolo/components/object"
	"tombolo/internal/names"
)

const registrationType = "tombolo:registration:Registration"

// SecretPrefix before a cluster's name is the name of its Secret.
const SecretPrefix = "cluster-"

// SecretName is the name of a cluster's Secret in Argo CD's namespace.
func SecretName(cluster string) string { return SecretPrefix + cluster }

// RegistrationArgs are the arguments of a Registration.
type RegistrationArgs struct {
	// Cluster is the name by which Argo CD knows the cluster, a DNS label.
	Cluster string
	// Labels for generators to choose by.
	Labels map[string]string
	// Annotations for templates to read.
	Annotations map[string]pulumi.StringInput
	// Server is the address of the cluster's API.
	Server pulumi.StringInput
	// Credentials for it; nil for the cluster that Argo CD runs in.
	Credentials Credentials
	// HubEndpoint and HubCA are of a hub that others run; "" for others. They are inputs of the
	// component, so that a preview shows another hub: the provider has them beside its token, as one
	// secret.
	HubEndpoint, HubCA string
}

// Registration is a cluster's Secret in Argo CD's namespace. It is updated in
// place, provided that the Kubernetes provider has enableSecretMutable: Argo CD
// removes the applications of a cluster whose Secret is gone, even for a moment.
type Registration struct {
	pulumi.ResourceState

	// Secret of the cluster.
	Secret *object.Object
}

// NewRegistration registers a cluster. The provider in opts is the hub's.
func NewRegistration(ctx *pulumi.Context, name string, args *RegistrationArgs, opts ...pulumi.ResourceOption) (*Registration, error) {
	if err := args.validate(); err != nil {
		return nil, fmt.Errorf("registration %s: %w", name, err)
	}
	c := &Registration{}
	inputs := pulumi.Map{"cluster": pulumi.String(args.Cluster)}
	if args.HubEndpoint != "" {
		inputs["hubEndpoint"], inputs["hubCa"] = pulumi.String(args.HubEndpoint), pulumi.String(args.HubCA)
	}
	if err := ctx.RegisterComponentResourceV2(registrationType, name, inputs, c, opts...); err != nil {
		return nil, fmt.Errorf("register registration %s: %w", name, err)
	}
	meta := object.Meta{
		Name: SecretName(args.Cluster), Namespace: names.ArgoCDNamespace,
		Labels: args.labels(), Annotations: args.annotations(),
	}
	secret := object.Secret(meta, "Opaque", map[string]pulumi.StringInput{
		"name": pulumi.String(args.Cluster), "server": args.Server, "config": args.config(ctx),
	})
	var err error
	c.Secret, err = object.New(ctx, name+"-secret", secret, pulumi.Parent(c))
	if err != nil {
		return nil, fmt.Errorf("registration %s: %w", name, err)
	}
	return c, ctx.RegisterResourceOutputs(c, pulumi.Map{"secret": pulumi.String(SecretName(args.Cluster))})
}

func (a *RegistrationArgs) labels() pulumi.StringMap {
	all := pulumi.StringMap{argocd.SecretTypeLabel: pulumi.String("cluster")}
	for key, value := range a.Labels {
		all[key] = pulumi.String(value)
	}
	return all
}

// annotations say to the Kubernetes provider to take back a field that another manager
// set by hand: the cluster file decides what a cluster is chosen by.
func (a *RegistrationArgs) annotations() pulumi.StringMap {
	all := pulumi.StringMap{distribution.PatchForce: pulumi.String("true")}
	for key, value := range a.Annotations {
		all[key] = value
	}
	return all
}

// clusterName is what can be part of a Secret's name.
var clusterName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)

func (a *RegistrationArgs) validate() error {
	var problems []error
	if !clusterName.MatchString(a.Cluster) || len(a.Cluster) > 63 {
		problems = append(problems, fmt.Errorf("cluster %q is no DNS label", a.Cluster))
	}
	if a.Server == nil {
		problems = append(problems, errors.New("the server is required"))
	}
	if _, taken := a.Labels[argocd.SecretTypeLabel]; taken {
		problems = append(problems, fmt.Errorf("the label %s is Argo CD's own", argocd.SecretTypeLabel))
	}
	if a.Credentials != nil {
		problems = append(problems, a.Credentials.validate())
	}
	return errors.Join(problems...)
}

// Credentials are how Argo CD reaches a cluster: AWS or Token.
type Credentials interface {
	config(ctx *pulumi.Context) pulumi.StringOutput
	validate() error
}

// AWS has Argo CD assume an IAM role of the cluster's for each token that it
// needs. Nothing of it is secret.
type AWS struct {
	// ClusterName of the EKS cluster, RoleARN of the role that knows it.
	ClusterName, RoleARN pulumi.StringInput
	// CA is the certificate authority of its API, base64 of PEM.
	CA pulumi.StringInput
}

// Token is a bearer token for a service account.
type Token struct {
	// Token must be a Pulumi secret.
	Token pulumi.StringInput
	// CA is the certificate authority of the API, base64 of PEM.
	CA pulumi.StringInput
}

// clusterConfig is the JSON that Argo CD reads from a cluster's Secret.
type clusterConfig struct {
	AWS   *awsConfig `json:"awsAuthConfig,omitempty"`
	Token string     `json:"bearerToken,omitempty"`
	TLS   tlsConfig  `json:"tlsClientConfig"`
}

type awsConfig struct {
	ClusterName string `json:"clusterName"`
	RoleARN     string `json:"roleARN"`
}

type tlsConfig struct {
	Insecure bool   `json:"insecure"`
	CA       string `json:"caData,omitempty"`
}

func (c clusterConfig) render() (string, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("write a cluster's configuration for Argo CD: %w", err)
	}
	return string(text), nil
}

// config of the cluster; in the hub's own, its service account is enough.
func (a *RegistrationArgs) config(ctx *pulumi.Context) pulumi.StringInput {
	if a.Credentials != nil {
		return a.Credentials.config(ctx)
	}
	return pulumi.String(`{"tlsClientConfig":{"insecure":false}}`)
}

func (c AWS) config(*pulumi.Context) pulumi.StringOutput {
	return pulumi.All(c.ClusterName, c.RoleARN, c.CA).ApplyT(func(v []any) (string, error) {
		role := v[1].(string)
		if role == "" {
			return "", errors.New("the cluster's core has no role for the hub; run up for it again")
		}
		return clusterConfig{AWS: &awsConfig{v[0].(string), role}, TLS: tlsConfig{CA: v[2].(string)}}.render()
	}).(pulumi.StringOutput)
}

func (c AWS) validate() error {
	if c.ClusterName == nil || c.RoleARN == nil || c.CA == nil {
		return errors.New("AWS credentials need the cluster's name, a role and the certificate authority")
	}
	return nil
}

// config is a secret, whatever Token was given as. In a preview there may be no
// token yet.
func (c Token) config(ctx *pulumi.Context) pulumi.StringOutput {
	text := pulumi.All(c.Token, c.CA).ApplyT(func(v []any) (string, error) {
		token := v[0].(string)
		if token == "" && !ctx.DryRun() {
			return "", errors.New("the token is empty; did Kubernetes not fill the service account's Secret?")
		}
		return clusterConfig{Token: token, TLS: tlsConfig{CA: v[1].(string)}}.render()
	})
	return pulumi.ToSecret(text).(pulumi.StringOutput)
}

func (c Token) validate() error {
	if c.Token == nil || c.CA == nil {
		return errors.New("a token and the certificate authority are required")
	}
	return nil
}

const accessType = "tombolo:registration:Access"

const (
	// Group is the Kubernetes group whose members are the hub's Argo CD.
	Group = "tombolo:argocd"
	// Manager is the service account for Argo CD, where it has a token.
	Manager = "argocd-manager"
	// roleName names the ClusterRole and its binding.
	roleName = "tombolo:argocd"
)

// AccessArgs are the arguments of an Access.
type AccessArgs struct {
	// Namespace of the service account and its token. Used with Rotation.
	Namespace string
	// Rotation is the number of the token of the service account Manager: with
	// another one a new token is made, and the old one deleted, and by that made
	// void, once the new one is in use. 0 makes no service account: the rights
	// are Group's alone.
	Rotation int
}

// Access is what the hub's Argo CD may do on a cluster.
type Access struct {
	pulumi.ResourceState

	// Token of the service account, a secret; nil without Rotation.
	Token pulumi.StringInput
	// Resources are all that it is made of, to depend on (distribution.Engine says why).
	Resources []pulumi.Resource
}

// NewAccess makes the rights, and where asked the service account that has
// them. The provider in opts is the cluster's.
func NewAccess(ctx *pulumi.Context, name string, args *AccessArgs, opts ...pulumi.ResourceOption) (*Access, error) {
	if err := args.validate(); err != nil {
		return nil, fmt.Errorf("access %s: %w", name, err)
	}
	c := &Access{}
	if err := ctx.RegisterComponentResourceV2(accessType, name, pulumi.Map{"group": pulumi.String(Group)}, c, opts...); err != nil {
		return nil, fmt.Errorf("register access %s: %w", name, err)
	}
	if err := c.build(ctx, name, args, pulumi.Parent(c)); err != nil {
		return nil, fmt.Errorf("access %s: %w", name, err)
	}
	return c, ctx.RegisterResourceOutputs(c, pulumi.Map{})
}

func (a *AccessArgs) validate() error {
	switch {
	case a.Rotation < 0:
		return fmt.Errorf("rotation %d is negative", a.Rotation)
	case a.Rotation > 0 && a.Namespace == "":
		return errors.New("a namespace for the service account is required")
	}
	return nil
}

func (c *Access) build(ctx *pulumi.Context, name string, args *AccessArgs, parent pulumi.ResourceOption) error {
	role, err := object.New(ctx, name+"-role", object.ClusterRole(roleName, rules()...), parent)
	if err != nil {
		return err
	}
	subject := object.Group(Group)
	if args.Rotation > 0 {
		subject = map[string]any{"kind": "ServiceAccount", "namespace": args.Namespace, "name": Manager}
	}
	binding, err := object.New(ctx, name+"-binding", object.ClusterRoleBinding(roleName, subject), parent, pulumi.DependsOn([]pulumi.Resource{role}))
	if err != nil {
		return err
	}
	c.Resources = []pulumi.Resource{role, binding}
	if args.Rotation == 0 {
		return nil
	}
	return c.makeToken(ctx, name, args, parent, binding)
}

// rules are what Argo CD needs to sync whatever Git says: to read and write
// every kind, and to make roles with rights that it does not hold itself. With
// these two, whoever writes to the platform's repository is an administrator of
// the cluster in effect; that is what GitOps means here, and narrower rights
// would fail at the first chart that brings a new kind. What is left out is what
// no sync does: to impersonate, to delete collections, and to approve or sign.
func rules() []map[string]any {
	every := []string{"*"}
	return []map[string]any{
		{
			"apiGroups": every, "resources": every,
			"verbs": []string{"get", "list", "watch", "create", "update", "patch", "delete"},
		},
		{
			"apiGroups": []string{object.RBAC}, "resources": []string{"roles", "clusterroles"},
			"verbs": []string{"bind", "escalate"},
		},
		// What a project names an account for is applied as that account.
		{"apiGroups": []string{""}, "resources": []string{"serviceaccounts"}, "verbs": []string{"impersonate"}},
		{"nonResourceURLs": every, "verbs": []string{"get"}},
	}
}

// makeToken has Kubernetes make a token that lives as long as its Secret. Its
// name has the number, so that another number is another token.
func (c *Access) makeToken(ctx *pulumi.Context, name string, args *AccessArgs, parent pulumi.ResourceOption, binding pulumi.Resource) error {
	account, err := object.New(ctx, name+"-manager", object.Args{
		APIVersion: "v1", Kind: "ServiceAccount", Meta: object.Meta{Name: Manager, Namespace: args.Namespace},
	}, parent)
	if err != nil {
		return err
	}
	number := strconv.Itoa(args.Rotation)
	secret, err := object.New(ctx, name+"-token-"+number, object.Secret(object.Meta{
		Name: Manager + "-" + number, Namespace: args.Namespace,
		Annotations: pulumi.StringMap{"kubernetes.io/service-account.name": pulumi.String(Manager)},
	}, "kubernetes.io/service-account-token", nil), parent, pulumi.DependsOn([]pulumi.Resource{account, binding}))
	if err != nil {
		return err
	}
	c.Resources = append(c.Resources, account, secret)
	token := secret.Data.ApplyT(func(data map[string]string) (string, error) {
		text, err := base64.StdEncoding.DecodeString(data["token"])
		if err != nil {
			return "", fmt.Errorf("read the token of %s: %w", Manager, err)
		}
		return string(text), nil
	})
	c.Token = pulumi.ToSecret(token).(pulumi.StringOutput)
	return nil
}
