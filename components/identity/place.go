package identity

import (
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Place says where in IAM a role is, and how far its rights go at most. The zero value
// is the path / and no boundary.
type Place struct {
	// Path of the role, such as /tombolo/. "" is /. A role of another path is another role.
	Path string
	// PermissionsBoundary is the ARN of a policy beyond which the role's rights do not
	// go. "" for none.
	PermissionsBoundary string
}

// Put sets the place of a role that is made.
func (p Place) Put(role *iam.RoleArgs) {
	role.Path = p.PathInput()
	if p.PermissionsBoundary != "" {
		role.PermissionsBoundary = pulumi.String(p.PermissionsBoundary)
	}
}

// PathInput is the path as an argument of a resource, which has none for /.
func (p Place) PathInput() pulumi.StringPtrInput {
	if p.Path == "" || p.Path == "/" {
		return nil
	}
	return pulumi.String(p.Path)
}
