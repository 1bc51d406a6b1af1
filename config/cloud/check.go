package cloud

import (
	"maps"
	"slices"

	"tombolo/config/check"
	"tombolo/config/form"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// Check checks how the account is entered, and how IAM roles are to be made in it: IAM takes
// a boundary of the role's own account, or of AWS. addonRoles are the names of the roles that core
// makes for addons.
func Check(v *check.File, c Cloud, addonRoles func() []string) {
	if a := c.AssumeRole; a != nil { // cloud.account is that of the role
		v.OwnARNs(map[strict.Path]string{"cloud.assumeRole.roleArn": a.RoleARN})
	}
	v.OwnARNs(map[strict.Path]string{"cloud.roles.permissionsBoundary": c.Roles.PermissionsBoundary})
	checkGivenRoles(v, c.Roles.Given, addonRoles)
}

// checkGivenRoles checks the roles that others make: each has to be one that core would make.
func checkGivenRoles(v *check.File, given GivenRoles, addonRoles func() []string) {
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
