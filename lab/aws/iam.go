package aws

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
)

const (
	roleType            = "aws:iam/role:Role"
	rolePolicyType      = "aws:iam/rolePolicy:RolePolicy"
	policyType          = "aws:iam/policy:Policy"
	attachmentType      = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
	instanceProfileType = "aws:iam/instanceProfile:InstanceProfile"
)

// managedPolicies are policies of AWS's own that clusters and their addons use.
// Source: https://docs.aws.amazon.com/aws-managed-policy/latest/reference/
var managedPolicies = []string{
	"AdministratorAccess", "AmazonEBSCSIDriverPolicy", "AmazonEC2ContainerRegistryPullOnly", "AmazonEC2ContainerRegistryReadOnly",
	"AmazonEKSBlockStoragePolicy", "AmazonEKSClusterPolicy", "AmazonEKSComputePolicy", "AmazonEKSFargatePodExecutionRolePolicy",
	"AmazonEKSLoadBalancingPolicy", "AmazonEKSLocalOutpostClusterPolicy", "AmazonEKSNetworkingPolicy", "AmazonEKSServicePolicy",
	"AmazonEKSVPCResourceController", "AmazonEKSWorkerNodeMinimalPolicy", "AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy",
	"AmazonPrometheusRemoteWriteAccess", "AmazonRoute53FullAccess", "AmazonRoute53ReadOnlyAccess", "AmazonS3FullAccess",
	"AmazonS3ReadOnlyAccess", "AmazonSQSFullAccess", "AmazonSSMManagedInstanceCore", "AWSXRayDaemonWriteAccess",
	"CloudWatchAgentServerPolicy", "CloudWatchLogsFullAccess", "ElasticLoadBalancingFullAccess", "PowerUserAccess",
	"ReadOnlyAccess", "SecretsManagerReadWrite", "SecurityAudit", "ViewOnlyAccess",
	"job-function/ViewOnlyAccess", "service-role/AmazonEBSCSIDriverPolicy", "service-role/AmazonEFSCSIDriverPolicy",
	"service-role/AmazonS3ObjectLambdaExecutionRolePolicy",
}

// IAM quotas: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
const (
	roleTrustSize   = 2048
	rolePolicySize  = 10240
	policySize      = 6144
	attachmentQuota = 10
)

func missingRole() refusal {
	return refusal{code: "NoSuchEntity", message: "The role with name %s cannot be found.", status: 404}
}

func toRole(conflict string) reference {
	return reference{path: []string{"role"}, to: roleType, missing: missingRole(), conflict: conflict}
}

func iamTypes() map[string]*resourceType {
	return map[string]*resourceType{
		roleType:       iamRole(),
		rolePolicyType: iamRolePolicy(),
		policyType:     iamPolicy(),
		attachmentType: {
			constructor: iam.NewRolePolicyAttachment,
			noun:        "IAM Role Policy Attachment",
			global:      true,
			api:         api{service: "IAM", create: "AttachRolePolicy", remove: "DetachRolePolicy"},
			// internal/service/iam/role_policy_attachment.go
			forceNew:   []string{"policyArn", "role"},
			references: []reference{toRole("Cannot delete entity, must detach all policies first.")},
			create:     createAttachment,
			identifies: func(r *record, id string) bool { return id == r.Inputs.str("role")+"/"+r.Inputs.str("policyArn") },
			takes:      timing{create: time.Second, remove: time.Second},
		},
		instanceProfileType: {
			constructor: iam.NewInstanceProfile,
			noun:        "IAM Instance Profile",
			global:      true,
			api:         api{service: "IAM", create: "CreateInstanceProfile", update: "AddRoleToInstanceProfile", remove: "DeleteInstanceProfile"},
			// internal/service/iam/instance_profile.go
			forceNew:   []string{"name", "namePrefix", "path"},
			autoname:   autoname{property: "name", max: 128},
			defaults:   props{"path": "/"},
			references: []reference{toRole("Cannot delete entity, must remove roles from instance profile first.")},
			validate:   func(in props) []problem { return iamName(in, 128) },
			create: func(c *call) (string, error) {
				name := c.in().str("name")
				if err := nameTaken(c, "Instance Profile %s already exists."); err != nil {
					return "", err
				}
				c.identity("instance-profile", "AIPA")
				return name, nil
			},
			takes: timing{create: 10 * time.Second, remove: time.Second},
		},
	}
}

