package config

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"tombolo/config/form"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// maxRolePath is the length of an IAM path:
// https://docs.aws.amazon.com/IAM/latest/APIReference/API_CreateRole.html
const maxRolePath = 512

// rolePath is an IAM path of the characters that names have, too. IAM takes more, which
// mean something in a policy's resources.
var rolePath = regexp.MustCompile(`^/([A-Za-z0-9+=,.@_-]+/)*$`)

// pathAdvice suggests the path with its slashes.
func pathAdvice(s string) string {
	if whole := "/" + strings.Trim(s, "/") + "/"; whole != s && rolePath.MatchString(whole) {
		return "begin and end it with a slash: " + whole
	}
	return "use letters, digits and + = , . @ _ - between slashes, such as /tombolo/"
}

// assumedRole refuses a role of another account: cloud.account is that of the role.
func (v *validator) assumedRole() {
	const at = strict.Path("cloud.assumeRole.roleArn")
	if a := v.c.Cloud.AssumeRole; a != nil {
		v.ownARNs(map[strict.Path]string{at: a.RoleARN})
	}
}

// roles checks how IAM roles are to be made: IAM takes a boundary of the role's own
// account, or of AWS.
func (v *validator) roles() {
	const at = "cloud.roles.permissionsBoundary"
	v.ownARNs(map[strict.Path]string{at: v.c.Cloud.Roles.PermissionsBoundary})
	v.givenRoles()
}

// givenRoles checks the roles that others make: each has to be one that core would make.
func (v *validator) givenRoles() {
	const at = strict.Path("cloud.roles.given")
	given := v.c.Cloud.Roles.Given
	switch {
	case v.c.Account != nil && given.any():
		v.problem(at, "remove it", "is for cluster files: an account file is about the roles of pipelines")
		return
	case v.c.IsExisting():
		for _, key := range []string{"cluster", "nodes"} {
			if v.doc.Has(at.Field(key)) {
				v.problem(at.Field(key), "remove it", "does not go with kubernetes.existing: its roles are the owner's already")
			}
		}
	}
	v.inAccount(at.Field("cluster"), form.RoleARN, given.Cluster)
	v.inAccount(at.Field("nodes"), form.RoleARN, given.Nodes)
	if !v.doc.Sound("addons", at.Field("addons")) {
		return
	}
	names := v.c.AddonRoles()
	for _, name := range slices.Sorted(maps.Keys(given.Addons)) {
		where := at.Field("addons").Field(name)
		if !slices.Contains(names, name) {
			remedy := "remove it"
			if len(names) > 0 {
				remedy = "use " + wording.Or(names)
			}
			v.keyProblem(where, remedy, "core makes no role of that name for the addons of this file")
			continue
		}
		if arn := given.Addons[name]; !v.inAccount(where, form.RoleARN, arn) {
			v.problem(where, "write it like arn:aws:iam::111122223333:role/eks/"+name, "%s is not the ARN of an IAM role", wording.Quote(arn))
		}
	}
}

// namespacePattern is a namespace's name with wildcards, as an access scope has it:
// https://docs.aws.amazon.com/eks/latest/userguide/access-policies.html
var namespacePattern = regexp.MustCompile(`^[a-z0-9*]([a-z0-9*-]*[a-z0-9*])?$`)

// reservedGroups begin names of groups that EKS refuses in an access entry, by
// kubernetesGroups of
// https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateAccessEntry.html.
// tombolo: is Tombolo's own.
var reservedGroups = []string{"system:", "eks:", "aws:", "amazon:", "iam:", "tombolo:"}

func groupAdvice(string) string { return "write it without spaces, such as team-a" }

// entries checks all who have access entries.
func (v *validator) entries(k Kubernetes) {
	v.principals("kubernetes.admins", "admin", k.Admins)
	v.principals("kubernetes.previewers", "previewer", k.Previewers)
	v.bothKinds(k)
	v.accessEntries(k)
}

// accessEntries checks who else may do what on the cluster.
func (v *validator) accessEntries(k Kubernetes) {
	const list = strict.Path("kubernetes.access")
	unique(v, list, "name", k.Access, func(a Access) string { return a.Name }, "give each entry a name of its own")
	unique(v, list, "principalArn", k.Access, func(a Access) string { return a.PrincipalARN }, "a principal has one access entry: give it once")
	for i, a := range k.Access {
		at := list.Index(i)
		v.accessPrincipal(at.Field("principalArn"), a.PrincipalARN, k)
		v.accessRights(at, a)
		unique(v, at.Field("namespaces"), "", a.Namespaces, itself, "give each namespace once")
		unique(v, at.Field("groups"), "", a.Groups, itself, "give each group once")
		for j, group := range a.Groups {
			v.accessGroup(at.Field("groups").Index(j), group)
		}
	}
}

// accessPrincipal refuses a principal of another account, and one that has an entry
// already.
func (v *validator) accessPrincipal(at strict.Path, arn string, k Kubernetes) {
	v.inAccount(at, form.PrincipalARN, arn)
	for _, other := range []struct {
		list       string
		principals []Principal
	}{{"kubernetes.admins", k.Admins}, {"kubernetes.previewers", k.Previewers}} {
		if slices.ContainsFunc(other.principals, func(p Principal) bool { return arn != "" && p.PrincipalARN == arn }) {
			v.problem(at, "take it out of one of the two: a principal has one access entry", "is among %s too", other.list)
		}
	}
}

func (v *validator) accessRights(at strict.Path, a Access) {
	switch {
	case a.Policy == "" && len(a.Namespaces) > 0:
		v.problem(at.Field("namespaces"), "add policy, or remove it: what groups may do is said by roles in the cluster",
			"has no effect: there is no policy for the namespaces")
	case a.Policy == AccessClusterAdmin && len(a.Namespaces) > 0:
		v.problem(at.Field("namespaces"), "use policy: admin for namespaces, or remove it", "cluster-admin is for the whole cluster")
	case a.Policy == "" && len(a.Groups) == 0 && v.doc.Sound(at.Field("policy"), at.Field("groups")):
		v.problem(at, "add policy, or groups", "gives no rights: it has neither a policy nor groups")
	}
}

func (v *validator) accessGroup(at strict.Path, group string) {
	for _, reserved := range reservedGroups {
		if strings.HasPrefix(group, reserved) {
			owner := "EKS allows no group that begins with " + reserved
			if reserved == "tombolo:" {
				owner = "the prefix tombolo: is reserved; previewers are in kubernetes.previewers"
			}
			v.problem(at, "use a group of your own", "%s cannot be given: %s", wording.Quote(group), owner)
		}
	}
}
