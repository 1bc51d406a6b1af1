// Package access says who has which rights on a cluster, and who signs people in.
package access

import (
	"regexp"

	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/strict"
)

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

// AccessPolicy is one of EKS's policies about Kubernetes.
type AccessPolicy string

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
		Rule:   strict.Rule{What: "the ARN of an IAM role or user", Pattern: form.PrincipalARN, Advice: form.PrincipalAdvice, Example: "arn:aws:iam::111122223333:role/developer"},
		Change: field.Changes("the access entry is replaced: the new principal gets the rights, the old one loses them"),
	},
	"Policy": {Rule: strict.Rule{What: "an access policy", Allowed: form.Texts(accessPolicies()...)}, Change: field.Changes("the policy is taken off the entry, and the other one put on")},
	"Namespaces": {
		Rule:   strict.Rule{What: "the name of a namespace", Noun: "namespace", Example: "team-a", Pattern: namespacePattern, MaxLength: form.MaxLabel},
		Change: field.Changes("the policy is taken off the entry, and put on with the other namespaces"), Unordered: true,
	},
	"Groups": {
		Rule:   strict.Rule{What: "the name of a Kubernetes group", Noun: "group", Example: "team-a", Pattern: regexp.MustCompile(`^\S+$`), Advice: groupAdvice},
		Change: field.Changes("EKS changes the groups of the entry"), Unordered: true,
	},
})

// Principal is an IAM role or user, or a group of Entra, with rights on the cluster.
type Principal struct {
	// Name of the entry, unique in the file, a DNS label.
	Name string `yaml:"name"`
	// PrincipalARN of an IAM role or user.
	PrincipalARN string `yaml:"principalArn" cloud:"aws"`
	// Group of Entra, by its object id.
	Group string `yaml:"group" cloud:"azure"`
}

var principalFields = field.Of[Principal](map[string]field.Descriptor{
	"Name": {
		Rule:        form.Label("platform-team"),
		Change:      field.Changes("the access entry is made under its new name and deleted under the old one: give another principal, too, or EKS refuses the second entry"),
		AzureChange: field.Changes("it names the group in the file; nothing in the cluster changes"),
	},
	"PrincipalARN": {
		Rule:   strict.Rule{What: "the ARN of an IAM role or user", Pattern: form.PrincipalARN, Advice: form.PrincipalAdvice, Example: "arn:aws:iam::111122223333:role/platform-admin"},
		Change: field.Changes("the access entry is replaced: the new principal gets the rights, the old one loses them"), Instead: "group", Remedy: "use group, the object id of a group of Entra",
	},
	"Group": {
		Rule: form.UUIDRule("the object id of a group of Entra"), Change: field.Changes("the new group gets the rights, and the old one loses them"), Instead: "principalArn",
		Remedy: "use principalArn, the ARN of an IAM role or user",
	},
})

// namespacePattern is a namespace's name with wildcards, as an access scope has it:
// https://docs.aws.amazon.com/eks/latest/userguide/access-policies.html
var namespacePattern = regexp.MustCompile(`^[a-z0-9*]([a-z0-9*-]*[a-z0-9*])?$`)

// reservedGroups begin names of groups that EKS refuses in an access entry, by
// kubernetesGroups of
// https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateAccessEntry.html.
// tombolo: is Tombolo's own.
var reservedGroups = []string{"system:", "eks:", "aws:", "amazon:", "iam:", "tombolo:"}

func groupAdvice(string) string { return "write it without spaces, such as team-a" }

// Fields are the descriptors of the package.
var Fields = field.Join(principalFields, accessFields, identityProviderFields)
