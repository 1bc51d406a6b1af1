package iam

// The types of IAM.
const (
	RoleType            = "aws:iam/role:Role"
	RolePolicyType      = "aws:iam/rolePolicy:RolePolicy"
	PolicyType          = "aws:iam/policy:Policy"
	AttachmentType      = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
	InstanceProfileType = "aws:iam/instanceProfile:InstanceProfile"
)
