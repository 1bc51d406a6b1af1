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

// CheckCloud checks how the account is entered, and how IAM roles are to be made in it: IAM takes
// a boundary of the role's own account, or of AWS. addonRoles are the names of the roles that core
// makes for addons.
func CheckCloud(v *File, c Cloud, addonRoles func() []string) {
	if a := c.AssumeRole; a != nil { // cloud.account is that of the role
		v.OwnARNs(map[strict.Path]string{"cloud.assumeRole.roleArn": a.RoleARN})
	}
	v.OwnARNs(map[strict.Path]string{"cloud.roles.permissionsBoundary": c.Roles.PermissionsBoundary})
	checkGivenRoles(v, c.Roles.Given, addonRoles)
}

// checkGivenRoles checks the roles that others make: each has to be one that core would make.
func checkGivenRoles(v *File, given GivenRoles, addonRoles func() []string) {
	const at = strict.Path("cloud.roles.given")
	switch {
	case v.OfAccount && given.any():
		v.Problem(at, "remove it", "is for cluster files: an account file is about the roles of pipelines")
		return
	case v.Existing:
		for _, key := range []string{"cluster", "nodes"} {
			if v.Doc.Has(at.Field(key)) {
				v.Problem(at.Field(key), "remove it", "does not go with kubernetes.existing: its roles are the owner's already")
			}
		}
	}
	v.InAccount(at.Field("cluster"), form.RoleARN, given.Cluster)
	v.InAccount(at.Field("nodes"), form.RoleARN, given.Nodes)
	if !v.Doc.Sound("addons", at.Field("addons")) {
		return
	}
	names := addonRoles()
	for _, name := range slices.Sorted(maps.Keys(given.Addons)) {
		where := at.Field("addons").Field(name)
		if !slices.Contains(names, name) {
			remedy := "remove it"
			if len(names) > 0 {
				remedy = "use " + wording.Or(names)
			}
			v.KeyProblem(where, remedy, "core makes no role of that name for the addons of this file")
			continue
		}
		if arn := given.Addons[name]; !v.InAccount(where, form.RoleARN, arn) {
			v.Problem(where, "write it like arn:aws:iam::111122223333:role/eks/"+name, "%s is not the ARN of an IAM role", wording.Quote(arn))
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

// checkEntries checks all who have access entries.
func checkEntries(v *File, k Kubernetes) {
	checkPrincipals(v, "kubernetes.admins", "admin", k.Admins)
	checkPrincipals(v, "kubernetes.previewers", "previewer", k.Previewers)
	checkBothKinds(v, k)
	checkAccessEntries(v, k)
}

// checkAccessEntries checks who else may do what on the cluster.
func checkAccessEntries(v *File, k Kubernetes) {
	const list = strict.Path("kubernetes.access")
	Unique(v, list, "name", k.Access, func(a Access) string { return a.Name }, "give each entry a name of its own")
	Unique(v, list, "principalArn", k.Access, func(a Access) string { return a.PrincipalARN }, "a principal has one access entry: give it once")
	for i, a := range k.Access {
		at := list.Index(i)
		checkAccessPrincipal(v, at.Field("principalArn"), a.PrincipalARN, k)
		checkAccessRights(v, at, a)
		Unique(v, at.Field("namespaces"), "", a.Namespaces, Itself, "give each namespace once")
		Unique(v, at.Field("groups"), "", a.Groups, Itself, "give each group once")
		for j, group := range a.Groups {
			checkAccessGroup(v, at.Field("groups").Index(j), group)
		}
	}
}

// checkAccessPrincipal refuses a principal of another account, and one that has an entry
// already.
func checkAccessPrincipal(v *File, at strict.Path, arn string, k Kubernetes) {
	v.InAccount(at, form.PrincipalARN, arn)
	for _, other := range []struct {
		list       string
		principals []Principal
	}{{"kubernetes.admins", k.Admins}, {"kubernetes.previewers", k.Previewers}} {
		if slices.ContainsFunc(other.principals, func(p Principal) bool { return arn != "" && p.PrincipalARN == arn }) {
			v.Problem(at, "take it out of one of the two: a principal has one access entry", "is among %s too", other.list)
		}
	}
}

func checkAccessRights(v *File, at strict.Path, a Access) {
	switch {
	case a.Policy == "" && len(a.Namespaces) > 0:
		v.Problem(at.Field("namespaces"), "add policy, or remove it: what groups may do is said by roles in the cluster",
			"has no effect: there is no policy for the namespaces")
	case a.Policy == AccessClusterAdmin && len(a.Namespaces) > 0:
		v.Problem(at.Field("namespaces"), "use policy: admin for namespaces, or remove it", "cluster-admin is for the whole cluster")
	case a.Policy == "" && len(a.Groups) == 0 && v.Doc.Sound(at.Field("policy"), at.Field("groups")):
		v.Problem(at, "add policy, or groups", "gives no rights: it has neither a policy nor groups")
	}
}

func checkAccessGroup(v *File, at strict.Path, group string) {
	for _, reserved := range reservedGroups {
		if strings.HasPrefix(group, reserved) {
			owner := "EKS allows no group that begins with " + reserved
			if reserved == "tombolo:" {
				owner = "the prefix tombolo: is reserved; previewers are in kubernetes.previewers"
			}
			v.Problem(at, "use a group of your own", "%s cannot be given: %s", wording.Quote(group), owner)
		}
	}
}
