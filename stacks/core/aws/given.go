package aws

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/identity"
	"tombolo/config"
)

// given is a role of the cluster file that others own.
type given struct {
	// of is whose role it is, key where the file names it.
	of, key, arn string
	// trusts are what its trust policy has to name; none for a role whose trust depends on
	// the cluster.
	trusts []string
}

// Where the cluster file names given roles.
const (
	givenClusterKey = "cloud.roles.given.cluster"
	givenNodesKey   = "cloud.roles.given.nodes"
	givenAddonsKey  = "cloud.roles.given.addons"
)

// Service principals and actions of trust policies. Sources:
// https://docs.aws.amazon.com/eks/latest/userguide/cluster-iam-role.html,
// https://docs.aws.amazon.com/eks/latest/userguide/auto-cluster-iam-role.html and
// https://docs.aws.amazon.com/eks/latest/userguide/pod-id-role.html
const (
	eksService  = "eks.amazonaws.com"
	podsService = "pods.eks.amazonaws.com"
	tagSession  = "sts:TagSession"
)

// givenRoles are all of the file, in a stable order.
func givenRoles(c *config.Cluster, partition string) []given {
	var out []given
	add := func(of, key, arn string, trusts ...string) {
		if arn != "" {
			out = append(out, given{of, key, arn, trusts})
		}
	}
	roles := c.Cloud.Roles.Given
	controlPlane := []string{eksService}
	if c.Kubernetes.Auto() {
		controlPlane = append(controlPlane, tagSession)
	}
	instances := identity.EC2(partition)[0] // in China the other one begins with it
	add("the control plane", givenClusterKey, roles.Cluster, controlPlane...)
	add("the nodes", givenNodesKey, roles.Nodes, instances)
	for _, name := range slices.Sorted(maps.Keys(roles.Addons)) {
		var trusts []string
		if slices.ContainsFunc(c.Addons.Names(), func(addon string) bool { return name == config.AddonRole(addon, config.NodeIdentity) }) {
			trusts = []string{instances}
		}
		add("the addon "+name, givenAddonsKey, roles.Addons[name], trusts...)
	}
	for _, a := range c.Kubernetes.Addons {
		if a.Identity != nil {
			add("EKS's addon "+a.Name, "identity.roleArn", a.Identity.RoleARN)
		}
	}
	for _, s := range c.Services {
		switch {
		case s.Identity == nil:
		case s.Identity.Mode == config.PodIdentity:
			add("the service "+s.Name, "identity.roleArn", s.Identity.RoleARN, podsService, tagSession)
		default:
			add("the service "+s.Name, "identity.roleArn", s.Identity.RoleARN)
		}
	}
	return out
}

// checkGiven looks the roles up that others own, before anything is made: EKS would refuse
// some of them only after minutes, and pods would start without their rights.
func checkGiven(ctx *pulumi.Context, c *config.Cluster, partition string, provider pulumi.InvokeOption) error {
	for _, g := range givenRoles(c, partition) {
		if err := g.check(ctx, provider); err != nil {
			return err
		}
	}
	return nil
}

func (g given) check(ctx *pulumi.Context, provider pulumi.InvokeOption) error {
	what := fmt.Sprintf("the role %s of %s (%s)", g.arn, g.of, g.key)
	found, err := iam.LookupRole(ctx, &iam.LookupRoleArgs{Name: identity.RoleNameOf(g.arn)}, provider)
	switch {
	case err != nil:
		return fmt.Errorf("look up %s: %w; have its owner make it, or correct the ARN; allow iam:GetRole to the credentials", what, err)
	case found.Arn != g.arn:
		return fmt.Errorf("look up %s: the role of that name is %s; correct the path", what, found.Arn)
	}
	for _, name := range g.trusts {
		if !strings.Contains(found.AssumeRolePolicy, name) {
			return fmt.Errorf("check %s: its trust policy does not name %s; `tombolo roles` prints what its owner has to allow", what, name)
		}
	}
	return nil
}
