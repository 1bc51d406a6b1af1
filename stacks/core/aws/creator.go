package aws

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/eks"
	"tombolo/config"
)

// creatorKey is the output with the principal that made the cluster, and has an access
// entry of core's. An older core does not have it: there EKS has made the entry.
const creatorKey = "creator"

// creatorOf is the IAM principal that makes the cluster, or has made it; nil where EKS has
// made it an admin by itself. Whoever runs core later does not change it, which is why
// it is an output: the stack's own last ones tell. A preview of a new cluster does not
// know who will make it.
func creatorOf(ctx *pulumi.Context, c *config.Cluster, callerARN string, opts pulumi.InvokeOption) (*eks.Creator, error) {
	known, made, err := lastCreator(ctx)
	switch {
	case err != nil || made && known == "":
		return nil, err
	case known == "" && ctx.DryRun():
		return &eks.Creator{}, nil
	case known == "":
		known, err = principal(ctx, callerARN, opts)
	}
	if err != nil {
		return nil, err
	}
	ctx.Export(creatorKey, pulumi.String(known)) // now, so that a run that fails tells it too
	return &eks.Creator{ARN: known}, refusePreviewer(c, known)
}

// lastCreator reads the stack's own outputs: who has made the cluster, where that is
// known, and whether it was made.
func lastCreator(ctx *pulumi.Context) (creator string, made bool, err error) {
	name := strings.Join([]string{ctx.Organization(), ctx.Project(), ctx.Stack()}, "/")
	self, err := pulumi.NewStackReference(ctx, name, nil)
	if err != nil {
		return "", false, fmt.Errorf("read the last outputs of stack %s: %w", ctx.Stack(), err)
	}
	found := map[string]any{}
	for _, key := range []string{creatorKey, "clusterName"} {
		details, err := self.GetOutputDetails(key)
		if err != nil {
			return "", false, fmt.Errorf("read the last outputs of stack %s: %w", ctx.Stack(), err)
		}
		found[key] = details.Value
	}
	creator, _ = found[creatorKey].(string)
	return creator, found["clusterName"] != nil, nil
}

// refusePreviewer says what EKS would otherwise say after ten minutes: a principal has
// one access entry.
func refusePreviewer(c *config.Cluster, creator string) error {
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