func iamRole() *resourceType {
	return &resourceType{
		constructor: iam.NewRole,
		noun:        "IAM Role",
		global:      true,
		api:         api{service: "IAM", create: "CreateRole", update: "UpdateAssumeRolePolicy", remove: "DeleteRole"},
		// internal/service/iam/role.go
		forceNew:  []string{"name", "namePrefix", "path"},
		documents: []string{"assumeRolePolicy"},
		autoname:  autoname{property: "name", max: 64},
		defaults:  props{"path": "/", "maxSessionDuration": 3600.0, "forceDetachPolicies": false},
		inUse:     refusal{code: "DeleteConflict", status: 409, message: "Cannot delete entity, must detach all policies first."},
		validate: func(in props) []problem {
			problems := append(iamName(in, 64), jsonPolicy(in, "assumeRolePolicy")...)
			if d := in.integer("maxSessionDuration"); in.has("maxSessionDuration") && !hasUnknown(in["maxSessionDuration"]) && (d < 3600 || d > 43200) {
				problems = append(problems, problem{"maxSessionDuration", fmt.Sprintf("expected maxSessionDuration to be in the range (3600 - 43200), got %d", d)})
			}
			if len(in.str("description")) > 1000 {
				problems = append(problems, problem{"description", "expected length of description to be in the range (0 - 1000)"})
			}
			return problems
		},
		create: func(c *call) (string, error) {
			if err := nameTaken(c, "Role with name %s already exists."); err != nil {
				return "", err
			}
			if err := checkTrust(c); err != nil {
				return "", err
			}
			c.identity("role", "AROA")
			c.out().setDefault("inlinePolicies", []any{})
			c.out().setDefault("managedPolicyArns", []any{})
			return c.in().str("name"), nil
		},
		update: checkTrust,
		remove: orphanTrust,
		// IAM is eventually consistent; the provider waits for it.
		takes: timing{create: time.Second, remove: time.Second},
	}
}

func checkTrust(c *call) error {
	document := c.in().str("assumeRolePolicy")
	if len(document) > roleTrustSize {
		return c.refuse(refusal{code: "LimitExceeded", status: 409, message: fmt.Sprintf("Cannot exceed quota for ACLSizePerRole: %d", roleTrustSize)})
	}
	return c.checkPolicy(document, trustPolicy)
}

func iamRolePolicy() *resourceType {
	return &resourceType{
		constructor: iam.NewRolePolicy,
		noun:        "IAM Role Policy",
		global:      true,
		api:         api{service: "IAM", create: "PutRolePolicy", update: "PutRolePolicy", remove: "DeleteRolePolicy"},
		// internal/service/iam/role_policy.go
		forceNew:   []string{"name", "namePrefix", "role"},
		documents:  []string{"policy"},
		autoname:   autoname{property: "name", max: 128},
		references: []reference{toRole("Cannot delete entity, must delete policies first.")},
		validate:   func(in props) []problem { return append(iamName(in, 128), jsonPolicy(in, "policy")...) },
		create: func(c *call) (string, error) {
			return c.in().str("role") + ":" + c.in().str("name"), checkInline(c)
		},
		update: checkInline,
		takes:  timing{create: time.Second, remove: time.Second},
	}
}

func checkInline(c *call) error {
	document := c.in().str("policy")
	if len(document) > rolePolicySize {
		return c.refuse(refusal{code: "LimitExceeded", status: 409, message: fmt.Sprintf(
			"Maximum policy size of %d bytes exceeded for role %s", rolePolicySize, c.in().str("role"))})
	}
	return c.checkPolicy(document, identityPolicy)
}

