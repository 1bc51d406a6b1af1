package eks

import (
	"fmt"
	"slices"

	"tombolo/lab/aws/ec2"
	"tombolo/lab/aws/iam"
	"tombolo/lab/standin"
)

// The tags of instances of EKS Auto Mode. Source: the conditions of AmazonEKSComputePolicy,
// https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEKSComputePolicy.html
const (
	ClusterNameTag = "eks:eks-cluster-name"
	NodePoolTag    = "eks:kubernetes-node-pool-name"
	NodeClassTag   = "eks:kubernetes-node-class-name"
)

// autoPolicies are AWS's policies that the role of a cluster with Auto Mode has:
// https://docs.aws.amazon.com/eks/latest/userguide/auto-cluster-iam-role.html
var autoPolicies = []string{"AmazonEKSComputePolicy", "AmazonEKSBlockStoragePolicy", "AmazonEKSLoadBalancingPolicy", "AmazonEKSNetworkingPolicy"}

// AutoMode says that a cluster, by its properties, has EKS Auto Mode.
func AutoMode(properties standin.Props) bool {
	return properties.Sub("computeConfig").Boolean("enabled")
}

// checkAutoMode refuses what EKS refuses of Auto Mode: a part of it
// (https://github.com/kubernetes-sigs/cluster-api-provider-aws/issues/5278), a new cluster
// with EKS's own addons (https://github.com/hashicorp/terraform-provider-aws/pull/40483), and
// node pools without a role. EKS makes a cluster whose role may not make nodes; no nodes come
// then, and the stand-in says so at once.
func checkAutoMode(c *standin.Call) error {
	in := c.In()
	auto := AutoMode(in)
	for _, other := range []standin.Props{in.Sub("kubernetesNetworkConfig").Sub("elasticLoadBalancing"), in.Sub("storageConfig").Sub("blockStorage")} {
		if other.Boolean("enabled") != auto {
			return c.Refusef("InvalidParameterException", "For EKS Auto Mode, please ensure that all required configs, including computeConfig, kubernetesNetworkConfig, and blockStorage are all either fully enabled or fully disabled.")
		}
	}
	if !auto {
		return nil
	}
	if c.Old == nil && in.Boolean("bootstrapSelfManagedAddons") {
		return c.Refusef("InvalidParameterException", "When EKS Auto Mode is enabled, bootstrapSelfManagedAddons must be set to false.")
	}
	return c.Check(checkAutoRole, checkAutoPools)
}

// checkAutoRole holds the cluster's role to what Auto Mode needs.
func checkAutoRole(c *standin.Call) error {
	role := iam.RoleOf(c.Cloud, c.In().Str("roleArn"))
	if role == nil || !iam.Trusts(role, "eks.amazonaws.com", "sts:AssumeRole", "sts:TagSession") {
		return fmt.Errorf("waiting for EKS Cluster (%s): EKS Auto Mode makes no nodes: the trust policy of the cluster's role does not allow sts:TagSession", c.In().Str("name"))
	}
	for _, policy := range autoPolicies {
		if !iam.HasPolicy(c, role, policy) {
			return fmt.Errorf("waiting for EKS Cluster (%s): EKS Auto Mode makes no nodes: role %s has no %s attached", c.In().Str("name"), role.ID, policy)
		}
	}
	return nil
}

// checkAutoPools holds the built-in node pools to those there are, and to their role. Source:
// https://docs.aws.amazon.com/eks/latest/APIReference/API_ComputeConfigRequest.html
func checkAutoPools(c *standin.Call) error {
	compute := c.In().Sub("computeConfig")
	pools, arn := compute.List("nodePools"), compute.Str("nodeRoleArn")
	for _, pool := range pools {
		if !slices.Contains([]string{"general-purpose", "system"}, pool) {
			return c.Refusef("InvalidParameterException", "Node pool %s is not one of general-purpose, system", pool)
		}
	}
	if len(pools) == 0 && arn == "" {
		return nil
	}
	role := iam.RoleOf(c.Cloud, arn)
	if role == nil || !iam.Trusts(role, instances(c), "sts:AssumeRole") {
		return c.Refusef("InvalidParameterException", "The node role %s does not exist, or %s cannot assume it", arn, instances(c))
	}
	if !iam.HasPolicy(c, role, "AmazonEKSWorkerNodePolicy", "AmazonEKSWorkerNodeMinimalPolicy") {
		return fmt.Errorf("waiting for EKS Cluster (%s): nodes of EKS Auto Mode do not join: role %s has no AmazonEKSWorkerNodeMinimalPolicy attached", c.In().Str("name"), role.ID)
	}
	return nil
}

// implyAutoNodes lets the nodes of the built-in node pools in, as EKS does:
// https://docs.aws.amazon.com/eks/latest/userguide/auto-create-node-role.html
func implyAutoNodes(c *standin.Call) error {
	role := c.In().Sub("computeConfig").Str("nodeRoleArn")
	if !AutoMode(c.In()) || role == "" {
		return nil
	}
	name, out := c.In().Str("name"), standin.Props{"type": "EC2"}
	describeEntry(c, out, name, role)
	return c.Imply(AccessEntryType, name+":"+role, standin.Props{"clusterName": name, "principalArn": role, "type": "EC2"}, out)
}

// endAutoNodes terminates the instances of Auto Mode: they go with the cluster.
func endAutoNodes(c *standin.Call) error {
	var nodes []*standin.Record
	for r := range c.Cloud.Each(ec2.InstanceType, c.Region) {
		tags := r.Outputs.Sub("tags")
		if tags.Str(ClusterNameTag) == c.Record.Outputs.Str("name") && tags.Str(NodePoolTag) != "" {
			nodes = append(nodes, r)
		}
	}
	for _, r := range nodes {
		if err := c.RemoveOther(r); err != nil {
			return err
		}
	}
	return nil
}
