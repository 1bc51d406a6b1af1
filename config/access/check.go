package access

import (
	"slices"
	"strings"

	"tombolo/config/check"
	"tombolo/config/form"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// Rights are all who have rights on a cluster.
type Rights struct {
	Admins, Previewers []Principal
	Access             []Access
}

// Check checks all who have access entries.
func Check(v *check.File, k Rights) {
	checkPrincipals(v, "kubernetes.admins", "admin", k.Admins)
	checkPrincipals(v, "kubernetes.previewers", "previewer", k.Previewers)
	checkBothKinds(v, k)
	checkAccessEntries(v, k)
}

// checkAccessEntries checks who else may do what on the cluster.
func checkAccessEntries(v *check.File, k Rights) {
	const list = strict.Path("kubernetes.access")
	check.Unique(v, list, "name", k.Access, func(a Access) string { return a.Name }, "give each entry a name of its own")
	check.Unique(v, list, "principalArn", k.Access, func(a Access) string { return a.PrincipalARN }, "a principal has one access entry: give it once")
	for i, a := range k.Access {
		at := list.Index(i)
		checkAccessPrincipal(v, at.Field("principalArn"), a.PrincipalARN, k)
		checkAccessRights(v, at, a)
		check.Unique(v, at.Field("namespaces"), "", a.Namespaces, check.Itself, "give each namespace once")
		check.Unique(v, at.Field("groups"), "", a.Groups, check.Itself, "give each group once")
		for j, group := range a.Groups {
			checkAccessGroup(v, at.Field("groups").Index(j), group)
		}
	}
}

// checkAccessPrincipal refuses a principal of another account, and one that has an entry
// already.
func checkAccessPrincipal(v *check.File, at strict.Path, arn string, k Rights) {
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

func checkAccessRights(v *check.File, at strict.Path, a Access) {
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

func checkAccessGroup(v *check.File, at strict.Path, group string) {
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

func checkPrincipals(v *check.File, list strict.Path, what string, principals []Principal) {
	check.Unique(v, list, "name", principals, func(a Principal) string { return a.Name }, "give each "+what+" a name of its own")
	check.Unique(v, list, "principalArn", principals, func(a Principal) string { return a.PrincipalARN },
		"a principal has one access entry: give it once")
	for i, a := range principals {
		v.InAccount(list.Index(i).Field("principalArn"), form.PrincipalARN, a.PrincipalARN)
	}
}

// checkBothKinds refuses a previewer that is an admin: EKS has one access entry for a
// principal, and the admission policy would hold the admin to dry runs.
func checkBothKinds(v *check.File, k Rights) {
	for i, p := range k.Previewers {
		if slices.ContainsFunc(k.Admins, func(a Principal) bool { return a.PrincipalARN != "" && a.PrincipalARN == p.PrincipalARN }) {
			v.Problem(strict.Path("kubernetes.previewers").Index(i).Field("principalArn"), "take it out of one of the two",
				"is among kubernetes.admins too")
		}
	}
}

// CheckGroups checks the groups of Entra that have rights on the cluster.
func CheckGroups(v *check.File, k Rights, needed bool) {
	const admins, previewers = strict.Path("kubernetes.admins"), strict.Path("kubernetes.previewers")
	if needed && len(k.Admins) == 0 && v.Doc.Sound(admins) {
		v.Problem(admins, "add admins: [{name: platform, group: <object id>}], a group that those who run tombolo are in",
			"is required on Azure: local accounts are off, and nobody else has rights on a new cluster")
	}
	for _, list := range []struct {
		at     strict.Path
		what   string
		groups []Principal
	}{{admins, "admin", k.Admins}, {previewers, "previewer", k.Previewers}} {
		check.Unique(v, list.at, "name", list.groups, func(p Principal) string { return p.Name }, "give each "+list.what+" a name of its own")
		check.Unique(v, list.at, "group", list.groups, func(p Principal) string { return p.Group }, "give each group once")
	}
	for i, p := range k.Previewers {
		if slices.ContainsFunc(k.Admins, func(a Principal) bool { return a.Group != "" && a.Group == p.Group }) {
			v.Problem(previewers.Index(i).Field("group"), "take it out of one of the two", "is among kubernetes.admins too")
		}
	}
}
