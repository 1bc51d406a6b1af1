// Package previewers lets people and pipelines preview a cluster's stacks without
// being its administrators: they read what bootstrap makes, and write it by dry
// run only.
package previewers

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/object"
)

const previewersType = "tombolo:previewers:Previewers"

const (
	// Group is the Kubernetes group whose members may preview, where the cloud can put its
	// principals into groups of Kubernetes; it is also the name of the role.
	Group = "tombolo:preview"
	// PolicyName is the name of the ValidatingAdmissionPolicy and its binding.
	PolicyName = "tombolo-preview"
)

// Refusal is what the API server says to a member who writes, whatever the group is.
const Refusal = "members of the group " + Group + " may write by dry run only: " +
	"use an identity of kubernetes.admins to change the cluster"

// PreviewersArgs are the arguments of Previewers.
type PreviewersArgs struct {
	// Groups of Kubernetes whose members may preview, at least one: Group, or groups of a
	// cloud's directory, as the API server knows them.
	Groups []string
}

// Previewers is what the members of the groups may do on a cluster.
type Previewers struct{ pulumi.ResourceState }

// NewPreviewers makes the rights and the policy that holds them to dry runs. The
// provider in opts is the cluster's.
func NewPreviewers(ctx *pulumi.Context, name string, args *PreviewersArgs, opts ...pulumi.ResourceOption) (*Previewers, error) {
	if len(args.Groups) == 0 {
		return nil, fmt.Errorf("previewers %s: %w", name, errors.New("at least one group is required"))
	}
	c := &Previewers{}
	if err := ctx.RegisterComponentResourceV2(previewersType, name, pulumi.Map{"group": pulumi.String(Group)}, c, opts...); err != nil {
		return nil, fmt.Errorf("register previewers %s: %w", name, err)
	}
	if err := build(ctx, name, args, pulumi.Parent(c)); err != nil {
		return nil, fmt.Errorf("previewers %s: %w", name, err)
	}
	return c, ctx.RegisterResourceOutputs(c, pulumi.Map{})
}

// build makes the policy first: without it, the rights would be to write.
func build(ctx *pulumi.Context, name string, args *PreviewersArgs, parent pulumi.ResourceOption) error {
	policy, err := object.New(ctx, name+"-previews", object.Args{
		APIVersion: admission, Kind: "ValidatingAdmissionPolicy", Meta: object.Meta{Name: PolicyName},
		Fields: map[string]any{"spec": dryRunOnly(args.Groups)},
	}, parent)
	if err != nil {
		return err
	}
	bound, err := object.New(ctx, name+"-previews", object.Args{
		APIVersion: admission, Kind: "ValidatingAdmissionPolicyBinding", Meta: object.Meta{Name: PolicyName},
		Fields: map[string]any{"spec": map[string]any{"policyName": PolicyName, "validationActions": []string{"Deny"}}},
	}, parent, pulumi.DependsOn([]pulumi.Resource{policy}))
	if err != nil {
		return err
	}
	role, err := object.New(ctx, name+"-previews", object.ClusterRole(Group, rules()...), parent, pulumi.DependsOn([]pulumi.Resource{bound}))
	if err != nil {
		return err
	}
	var subjects []map[string]any
	for _, group := range args.Groups {
		subjects = append(subjects, object.Group(group))
	}
	_, err = object.New(ctx, name+"-previews", object.ClusterRoleBinding(Group, subjects...), parent, pulumi.DependsOn([]pulumi.Resource{role}))
	return err
}

// admission is the version of the API that admission policies are in.
const admission = "admissionregistration.k8s.io/v1"

// memberOf is an expression for a request by a member of one of the groups.
func memberOf(groups []string) string {
	const theirs = "request.userInfo.groups"
	if len(groups) == 1 {
		return "'" + groups[0] + "' in " + theirs
	}
	return theirs + ".exists(group, group in ['" + strings.Join(groups, "', '") + "'])"
}

// dryRunOnly refuses what a member of the groups writes without dry run, and all that a
// member connects to. Reviews of one's own rights and tokens write nothing, though
// they are creations.
func dryRunOnly(groups []string) map[string]any {
	rule := func(groups []string, operations ...string) map[string]any {
		return map[string]any{
			"apiGroups": groups, "apiVersions": []string{"*"}, "resources": []string{"*/*"},
			"operations": operations, "scope": "*",
		}
	}
	return map[string]any{
		"failurePolicy": "Fail",
		"matchConstraints": map[string]any{
			"matchPolicy":          "Equivalent",
			"resourceRules":        []any{rule([]string{"*"}, "CREATE", "UPDATE", "DELETE", "CONNECT")},
			"excludeResourceRules": []any{rule([]string{"authorization.k8s.io", "authentication.k8s.io"}, "CREATE")},
		},
		"matchConditions": []any{map[string]any{"name": "previewer", "expression": memberOf(groups)}},
		"validations": []any{map[string]any{
			"expression": "request.operation != 'CONNECT' && has(request.dryRun) && request.dryRun",
			"message":    Refusal, "reason": "Forbidden",
		}},
	}
}

// core are the kinds of Kubernetes' own group that bootstrap makes or looks at.
// Secrets are not among them: the Kubernetes provider previews what it may not ask
// the server about by comparing inputs, so a preview needs no secret.
var core = []string{
	"configmaps", "endpoints", "events", "limitranges", "namespaces", "nodes", "persistentvolumeclaims", "persistentvolumes",
	"pods", "replicationcontrollers", "resourcequotas", "serviceaccounts", "services",
}

// written are those of them that bootstrap makes.
var written = []string{"configmaps", "namespaces", "resourcequotas", "serviceaccounts", "services"}

// groups are the other groups of which bootstrap makes something.
var groups = []string{
	"apiextensions.k8s.io", "apps", "argoproj.io", "networking.k8s.io", "rbac.authorization.k8s.io",
	"helm.toolkit.fluxcd.io", "kustomize.toolkit.fluxcd.io", "notification.toolkit.fluxcd.io", "source.toolkit.fluxcd.io",
}

// rules leave admission policies and ExternalSecrets to be read, which verify looks at: no policy can hold those who may
// write policies. Roles with more rights than a member has are refused by
// Kubernetes, by dry run too, and then previewed as Secrets are.
func rules() []map[string]any {
	rule := func(groups, resources []string, verbs ...string) map[string]any {
		return map[string]any{"apiGroups": groups, "resources": resources, "verbs": verbs}
	}
	every, own := []string{"*"}, []string{""}
	return []map[string]any{
		rule(own, core, "get", "list", "watch"),
		rule(own, written, "create", "update", "patch", "delete"),
		rule(groups, every, "get", "list", "watch"),
		rule(groups, every, "create", "update", "patch", "delete"),
		rule([]string{"admissionregistration.k8s.io", "external-secrets.io"}, every, "get", "list", "watch"),
	}
}
