// Package cloud says where a cluster is, and by which roles things are done there.
package cloud

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tombolo/config/awsfacts"
	"tombolo/config/azurefacts"
	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// Cloud says where the cluster is.
type Cloud struct {
	// Provider of the cloud: aws or azure. It decides which keys the file may have.
	Provider field.Provider `yaml:"provider"`
	// Region, such as eu-central-1 on AWS, or germanywestcentral on Azure.
	Region string `yaml:"region"`
	// Account is the only account that may be changed: 12 digits on AWS, the id of a
	// subscription on Azure. Credentials of another account are refused before anything is
	// made.
	Account string `yaml:"account"`
	// Tenant is the only tenant of Entra that credentials may be of, by its id.
	Tenant string `yaml:"tenant" cloud:"azure"`
	// ResourceGroup that core makes, and in which it makes everything else. In an account file,
	// that of the identities, by itself <name>-pipelines. Default: the name of the cluster.
	ResourceGroup string `yaml:"resourceGroup,omitempty" cloud:"azure"`
	// Profile is the name of the AWS profile to use. Default: the credentials
	// of the environment.
	Profile string `yaml:"profile,omitempty" cloud:"aws"`
	// AssumeRole is the role in the account that is assumed for all that is done in it, with
	// the credentials of profile or of the environment. The state is read and written
	// without it. Default: none.
	AssumeRole *AssumeRole `yaml:"assumeRole,omitempty" cloud:"aws"`
	// Roles says how the IAM roles are made that Tombolo makes in the account.
	Roles Roles `yaml:"roles,omitempty" cloud:"aws"`
}

var cloudFields = field.Of[Cloud](map[string]field.Descriptor{
	"Provider": {Rule: strict.Rule{What: "a supported cloud", Allowed: form.Texts(field.Providers()...)}, Change: field.Keeps("a cluster stays in its cloud")},
	"Region": {
		Rule:      strict.Rule{What: "a supported AWS region", Example: "eu-central-1", Allowed: awsfacts.Regions()},
		AzureRule: &strict.Rule{What: "a region of Azure", Example: "germanywestcentral", Allowed: azurefacts.Regions(), Advice: azureRegionAdvice},
		Change:    field.Keeps("a cluster stays in its region"),
	},
	"Account": {Rule: form.AWSAccount(), AzureRule: new(form.UUIDRule("the id of a subscription")), Change: field.Keeps("a cluster stays in its account")},
	"Tenant":  {Rule: form.UUIDRule("the id of a tenant"), Change: field.Keeps("a cluster stays in its tenant"), Remedy: "remove it: an AWS account has no tenant"},
	"ResourceGroup": {
		Own: true, Rule: form.ResourceGroupRule("demo"), Change: field.Keeps("Azure moves none of the cluster's resources to another group"),
		Remedy: "remove it: AWS has no resource groups that resources are in",
	},
	"Profile": {
		Rule:   strict.Rule{What: "an AWS profile", Example: "platform-dev", Pattern: regexp.MustCompile(`^\S(.*\S)?$`)},
		Change: field.Changes("it is where tombolo takes credentials from; nothing in the cluster changes"), Remedy: "remove it: credentials are those of the environment, or of az login",
	},
	"AssumeRole": {
		Change: field.Changes("as it says, the role is assumed, or no longer, for what is done in the account; the creator's access entry stays"),
		Remedy: "remove it: sign in as who has the rights in the subscription",
	},
	"Roles": {Remedy: "remove it: core makes no IAM roles on Azure"},
})

// SetDefaults fills in what the file of a cluster or an account of a name leaves out.
func (c *Cloud) SetDefaults(of string) {
	if c.Provider == field.Azure {
		c.ResourceGroup = cmp.Or(c.ResourceGroup, of)
		return
	}
	if c.AssumeRole != nil {
		c.AssumeRole.SessionName = cmp.Or(c.AssumeRole.SessionName, sessionName(of))
	}
	Fields.SetDefaults(field.AWS, c)
}