func iamPolicy() *resourceType {
	check := func(c *call) error {
		document := c.in().str("policy")
		if len(document) > policySize {
			return c.refuse(refusal{code: "LimitExceeded", status: 409, message: fmt.Sprintf("Cannot exceed quota for PolicySize: %d", policySize)})
		}
		return c.checkPolicy(document, identityPolicy)
	}
	return &resourceType{
		constructor: iam.NewPolicy,
		noun:        "IAM Policy",
		global:      true,
		api:         api{service: "IAM", create: "CreatePolicy", update: "CreatePolicyVersion", remove: "DeletePolicy"},
		// internal/service/iam/policy.go
		forceNew:  []string{"description", "name", "namePrefix", "path"},
		documents: []string{"policy"},
		autoname:  autoname{property: "name", max: 128},
		defaults:  props{"path": "/"},
		validate:  func(in props) []problem { return append(iamName(in, 128), jsonPolicy(in, "policy")...) },
		create: func(c *call) (string, error) {
			if err := nameTaken(c, "A policy called %s already exists. Duplicate names are not allowed."); err != nil {
				return "", err
			}
			c.identity("policy", "")
			c.out()["policyId"], c.out()["attachmentCount"] = uniqueID("ANPA"), 0
			delete(c.out(), "createDate")
			delete(c.out(), "uniqueId")
			return c.out().str("arn"), check(c)
		},
		update: check,
		remove: func(c *call) error {
			for r := range c.cloud.each(attachmentType, global) {
				if r.Inputs.str("policyArn") == c.r.ID {
					return c.refuse(refusal{code: "DeleteConflict", status: 409, message: "Cannot delete a policy attached to entities."})
				}
			}
			return nil
		},
		takes: timing{create: time.Second, remove: time.Second},
	}
}

func createAttachment(c *call) (string, error) {
	role, arn := c.in().str("role"), c.in().str("policyArn")
	if !c.policyExists(arn) {
		return "", c.refuse(refusal{code: "NoSuchEntity", status: 404, message: "Policy %s does not exist or is not attachable."}, arn)
	}
	attached := 0
	for r := range c.others() {
		if r.Inputs.str("role") == role && r.Inputs.str("policyArn") != arn {
			attached++
		}
	}
	if attached >= attachmentQuota {
		return "", c.refuse(refusal{code: "LimitExceeded", status: 409, message: fmt.Sprintf("Cannot exceed quota for PoliciesPerRole: %d", attachmentQuota)})
	}
	return role + "/" + arn, nil
}

func (c *call) policyExists(arn string) bool {
	if name, ok := strings.CutPrefix(arn, "arn:"+partition(c.region)+":iam::aws:policy/"); ok {
		return slices.Contains(managedPolicies, name)
	}
	return c.find(policyType, arn) != nil
}

// hasPolicy reports whether one of AWS's own policies is attached to a role.
func (c *call) hasPolicy(role *record, names ...string) bool {
	for r := range c.cloud.each(attachmentType, global) {
		name := r.Inputs.str("policyArn")
		if r.Inputs.str("role") == role.ID && slices.Contains(names, name[strings.LastIndex(name, "/")+1:]) {
			return true
		}
	}
	return false
}

// identity fills in what IAM computes for a named thing with a path.
func (c *call) identity(kind, prefix string) {
	out := c.out()
	out["arn"] = c.arn("iam", kind+out.str("path")+out.str("name"))
	out["createDate"] = c.r.Created.UTC().Format(time.RFC3339)
	out["uniqueId"] = uniqueID(prefix)
}

// nameTaken refuses a name that another resource of the type has, in any case
// of letters.
func nameTaken(c *call, message string) error {
	name := c.in().str("name")
	for r := range c.others() {
		if strings.EqualFold(r.Outputs.str("name"), name) {
			return c.refuse(refusal{code: "EntityAlreadyExists", status: 409, message: message}, name)
		}
	}
	return nil
}

var iamNames = regexp.MustCompile(`^[\w+=,.@-]*$`)

func iamName(in props, limit int) []problem {
	name := in.str("name")
	switch {
	case !in.has("name") || hasUnknown(in["name"]):
		return nil
	case len(name) < 1 || len(name) > limit:
		return []problem{{"name", fmt.Sprintf("expected length of name to be in the range (1 - %d), got %s", limit, name)}}
	case !iamNames.MatchString(name):
		return []problem{{"name", `invalid value for name (must match [\w+=,.@-])`}}
	}
	return nil
}
