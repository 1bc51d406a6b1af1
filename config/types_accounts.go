package config

import "cmp"

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
