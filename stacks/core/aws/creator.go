package aws

import (
	"fmt"
	"slices"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/eks"
	"tombolo/config"
)

// creatorOf is the IAM principal that makes the cluster, or has made it; nil where EKS has
// made it an admin by itself, as it did for clusters of an older core. Whoever runs
// core later does not change it: the access entry in the state tells. A preview of a new
// cluster does not know who will make it.
func creatorOf(ctx *pulumi.Context, c *config.Cluster, callerARN string, have made, opts pulumi.InvokeOption) (*eks.Creator, error) {
	known := have.creator(c.Name)
	switch {
	case known == "" && have.adminByEKS():
		return nil, nil
	case known == "" && ctx.DryRun():
		return &eks.Creator{}, nil
	case known == "":
		var err error
		if known, err = principal(ctx, callerARN, opts); err != nil {
			return nil, err
		}
	}
	return &eks.Creator{ARN: known}, refuseCreator(c, known)
}

// refuseCreator says what EKS would otherwise say after ten minutes: a principal has
// one access entry.
func refuseCreator(c *config.Cluster, creator string) error {
	if i := slices.IndexFunc(c.Kubernetes.Access, func(a config.Access) bool { return a.PrincipalARN == creator }); i >= 0 {
		return fmt.Errorf("entry %s of kubernetes.access in the cluster file is for %s, which makes the cluster and is an admin of it; "+
			"run up as another identity, or take the entry out of the file", c.Kubernetes.Access[i].Name, creator)
	}
	if i := slices.IndexFunc(c.Kubernetes.Previewers, func(p config.Principal) bool { return p.PrincipalARN == creator }); i >= 0 {
		return fmt.Errorf("previewer %s of the cluster file is %s, which makes the cluster and is an admin of it; "+
			"run up as another identity, or take the previewer out of the file", c.Kubernetes.Previewers[i].Name, creator)
	}
	return nil
}

// principal is the IAM principal behind a caller's ARN: of an assumed role's session the
// role. The session does not tell the role's path, which is part of the role's ARN, as
// of those that IAM Identity Center makes. So IAM is asked.
func principal(ctx *pulumi.Context, caller string, opts pulumi.InvokeOption) (string, error) {
	found, err := iam.GetSessionContext(ctx, &iam.GetSessionContextArgs{Arn: caller}, opts)
	if err != nil {
		return "", fmt.Errorf("find out which IAM role %s is a session of, to make it an admin of the cluster: %w; "+
			"allow it iam:GetRole on the role", caller, err)
	}
	return found.IssuerArn, nil
}
