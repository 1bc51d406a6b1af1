package config

import (
	"cmp"
	"regexp"

	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/strict"
)

// AssumeRole is an IAM role that is assumed for all that is done in an account.
type AssumeRole struct {
	// RoleARN of the role, in cloud.account.
	RoleARN string `yaml:"roleArn"`
	// ExternalID that the role's trust policy asks for. It is no secret. Default: none.
	ExternalID string `yaml:"externalId,omitempty"`
	// SessionName names the sessions, in the logs of the account: 2 to 64 characters.
	// Default: tombolo- and the file's name, cut to 64 characters.
	SessionName string `yaml:"sessionName,omitempty"`
}

var assumeRoleFields = field.Of[AssumeRole](map[string]field.Descriptor{
	"RoleARN": {
		Rule: strict.Rule{
			What: "the ARN of an IAM role", Pattern: form.RoleARN, Advice: form.PrincipalAdvice, Example: "arn:aws:iam::111122223333:role/tombolo",
		},
		// Who makes a request is no property of what it makes.
		Change: field.Changes(assumedWords),
	},
	"ExternalID": {
		Rule: strict.Rule{
			What: "an external id", Example: "acme-platform", Pattern: regexp.MustCompile(`^[\w+=,.@:/-]{2,}$`), MaxLength: 1224,
		},
		Change: field.Changes(assumedWords),
	},
	"SessionName": {
		Rule: strict.Rule{
			What: "the name of a session", Example: "tombolo-demo", Pattern: regexp.MustCompile(`^[\w+=,.@-]{2,}$`), MaxLength: maxSessionName,
		},
		Change: field.Changes(assumedWords),
	},
})

// maxSessionName is the length of a session's name:
// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
const maxSessionName = 64

// sessionName is the default name of sessions for a cluster or an account.
func sessionName(of string) string {
	name := "tombolo-" + of
	return name[:min(len(name), maxSessionName)]
}

// Roles says how the IAM roles are made that Tombolo makes in the account.
type Roles struct {
	// PermissionsBoundary is the ARN of an IAM policy beyond which the rights of no role
	// go that Tombolo makes: a policy of the account, or AWS's. It has to be there.
	// Default: none.
	PermissionsBoundary string `yaml:"permissionsBoundary,omitempty"`
	// Path of the roles and instance profiles in IAM, at most 512 characters. It begins
	// and ends with a slash. Default /.
	Path string `yaml:"path,omitempty"`
	// Given are roles that others make in place of those that Tombolo would make. Not in
	// an account file.
	Given GivenRoles `yaml:"given,omitempty"`
}

var rolesFields = field.Of[Roles](map[string]field.Descriptor{
	"PermissionsBoundary": {
		Rule: boundary(),
		// ForceNew of internal/service/iam/role.go: path, not permissions_boundary.
		Change: field.Changes("IAM puts the boundary on the roles that are there, or takes it off; from then on their rights end there"),
	},
	"Path": {
		Rule: strict.Rule{
			What: "an IAM path", Example: "/tombolo/", Pattern: rolePath, MaxLength: maxRolePath, Advice: pathAdvice, Default: defaultRolePath,
		},
		Change: []field.Case{{
			Effect: field.NeedsRebuild, Words: "a role keeps its path, and EKS the role that the control plane was made with", Remedy: field.RebuildRemedy,
		}},
	},
	"Given": {},
})

// GivenRoles are the ARNs of roles of the cluster's account that others own: Tombolo makes
// and changes nothing of them. What each has to trust and may do is printed by tombolo roles.
type GivenRoles struct {
	// Cluster is the role of the control plane. Default: core makes it.
	Cluster string `yaml:"cluster,omitempty"`
	// Nodes is the role of the nodes of every node group, or of EKS Auto Mode. Default:
	// core makes it.
	Nodes string `yaml:"nodes,omitempty"`
	// Addons are roles of addons of the file, by the names that tombolo roles prints, such
	// as karpenter and karpenter-node. Default: core makes them.
	Addons map[string]string `yaml:"addons,omitempty"`
}

