// Package iam is Identity and Access Management in the stand-in.
package iam

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/policy"
	"tombolo/lab/standin"
)

// The types of IAM.
const (
	RoleType            = "aws:iam/role:Role"
	RolePolicyType      = "aws:iam/rolePolicy:RolePolicy"
	PolicyType          = "aws:iam/policy:Policy"
	AttachmentType      = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
	InstanceProfileType = "aws:iam/instanceProfile:InstanceProfile"
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

func missingRole() standin.Refusal {
	return standin.Refusal{Code: "NoSuchEntity", Message: "The role with name %s cannot be found.", Status: 404}
}

func toRole(conflict string) standin.Reference {
	return standin.Reference{Path: []string{"role"}, To: RoleType, Missing: missingRole(), Conflict: conflict}
}

// Types are roles, policies and identity providers.
func Types() map[string]*standin.Type {
	return map[string]*standin.Type{
		OIDCProviderType: iamOIDCProvider(),
		RoleType:         iamRole(),
		RolePolicyType:   iamRolePolicy(),
		PolicyType:       iamPolicy(),
		AttachmentType: {
			Constructor: iam.NewRolePolicyAttachment,
			Noun:        "IAM Role Policy Attachment",
			Global:      true,
			API:         standin.API{Service: "IAM", Create: "AttachRolePolicy", Remove: "DetachRolePolicy"},
			// internal/service/iam/role_policy_attachment.go
			ForceNew:   []string{"policyArn", "role"},
			References: []standin.Reference{toRole("Cannot delete entity, must detach all policies first.")},
			Create:     createAttachment,
			Identifies: func(r *standin.Record, id string) bool {
				return id == r.Inputs.Str("role")+"/"+r.Inputs.Str("policyArn")
			},
			Takes: standin.Timing{Create: time.Second, Remove: time.Second},
		},
		InstanceProfileType: {
			Constructor: iam.NewInstanceProfile,
			Noun:        "IAM Instance Profile",
			Global:      true,
			API:         standin.API{Service: "IAM", Create: "CreateInstanceProfile", Update: "AddRoleToInstanceProfile", Remove: "DeleteInstanceProfile"},
			// internal/service/iam/instance_profile.go
			ForceNew:   []string{"name", "namePrefix", "path"},
			Autoname:   standin.Autoname{Property: "name", Max: 128},
			Defaults:   standin.Props{"path": "/"},
			References: []standin.Reference{toRole("Cannot delete entity, must remove roles from instance profile first.")},
			Create: func(c *standin.Call) (string, error) {
				name := c.In().Str("name")
				if err := nameTaken(c, "Instance Profile %s already exists."); err != nil {
					return "", err
				}
				identity(c, "instance-profile", "AIPA")
				return name, nil
			},
			Takes: standin.Timing{Create: 10 * time.Second, Remove: time.Second},
		},
	}
}

func iamRole() *standin.Type {
	return &standin.Type{
		Constructor:   iam.NewRole,
		Noun:          "IAM Role",
		LimitExceeded: standin.Refusal{Code: "LimitExceeded", Message: "Cannot exceed quota for RolesPerAccount: 1000", Status: 409},
		Global:        true,
		API:           standin.API{Service: "IAM", Create: "CreateRole", Update: "UpdateAssumeRolePolicy", Remove: "DeleteRole"},
		// internal/service/iam/role.go
		ForceNew:  []string{"name", "namePrefix", "path"},
		Documents: []string{"assumeRolePolicy"},
		Autoname:  standin.Autoname{Property: "name", Max: 64},
		Defaults:  standin.Props{"path": "/", "maxSessionDuration": 3600.0, "forceDetachPolicies": false},
		InUse:     standin.Refusal{Code: "DeleteConflict", Status: 409, Message: "Cannot delete entity, must detach all policies first."},
		Validate:  func(in standin.Props) []standin.Problem { return JSONPolicy(in, "assumeRolePolicy") },
		Put:       func(c *standin.Call) error { return c.Check(checkBoundary, checkTrust) },
		Create: func(c *standin.Call) (string, error) {
			if err := nameTaken(c, "Role with name %s already exists."); err != nil {
				return "", err
			}
			identity(c, "role", "AROA")
			c.Out().SetDefaults(standin.Props{"inlinePolicies": []any{}, "managedPolicyArns": []any{}})
			return c.In().Str("name"), nil
		},
		Remove: orphanTrust,
		// IAM is eventually consistent; the provider waits for it.
		Takes: standin.Timing{Create: time.Second, Remove: time.Second},
	}
}

func checkTrust(c *standin.Call) error {
	document := c.In().Str("assumeRolePolicy")
	if len(document) > roleTrustSize {
		return c.Refuse(standin.Refusal{Code: "LimitExceeded", Status: 409, Message: fmt.Sprintf("Cannot exceed quota for ACLSizePerRole: %d", roleTrustSize)})
	}
	return checkPolicy(c, document, policy.Trust)
}

func iamRolePolicy() *standin.Type {
	return &standin.Type{
		Constructor: iam.NewRolePolicy,
		Noun:        "IAM Role Policy",
		Global:      true,
		API:         standin.API{Service: "IAM", Create: "PutRolePolicy", Update: "PutRolePolicy", Remove: "DeleteRolePolicy"},
		// internal/service/iam/role_policy.go
		ForceNew:   []string{"name", "namePrefix", "role"},
		Documents:  []string{"policy"},
		Autoname:   standin.Autoname{Property: "name", Max: 128},
		References: []standin.Reference{toRole("Cannot delete entity, must delete policies first.")},
		Validate:   func(in standin.Props) []standin.Problem { return JSONPolicy(in, "policy") },
		Put:        checkInline,
		Create:     func(c *standin.Call) (string, error) { return c.In().Str("role") + ":" + c.In().Str("name"), nil },
		Takes:      standin.Timing{Create: time.Second, Remove: time.Second},
	}
}

func checkInline(c *standin.Call) error {
	if err := checkRoleBoundary(c, "iam:PutRolePolicy"); err != nil {
		return err
	}
	document := c.In().Str("policy")
	if len(document) > rolePolicySize {
		return c.Refuse(standin.Refusal{Code: "LimitExceeded", Status: 409, Message: fmt.Sprintf(
			"Maximum policy size of %d bytes exceeded for role %s", rolePolicySize, c.In().Str("role"))})
	}
	return checkPolicy(c, document, policy.Identity)
}

func iamPolicy() *standin.Type {
	check := func(c *standin.Call) error {
		document := c.In().Str("policy")
		if len(document) > policySize {
			return c.Refuse(standin.Refusal{Code: "LimitExceeded", Status: 409, Message: fmt.Sprintf("Cannot exceed quota for PolicySize: %d", policySize)})
		}
		return checkPolicy(c, document, policy.Identity)
	}
	return &standin.Type{
		Constructor: iam.NewPolicy,
		Noun:        "IAM Policy",
		Global:      true,
		API:         standin.API{Service: "IAM", Create: "CreatePolicy", Update: "CreatePolicyVersion", Remove: "DeletePolicy"},
		// internal/service/iam/policy.go
		ForceNew:  []string{"description", "name", "namePrefix", "path"},
		Documents: []string{"policy"},
		Autoname:  standin.Autoname{Property: "name", Max: 128},
		Defaults:  standin.Props{"path": "/"},
		Validate:  func(in standin.Props) []standin.Problem { return JSONPolicy(in, "policy") },
		Put:       check,
		Create: func(c *standin.Call) (string, error) {
			if err := nameTaken(c, "A policy called %s already exists. Duplicate names are not allowed."); err != nil {
				return "", err
			}
			identity(c, "policy", "")
			c.Out()["policyId"], c.Out()["attachmentCount"] = account.UniqueID("ANPA"), 0
			delete(c.Out(), "createDate")
			delete(c.Out(), "uniqueId")
			return c.Out().Str("arn"), nil
		},
		Remove: func(c *standin.Call) error {
			for r := range c.Cloud.Each(AttachmentType, standin.Global) {
				if r.Inputs.Str("policyArn") == c.Record.ID {
					return c.Refuse(standin.Refusal{Code: "DeleteConflict", Status: 409, Message: "Cannot delete a policy attached to entities."})
				}
			}
			return nil
		},
		Takes: standin.Timing{Create: time.Second, Remove: time.Second},
	}
}

func createAttachment(c *standin.Call) (string, error) {
	role, arn := c.In().Str("role"), c.In().Str("policyArn")
	if err := checkRoleBoundary(c, "iam:AttachRolePolicy"); err != nil {
		return "", err
	}
	if !policyExists(c, arn) {
		return "", c.Refuse(standin.Refusal{Code: "NoSuchEntity", Status: 404, Message: "Policy %s does not exist or is not attachable."}, arn)
	}
	attached := 0
	for r := range c.Others() {
		if r.Inputs.Str("role") == role && r.Inputs.Str("policyArn") != arn {
			attached++
		}
	}
	if attached >= attachmentQuota {
		return "", c.Refuse(standin.Refusal{Code: "LimitExceeded", Status: 409, Message: fmt.Sprintf("Cannot exceed quota for PoliciesPerRole: %d", attachmentQuota)})
	}
	return role + "/" + arn, nil
}

func policyExists(c *standin.Call, arn string) bool {
	if name, ok := strings.CutPrefix(arn, "arn:"+account.Partition(c.Region)+":iam::aws:policy/"); ok {
		return slices.Contains(managedPolicies, name)
	}
	return c.Find(PolicyType, arn) != nil
}

// HasPolicy reports whether one of AWS's own policies is attached to a role.
func HasPolicy(c *standin.Call, role *standin.Record, names ...string) bool {
	for r := range c.Cloud.Each(AttachmentType, standin.Global) {
		name := r.Inputs.Str("policyArn")
		if r.Inputs.Str("role") == role.ID && slices.Contains(names, name[strings.LastIndex(name, "/")+1:]) {
			return true
		}
	}
	return false
}

// identity fills in what IAM computes for a named thing with a path.
func identity(c *standin.Call, kind, prefix string) {
	out := c.Out()
	out["arn"] = account.ARN(c, "iam", kind+out.Str("path")+out.Str("name"))
	out["createDate"] = c.Record.Created.UTC().Format(time.RFC3339)
	out["uniqueId"] = account.UniqueID(prefix)
}

// nameTaken refuses a name that another resource of the type has, in any case
// of letters.
func nameTaken(c *standin.Call, message string) error {
	name := c.In().Str("name")
	for r := range c.Others() {
		if strings.EqualFold(r.Outputs.Str("name"), name) {
			return c.Refuse(standin.Refusal{Code: "EntityAlreadyExists", Status: 409, Message: message}, name)
		}
	}
	return nil
}
