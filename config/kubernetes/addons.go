package kubernetes

import (
	"cmp"
	"regexp"

	"tombolo/config/awsfacts"
	"tombolo/config/check"
	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/identity"
	"tombolo/config/strict"
)

// ManagedAddon is an addon that EKS itself installs and upgrades.
type ManagedAddon struct {
	// Name of the addon, such as vpc-cni.
	Name string `yaml:"name"`
	// Version, such as v1.20.1-eksbuild.1. Default: the cloud's default for
	// the Kubernetes version, which the addon follows on each up; a newer live
	// version stays, as long as the cloud offers it for the Kubernetes version.
	Version string `yaml:"version,omitempty"`
	// Configuration of the addon, by the addon's own schema.
	Configuration map[string]any `yaml:"configuration,omitempty"`
	// Identity is the IAM role of the addon's service account. Default: none, but
	// for vpc-cni, which always has one of its own.
	Identity *AddonIdentity `yaml:"identity,omitempty"`
}

var managedAddonFields = field.Of[ManagedAddon](map[string]field.Descriptor{
	"Name": {
		Rule:   strict.Rule{What: "the name of an EKS addon", Example: "vpc-cni", Pattern: regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]*$`), MaxLength: 100},
		Change: field.Changes("EKS installs the addon of the new name, and deletes that of the old one"),
	},
	"Version": {
		Rule:   strict.Rule{What: "the version of an EKS addon", Example: "v1.20.1-eksbuild.1", Pattern: regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+-eksbuild\.[0-9]+$`)},
		Change: field.Changes("EKS updates the addon in the cluster; one without a version follows AWS's default for the Kubernetes version"),
	},
	"Configuration": {Change: field.Changes("EKS updates the addon in the cluster")},
	"Identity":      {Change: field.Changes("the role is made, changed or deleted, and EKS updates the addon, whose pods start anew")},
})

// AddonIdentity is the IAM role of a managed addon: an existing one, or one that
// core makes, which only the addon's service account may assume.
type AddonIdentity struct {
	// RoleARN of an existing role; it goes with no other key. Its trust policy is
	// its owner's business. Default: core makes a role.
	RoleARN string `yaml:"roleArn,omitempty"`
	// Namespace of the service account. Default: kube-system, or what AWS says
	// for the addon.
	Namespace string `yaml:"namespace,omitempty"`
	// ServiceAccount that assumes the role. Default: what AWS says for the addon;
	// required for one that Tombolo does not know.
	ServiceAccount string `yaml:"serviceAccount,omitempty"`
	// PolicyARNs of managed policies to attach. Default: those that AWS recommends
	// for the addon, without Statements.
	PolicyARNs []string `yaml:"policyArns,omitempty"`
	// Statements of the role's own policy.
	Statements []identity.Statement `yaml:"statements,omitempty"`
}

var addonIdentityFields = field.Of[AddonIdentity](map[string]field.Descriptor{
	"RoleARN": {
		Rule:   strict.Rule{What: "the ARN of an IAM role", Pattern: form.RoleARN, Example: "arn:aws:iam::111122223333:role/ebs-csi"},
		Change: field.Changes("EKS updates the addon, whose pods start anew with the other role"),
	},
	"Namespace": {Rule: form.Label("kube-system"), Change: field.Changes("the role trusts the service account there")},
	"ServiceAccount": {
		Rule:   strict.Rule{What: "the name of a service account", Example: "ebs-csi-controller-sa", Pattern: form.Subdomain, MaxLength: 253},
		Change: field.Changes("the role trusts the other service account"),
	},
	"PolicyARNs": {
		Rule:   strict.Rule{What: "the ARN of an IAM policy", Noun: "policy", Pattern: form.PolicyARN, Example: "arn:aws:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy"},
		Change: field.Changes("the role gets and loses policies"),
	},
	"Statements": {Change: field.Changes("the policy of the role changes")},
})

func defaultAddons() []ManagedAddon {
	return []ManagedAddon{{Name: "vpc-cni"}, {Name: "kube-proxy"}, {Name: "coredns"}, {Name: awsfacts.PodIdentityAgent}}
}

// defaultAddonObjects are the default addons as a file would write them.
func defaultAddonObjects() []map[string]string {
	var out []map[string]string
	for _, a := range defaultAddons() {
		out = append(out, map[string]string{"name": a.Name})
	}
	return out
}

func checkManagedAddons(v *check.File, addons []ManagedAddon) {
	list := strict.Path("kubernetes.addons")
	check.Unique(v, list, "name", addons, func(a ManagedAddon) string { return a.Name }, "give each addon once")
	for i, a := range addons {
		v.Misspelt(list.Index(i).Field("name"), "an EKS addon that Tombolo knows", a.Name, awsfacts.Addons)
		if a.Identity != nil {
			checkAddonIdentity(v, list.Index(i), a)
		}
	}
}

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
func checkAddonIdentity(v *check.File, addon strict.Path, a ManagedAddon) {
	at, i := addon.Field("identity"), *a.Identity
	if identity.GivenRole(v, at, i.RoleARN, "namespace", "serviceAccount", "policyArns", "statements") {
		return
	}
	if a.Name == cni {
		v.Problem(at, "remove it, or name a role in roleArn", "the addon %s has a role of its own in any case, which core makes", cni)
		return
	}
	v.Fits(addon.Field("name"), "the addon's IAM role", ManagedAddonRoleName(v.Name, a.Name), form.MaxRoleName)
	identity.CheckPolicies(v, at.Field("policyArns"), i.PolicyARNs)
	for n, s := range i.Statements {
		identity.CheckStatement(v, at.Field("statements").Index(n), s)
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
