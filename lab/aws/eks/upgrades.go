package eks

import (
	"fmt"
	"slices"
	"time"

	"tombolo/lab/aws/account"
	"tombolo/lab/standin"
)

const (
	// rollbackWindow is how long after an upgrade EKS rolls it back. Source:
	// https://docs.aws.amazon.com/eks/latest/userguide/rollback-cluster.html
	rollbackWindow = 7 * 24 * time.Hour
	// kubeletSkew is by how many minor versions a kubelet, or a kube-proxy, may be
	// older than the API server. Source: https://kubernetes.io/releases/version-skew-policy/
	kubeletSkew = 3
	// instanceType is that of instances that somebody runs, such as Karpenter.
	instanceType = "aws:ec2/instance:Instance"
)

// index of a version among those that EKS offers; -1 for any other.
func index(version string) int { return slices.Index(KubernetesVersions, version) }

// checkUpgrade lets a cluster go to the next minor version, or back to the one that
// it was upgraded from.
func checkUpgrade(c *standin.Call, from, to string) error {
	if to == "" || to == from {
		return nil
	}
	if index(to) < 0 {
		return refuseVersion(c, "UpdateClusterVersion", "InvalidParameterException", "unsupported Kubernetes version")
	}
	switch {
	case index(to) == index(from)+1:
		return beginUpgrade(c, from, to)
	case canRollBack(c.Cloud, c.Old, to):
		return beginRollback(c, to)
	}
	return refuseVersion(c, "UpdateClusterVersion", "InvalidParameterException", "Unsupported Kubernetes minor version update from %s to %s", from, to)
}

// refuseVersion is a refusal of a call that changes a version: the provider makes
// one of its own for that.
func refuseVersion(c *standin.Call, call, code, format string, args ...any) error {
	return c.Refuse(standin.Refusal{Code: code, Message: fmt.Sprintf(format, args...), Call: call})
}

// beginUpgrade holds a cluster to what its nodes can follow, and to its insights.
// The words about insights are those in a report of EKS's users:
// https://github.com/hashicorp/terraform-provider-aws/issues/42031
func beginUpgrade(c *standin.Call, from, to string) error {
	for r := range groupsOf(c.Cloud, c.Old) {
		if index(to)-index(r.Outputs.Str("version")) > kubeletSkew {
			return refuseVersion(c, "UpdateClusterVersion", "InvalidParameterException", "Nodegroups %s must be updated to match cluster version %s before updating cluster version", r.Outputs.Str("nodeGroupName"), from)
		}
	}
	if err := checkInsights(c, UpgradeReadiness, "Upgrade", "upgrade"); err != nil {
		return err
	}
	c.Record.UpgradedFrom, c.Record.UpgradedAt = from, time.Time{}
	return nil
}

// beginRollback refuses to leave nodes behind that are newer than the control plane.
// EKS publishes no words for that; these are like those of an upgrade.
func beginRollback(c *standin.Call, to string) error {
	for r := range groupsOf(c.Cloud, c.Old) {
		if index(r.Outputs.Str("version")) > index(to) {
			return refuseVersion(c, "UpdateClusterVersion", "InvalidParameterException", "Nodegroups %s must be rolled back to version %s before rolling back cluster version", r.Outputs.Str("nodeGroupName"), to)
		}
	}
	if err := checkInsights(c, RollbackReadiness, "Rollback", "rollback"); err != nil {
		return err
	}
	c.Record.UpgradedFrom, c.Record.UpgradedAt = "", time.Time{}
	return nil
}

// checkInsights refuses what an insight of a category says would fail, unless it is
// forced.
func checkInsights(c *standin.Call, category, what, verb string) error {
	if c.In().Boolean("forceUpdateVersion") {
		return nil
	}
	for _, insight := range insightsOf(c.Cloud, c.Old) {
		if insight.Category == category && insight.InsightStatus.Status == StatusError {
			return refuseVersion(c, "UpdateClusterVersion", "InvalidStateException", "%s readiness issues detected. Call the EKS ListInsights API to view %s blocking issues detected by EKS. "+
				"Pass the force flag to override %s readiness errors and proceed with %s.", what, verb, verb, verb)
		}
	}
	return nil
}

// canRollBack says that EKS would roll a cluster back to a version, as far as that
// depends on the cluster alone: it came from that version by an upgrade, which was
// done at most seven days ago. Where it was created, or rolled back to, is as far
// back as it goes.
func canRollBack(c *standin.Cloud, cluster *standin.Record, to string) bool {
	if to == "" || cluster.UpgradedFrom != to || cluster.UpgradedAt.IsZero() {
		return false
	}
	return c.Now().Sub(cluster.UpgradedAt) <= rollbackWindow
}

// checkOlder lets a node group go back only to where its cluster could go back: EKS
// has node groups rolled back before the control plane.
func checkOlder(c *standin.Call, cluster *standin.Record) error {
	before, after := c.Old.Outputs.Str("version"), c.In().Str("version")
	if after == "" || index(after) >= index(before) || canRollBack(c.Cloud, cluster, after) {
		return nil
	}
	return refuseVersion(c, "UpdateNodegroupVersion", "InvalidParameterException", "Requested Nodegroup version %s is older than the current version %s", after, before)
}

// groupsOf yields a cluster's node groups.
func groupsOf(c *standin.Cloud, cluster *standin.Record) func(func(*standin.Record) bool) {
	return within(c, NodeGroupType, cluster)
}

// within yields a cluster's resources of a type.
func within(c *standin.Cloud, token string, cluster *standin.Record) func(func(*standin.Record) bool) {
	return func(yield func(*standin.Record) bool) {
		for r := range c.Each(token, cluster.Region) {
			if r.Inputs.Str("clusterName") == cluster.ID && !yield(r) {
				return
			}
		}
	}
}

// NodeImage is the id of the AMI that EKS recommends for nodes with a version of
// Kubernetes, Amazon Linux 2023 and x86_64, in a region. It is the answer to the
// parameter that Karpenter resolves the alias of an EC2NodeClass by:
// https://karpenter.sh/docs/concepts/nodeclasses/#specamiselectorterms
func NodeImage(region, version string) string {
	return ParameterImage(region, "/aws/service/eks/optimized-ami/"+version+"/amazon-linux-2023/x86_64/standard/recommended/image_id")
}

// ParameterImage is the id of the AMI that a public parameter names in a region.
func ParameterImage(region, parameter string) string {
	return fmt.Sprintf("ami-0%08x%08x", account.Hashed(parameter), account.Hashed(parameter, region))
}

// ImageVersion is the version of Kubernetes, major.minor, that a NodeImage of a
// region is for; empty for any other image.
func ImageVersion(region, image string) string {
	for _, version := range KubernetesVersions {
		if NodeImage(region, version) == image {
			return version
		}
	}
	return ""
}
