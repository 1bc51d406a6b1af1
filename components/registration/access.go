package registration

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/object"
)

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
	case a == nil:
		return errors.New("arguments are missing")
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