var givenRolesFields = field.Of[GivenRoles](map[string]field.Descriptor{
	"Cluster": {Rule: form.GivenRole("eks/control-plane"), Change: field.Keeps("EKS keeps the role that the control plane was made with")},
	"Nodes": {
		Rule: form.GivenRole("eks/nodes"),
		Change: []field.Case{
			{
				When: "with EKS Auto Mode", Effect: field.NeedsRebuild, Applies: func(c field.Change) bool { return c.Live.Auto },
				Words: "EKS keeps the role that Auto Mode was turned on with", Remedy: field.RebuildRemedy,
			},
			{Effect: field.ReplacesNodeGroup, Words: "every node group is replaced: EKS keeps the role of a group"},
		},
	},
	"Addons": {Change: field.Changes("the engine follows the values: the addon's pods start anew with the other role; core's own, where there was one, is deleted")},
})

// any says whether a role is given.
func (g GivenRoles) any() bool { return g.Cluster != "" || g.Nodes != "" || len(g.Addons) > 0 }

// defaultRolePath is IAM's.
const defaultRolePath = "/"

// RoleARN is the ARN of a role of the name that Tombolo makes in the account, in a partition such as aws.
func (c Cloud) RoleARN(partition, name string) string {
	return "arn:" + partition + ":iam::" + c.Account + ":role" + cmp.Or(c.Roles.Path, defaultRolePath) + name
}

// AccessPolicy is one of EKS's policies about Kubernetes.
type AccessPolicy string

// The access policies, the one with the fewest rights first. What each allows:
// https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html
const (
	// AccessView reads most objects, and no Secrets.
	AccessView AccessPolicy = "view"
	// AccessEdit changes most objects, Secrets too, and no roles.
	AccessEdit AccessPolicy = "edit"
	// AccessAdmin changes most objects, and roles of namespaces.
	AccessAdmin AccessPolicy = "admin"
	// AccessClusterAdmin may do everything.
	AccessClusterAdmin AccessPolicy = "cluster-admin"
)

// accessPolicies lists them all.
func accessPolicies() []AccessPolicy {
	return []AccessPolicy{AccessView, AccessEdit, AccessAdmin, AccessClusterAdmin}
}

// Access is an IAM role or user with rights on the cluster.
type Access struct {
	// Name of the entry, unique among kubernetes.access, a DNS label.
	Name string `yaml:"name"`
	// PrincipalARN of an IAM role or user, which is in one entry of the file.
	PrincipalARN string `yaml:"principalArn"`
	// Policy of EKS's: view, edit, admin or cluster-admin. Default: none; then groups say
	// what the principal may do.
	Policy AccessPolicy `yaml:"policy,omitempty"`
	// Namespaces that the policy is for; a * in a name stands for any characters. Default:
	// the whole cluster. cluster-admin has none.
	Namespaces []string `yaml:"namespaces,omitempty"`
	// Groups of Kubernetes that the principal is a member of. Roles are bound to them in
	// the platform tree. Default: none.
	Groups []string `yaml:"groups,omitempty"`
}

var accessFields = field.Of[Access](map[string]field.Descriptor{
	"Name": {
		Rule:   form.Label("developers"),
		Change: field.Changes("the access entry is made under its new name and deleted under the old one: give another principal, too, or EKS refuses the second entry"),
	},
	"PrincipalARN": {
		Rule: strict.Rule{
			What: "the ARN of an IAM role or user", Pattern: form.PrincipalARN, Advice: form.PrincipalAdvice,
			Example: "arn:aws:iam::111122223333:role/developer",
		},
		Change: field.Changes("the access entry is replaced: the new principal gets the rights, the old one loses them"),
	},
	"Policy": {
		Rule:   strict.Rule{What: "an access policy", Allowed: form.Texts(accessPolicies()...)},
		Change: field.Changes("the policy is taken off the entry, and the other one put on"),
	},
	"Namespaces": {
		Rule: strict.Rule{
			What: "the name of a namespace", Noun: "namespace", Example: "team-a", Pattern: namespacePattern, MaxLength: form.MaxLabel,
		},
		Change:    field.Changes("the policy is taken off the entry, and put on with the other namespaces"),
		Unordered: true,
	},
	"Groups": {
		Rule: strict.Rule{
			What: "the name of a Kubernetes group", Noun: "group", Example: "team-a", Pattern: regexp.MustCompile(`^\S+$`), Advice: groupAdvice,
		},
		Change:    field.Changes("EKS changes the groups of the entry"),
		Unordered: true,
	},
})
