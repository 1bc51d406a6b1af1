package config

import (
	"cmp"

	"tombolo/config/awsfacts"
	"tombolo/config/strict"
)

// cni is the addon that always has a role of its own.
const cni = "vpc-cni"

// ManagedAddonRoleName is the name of the IAM role that core makes for a managed addon.
func ManagedAddonRoleName(cluster, addon string) string { return cluster + "-eks-" + addon }

// Account is the addon's service account, as its identity or else AWS says, and the
// managed policies of its role, in the partition, such as aws.
func (a ManagedAddon) Account(partition string) (namespace, serviceAccount string, policies []string) {
	known, i := awsfacts.AddonIdentities[a.Name], *a.Identity
	policies = i.PolicyARNs
	if len(policies) == 0 && len(i.Statements) == 0 {
		for _, p := range known.Policies {
			policies = append(policies, "arn:"+partition+":iam::aws:policy/"+p)
		}
	}
	return cmp.Or(i.Namespace, known.Namespace, "kube-system"), cmp.Or(i.ServiceAccount, known.ServiceAccount), policies
}

// checkAddonIdentity checks the role of a managed addon.
func checkAddonIdentity(v *File, addon strict.Path, a ManagedAddon) {
	at, i := addon.Field("identity"), *a.Identity
	if checkGivenRole(v, at, i.RoleARN, "namespace", "serviceAccount", "policyArns", "statements") {
		return
	}
	if a.Name == cni {
		v.Problem(at, "remove it, or name a role in roleArn", "the addon %s has a role of its own in any case, which core makes", cni)
		return
	}
	v.Fits(addon.Field("name"), "the addon's IAM role", ManagedAddonRoleName(v.Name, a.Name), maxRoleName)
	checkPolicies(v, at.Field("policyArns"), i.PolicyARNs)
	for n, s := range i.Statements {
		checkStatement(v, at.Field("statements").Index(n), s)
	}
	_, account, policies := a.Account(awsfacts.Partition(v.Region))
	if account == "" {
		v.Problem(at, "add serviceAccount, as the addon's documentation has it, and namespace where that is not kube-system",
			"says no serviceAccount, and Tombolo does not know that of %s", a.Name)
	}
	if len(policies) == 0 && len(i.Statements) == 0 {
		v.Problem(at, "add policyArns or statements", "allows nothing: AWS recommends no policy for %s that fits all clusters", a.Name)
	}
}