// RoleARN is the ARN of a role of the name that Tombolo makes in the account, in a partition such as aws.
func (c Cloud) RoleARN(partition, name string) string {
	return "arn:" + partition + ":iam::" + c.Account + ":role" + cmp.Or(c.Roles.Path, defaultRolePath) + name
}

// azureRegionAdvice knows a region by the name that the portal shows, too.
func azureRegionAdvice(s string) string {
	name := strings.ToLower(strings.NewReplacer(" ", "", "-", "", "_", "").Replace(s))
	if slices.Contains(azurefacts.Regions(), name) {
		return "write " + name
	}
	if near := wording.Nearest(name, azurefacts.Regions()); near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return "use a name that `az account list-locations --query [].name` prints, such as germanywestcentral"
}

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

var assumeRoleFields = field.Of[AssumeRole](map[string]field.Descriptor{
	"RoleARN": {
		Rule: strict.Rule{What: "the ARN of an IAM role", Pattern: form.RoleARN, Advice: form.PrincipalAdvice, Example: "arn:aws:iam::111122223333:role/tombolo"},
		// Who makes a request is no property of what it makes.
		Change: field.Changes(assumedWords),
	},
	"ExternalID": {Rule: strict.Rule{What: "an external id", Example: "acme-platform", Pattern: regexp.MustCompile(`^[\w+=,.@:/-]{2,}$`), MaxLength: 1224}, Change: field.Changes(assumedWords)},
	"SessionName": {
		Rule: strict.Rule{What: "the name of a session", Example: "tombolo-demo", Pattern: regexp.MustCompile(`^[\w+=,.@-]{2,}$`), MaxLength: maxSessionName}, Change: field.Changes(assumedWords),
	},
})

// What a change does that several keys share.
const (
	assumedWords = "the role is assumed so from now on; nothing in the cluster changes, and the creator's access entry stays"
)

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
		Rule: Boundary(),
		// ForceNew of internal/service/iam/role.go: path, not permissions_boundary.
		Change: field.Changes("IAM puts the boundary on the roles that are there, or takes it off; from then on their rights end there"),
	},
	"Path": {
		Rule: strict.Rule{What: "an IAM path", Example: "/tombolo/", Pattern: rolePath, MaxLength: maxRolePath, Advice: pathAdvice, Default: defaultRolePath},
		Change: []field.Case{
			{Effect: field.NeedsRebuild, Words: "a role keeps its path, and EKS the role that the control plane was made with", Remedy: field.RebuildRemedy},
		},
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

// any says whether a role is given.
func (g GivenRoles) any() bool { return g.Cluster != "" || g.Nodes != "" || len(g.Addons) > 0 }

var givenRolesFields = field.Of[GivenRoles](map[string]field.Descriptor{
	"Cluster": {Rule: form.GivenRole("eks/control-plane"), Change: field.Keeps("EKS keeps the role that the control plane was made with")},
	"Nodes": {
		Rule: form.GivenRole("eks/nodes"),
		Change: []field.Case{
			{
				When: "with EKS Auto Mode", Effect: field.NeedsRebuild, Applies: func(c field.Change) bool { return c.Live.Auto }, Words: "EKS keeps the role that Auto Mode was turned on with",
				Remedy: field.RebuildRemedy,
			},
			{Effect: field.ReplacesNodeGroup, Words: "every node group is replaced: EKS keeps the role of a group"},
		},
	},
	"Addons": {Change: field.Changes("the engine follows the values: the addon's pods start anew with the other role; core's own, where there was one, is deleted")},
})

// defaultRolePath is IAM's.
const defaultRolePath = "/"

// Boundary is the rule of a policy beyond which the rights of a role do not go.
func Boundary() strict.Rule {
	return strict.Rule{What: "the ARN of an IAM policy", Pattern: form.PolicyARN, Example: "arn:aws:iam::111122223333:policy/boundary"}
}

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

// Fields are the descriptors of the package.
var Fields = field.Join(cloudFields, assumeRoleFields, rolesFields, givenRolesFields)
