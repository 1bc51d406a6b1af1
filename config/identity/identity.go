// Package identity has the identities in the cloud of workloads, and what they may do.
package identity

import (
	"tombolo/config/azurefacts"
	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/strict"
)

// IdentityMode is how a pod gets the credentials of an IAM role.
type IdentityMode string

// The identity modes.
const (
	// IRSA: IAM roles for service accounts, by the cluster's OIDC provider.
	IRSA IdentityMode = "irsa"
	// PodIdentity: EKS Pod Identity, by an association and the node's agent.
	PodIdentity IdentityMode = "pod-identity"
	// WorkloadIdentity: a user-assigned identity of Azure with a federated credential.
	WorkloadIdentity IdentityMode = "workload-identity"
)

// Identity is an IAM role, or an identity of Azure, for one Kubernetes service account.
type Identity struct {
	// ServiceAccount that may assume the role. Default: the service's name.
	ServiceAccount string `yaml:"serviceAccount,omitempty"`
	// Mode is irsa or pod-identity on AWS, workload-identity on Azure. Default irsa; on
	// Azure workload-identity.
	Mode IdentityMode `yaml:"mode,omitempty"`
	// RoleARN of an existing role of the cluster's account; it goes with serviceAccount and
	// mode only. Its policies and its trust policy are its owner's business. Default: core
	// makes a role.
	RoleARN string `yaml:"roleArn,omitempty" cloud:"aws"`
	// PolicyARNs of managed policies to attach.
	PolicyARNs []string `yaml:"policyArns,omitempty" cloud:"aws"`
	// Statements of the role's own policy.
	Statements []Statement `yaml:"statements,omitempty" cloud:"aws"`
	// Roles that the identity gets. Default: none.
	Roles []RoleGrant `yaml:"roles,omitempty" cloud:"azure"`
}

var identityFields = field.Of[Identity](map[string]field.Descriptor{
	"ServiceAccount": {
		Rule:        strict.Rule{What: "the name of a service account", Example: "external-dns", Pattern: form.Subdomain, MaxLength: 253, Advice: form.AsLabel},
		Change:      field.Changes("the role trusts another service account; pods of the old one lose its rights"),
		AzureChange: field.Changes("the identity trusts another service account; pods of the old one lose its rights"),
	},
	"Mode": {
		Rule:      strict.Rule{What: "an identity mode", Allowed: form.Texts(IRSA, PodIdentity), Default: IRSA},
		AzureRule: &strict.Rule{What: "an identity mode of Azure", Allowed: form.Texts(WorkloadIdentity), Default: WorkloadIdentity},
		Change:    field.Changes("the role trusts another issuer of credentials; pods get them when they start anew"), AzureChange: field.Changes("there is one mode on Azure"),
	},
	"RoleARN": {
		Rule:   strict.Rule{What: "the ARN of an IAM role", Pattern: form.RoleARN, Example: "arn:aws:iam::111122223333:role/orders"},
		Change: field.Changes("the service account gets the other role; core's own, where there was one, is deleted; pods get the rights when they start anew"), Instead: "roles",
		Remedy: "use roles: the identity is core's, and gets the roles that the list names",
	},
	"PolicyARNs": {
		Rule:   strict.Rule{What: "the ARN of an IAM policy", Pattern: form.PolicyARN, Example: "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"},
		Change: field.Changes("policies are attached to the role or detached"), Instead: "roles", Remedy: "use roles, each with a scope",
	},
	"Statements": {Change: field.Changes("the role's own policy changes"), Instead: "roles", Remedy: "use roles, each with a scope"},
	"Roles":      {Change: field.Changes(aksRoleWords), Instead: "statements", Remedy: "use policyArns or statements", Unordered: true},
})

// RoleGrant is a role of Azure on a scope.
type RoleGrant struct {
	// Role by its name, one of those that Tombolo knows such as Key Vault Secrets User, or by
	// the id of a role definition. Owner, and roles that give roles, are refused.
	Role string `yaml:"role"`
	// Scope that the role is for, by the id of a resource or a resource group. A whole
	// subscription needs Reason.
	Scope string `yaml:"scope"`
	// Reason explains a subscription as Scope.
	Reason string `yaml:"reason,omitempty"`
}

var roleGrantFields = field.Of[RoleGrant](map[string]field.Descriptor{
	"Role": {AzureRule: &strict.Rule{What: "a role", Example: azurefacts.KeyVaultSecretsUser, Pattern: form.RoleText}, AzureChange: field.Changes(aksRoleWords)},
	"Scope": {
		AzureRule:   &strict.Rule{What: "the id of a resource or a resource group", Example: form.ExampleGroup, Pattern: form.RoleScope, Advice: form.IDAdvice(form.RoleScope)},
		AzureChange: field.Changes(aksRoleWords),
	},
	"Reason": {AzureChange: field.Changes("it explains the scope; nothing in the cluster changes")},
})

// What a change does that several keys share.
const (
	aksRoleWords = "role assignments are made and deleted; Azure lets pods know within minutes"
)

// Statement allows actions on resources.
type Statement struct {
	// Actions, such as s3:GetObject or s3:Get*. A bare * and s3:* are refused.
	Actions []string `yaml:"actions"`
	// Resources as ARNs. A bare * needs Reason.
	Resources []string `yaml:"resources"`
	// Reason explains a * in Resources.
	Reason string `yaml:"reason,omitempty"`
}

var statementFields = field.Of[Statement](map[string]field.Descriptor{
	"Actions":   {Rule: strict.Rule{What: "an IAM action", Noun: "action", Example: "s3:GetObject", Pattern: form.Action, MinItems: 1}, Change: field.Changes("the role's own policy changes")},
	"Resources": {Rule: strict.Rule{What: "an ARN", Noun: "resource", Example: "arn:aws:s3:::my-bucket/*", Pattern: form.Resource, MinItems: 1}, Change: field.Changes("the role's own policy changes")},
	"Reason":    {Change: field.Changes("it explains the statement; nothing in the cluster changes")},
})

// AddonPrefix begin the names of addons' identities in Azure after the cluster's.
const AddonPrefix = "addon-"

// GitReader is what the name of the identity in Azure by which the engine reads Git has after the cluster's.
const GitReader = "git"

// Fields are the descriptors of the package.
var Fields = field.Join(identityFields, roleGrantFields, statementFields)
