package aws

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"
)

const nodeGroupType = "aws:eks/nodeGroup:NodeGroup"

func missingCluster() refusal {
	return refusal{code: "ResourceNotFoundException", status: 404, message: "No cluster found for name: %s."}
}

func toCluster(cascade bool) reference {
	return reference{path: []string{"clusterName"}, to: clusterType, missing: missingCluster(), cascade: cascade}
}

func eksNodeTypes() map[string]*resourceType {
	return map[string]*resourceType{
		nodeGroupType: {
			constructor: eks.NewNodeGroup,
			noun:        "EKS Node Group",
			api:         api{service: "EKS", create: "CreateNodegroup", update: "UpdateNodegroupConfig", remove: "DeleteNodegroup"},
			// internal/service/eks/node_group.go
			forceNew: []string{
				"amiType", "capacityType", "clusterName", "diskSize", "instanceTypes", "launchTemplate.id", "launchTemplate.name",
				"nodeGroupName", "nodeGroupNamePrefix", "nodeRoleArn", "remoteAccess", "subnetIds",
			},
			ordered:  []string{"instanceTypes"},
			autoname: autoname{property: "nodeGroupName", max: 63},
			defaults: props{"capacityType": "ON_DEMAND"},
			references: []reference{
				toCluster(false),
				{path: []string{"subnetIds"}, to: subnetType, missing: refusal{
					code:    "InvalidParameterException",
					message: "The subnet ID '%s' does not exist (Service: AmazonEC2; Status Code: 400; Error Code: InvalidSubnetID.NotFound)",
				}},
				{path: []string{"launchTemplate", "id"}, to: launchTemplateType, weak: true, missing: refusal{
					code:    "InvalidRequestException",
					message: "The specified launch template, with template ID %s, does not exist.",
				}},
			},
			validate: validateNodeGroup,
			create:   createNodeGroup,
			update:   updateNodeGroup,
			settle:   setNodes,
			teardown: func(ctx context.Context, c *Cloud, r *record) error {
				r.Nodes = nil
				return setNodes(ctx, c, r)
			},
			// Users of the AWS provider report 2 to 3 minutes for creation, and
			// somewhat more for draining and deletion.
			takes: timing{create: 150 * time.Second, update: 2 * time.Minute, remove: 3 * time.Minute},
		},
	}
}

func validateNodeGroup(in props) []problem {
	var problems []problem
	if name := in.str("nodeGroupName"); len(name) > 63 {
		problems = append(problems, problem{"nodeGroupName", "expected length of nodeGroupName to be in the range (0 - 63), got " + name})
	}
	for key, allowed := range map[string][]string{"capacityType": {"ON_DEMAND", "SPOT", "CAPACITY_BLOCK"}} {
		if v := in.str(key); v != "" && !slices.Contains(allowed, v) {
			problems = append(problems, problem{key, fmt.Sprintf("expected %s to be one of %v, got %s", key, allowed, v)})
		}
	}
	for i, t := range in.objects("taints") {
		if e := t.str("effect"); e != "" && taintEffects[e] == "" {
			problems = append(problems, problem{fmt.Sprintf("taints[%d].effect", i), fmt.Sprintf("expected effect to be one of %v, got %s", sortedKeys(taintEffects), e)})
		}
	}
	return problems
}

// taintEffects in EKS's spelling and in Kubernetes'.
var taintEffects = map[string]string{"NO_SCHEDULE": "NoSchedule", "PREFER_NO_SCHEDULE": "PreferNoSchedule", "NO_EXECUTE": "NoExecute"}

// activeCluster finds the cluster that a resource is in; EKS adds nothing to a
// cluster that is being made or deleted.
func activeCluster(c *call) (*record, error) {
	cluster := c.find(clusterType, c.in().str("clusterName"))
	if cluster.Status == statusCreating || cluster.Status == statusDeleting {
		return nil, c.refusef("InvalidRequestException", "Cluster '%s' is not in ACTIVE status", cluster.ID)
	}
	return cluster, nil
}

func createNodeGroup(c *call) (string, error) {
	in, out := c.in(), c.out()
	cluster, err := activeCluster(c)
	if err != nil {
		return "", err
	}
	name := in.str("nodeGroupName")
	id := cluster.ID + ":" + name
	if c.find(nodeGroupType, id) != nil {
		return "", c.refuse(refusal{code: "ResourceInUseException", status: 409, message: "NodeGroup already exists with name %s and cluster name %s"}, name, cluster.ID)
	}
	if err := checkNodeRole(c); err != nil {
		return "", err
	}
	if err := checkNodes(c, cluster); err != nil {
		return "", err
	}
	template := in.sub("launchTemplate")
	arch := instanceArch(nodeInstanceTypes(c)[0])
	out["arn"] = c.arn("eks", fmt.Sprintf("nodegroup/%s/%s/%s", cluster.ID, name, uuid()))
	out["status"] = statusCreating
	out.setDefault("instanceTypes", anys(nodeInstanceTypes(c)...))
	out.setDefault("amiType", map[string]string{"amd64": "AL2023_x86_64_STANDARD", "arm64": "AL2023_ARM_64_STANDARD"}[arch])
	if len(template) == 0 {
		out.setDefault("diskSize", 20)
	} else {
		out["diskSize"] = 0 // EKS reports none: the template has it
	}
	out.setDefault("updateConfig", map[string]any{"maxUnavailable": 1})
	out.setDefault("nodeRepairConfig", map[string]any{"enabled": false})
	out.setDefault("labels", map[string]any{})
	out["resources"] = []any{map[string]any{
		"autoscalingGroups": []any{map[string]any{"name": "eks-" + name + "-" + uuid()}}, "remoteAccessSecurityGroupId": "",
	}}
	describeNodes(c, cluster)
	return id, implyNodeEntry(c, cluster.ID, in.str("nodeRoleArn"))
}

// checkNodeRole refuses a role that instances cannot assume, and one with which
// they would not join the cluster.
func checkNodeRole(c *call) error {
	arn := c.in().str("nodeRoleArn")
	role := c.find(roleType, arn)
	if role == nil || role.Outputs.str("arn") != arn {
		return c.refusef("InvalidParameterException", "The role with name %s cannot be found. (Service: AmazonIdentityManagement; Status Code: 404; Error Code: NoSuchEntity)", arn[strings.LastIndex(arn, "/")+1:])
	}
	if !trusts(role, "ec2", "sts:AssumeRole") {
		return c.refusef("InvalidParameterException", "Following required service principals [ec2.amazonaws.com] were not found in the trust relationships of nodeRole %s", arn)
	}
	if !c.hasPolicy(role, "AmazonEKSWorkerNodePolicy", "AmazonEKSWorkerNodeMinimalPolicy") {
		return fmt.Errorf("waiting for EKS Node Group (%s:%s) create: unexpected state 'CREATE_FAILED', wanted target 'ACTIVE'. last error: NodeCreationFailure: Instances failed to join the kubernetes cluster (role %s has no AmazonEKSWorkerNodePolicy attached)",
			c.in().str("clusterName"), c.in().str("nodeGroupName"), role.ID)
	}
	return nil
}

// checkNodes refuses what EKS refuses on creation and on update.
func checkNodes(c *call, cluster *record) error {
	in := c.in()
	size := in.sub("scalingConfig")
	low, want, high := size.integer("minSize"), size.integer("desiredSize"), size.integer("maxSize")
	switch {
	case high < 1:
		return c.refusef("InvalidParameterException", "maxSize must be greater than or equal to 1")
	case low > want:
		return c.refusef("InvalidParameterException", "Minimum capacity %d can't be greater than desired size %d", low, want)
	case want > high:
		return c.refusef("InvalidParameterException", "desired capacity %d can't be greater than max size %d", want, high)
	}
	for _, id := range in.list("subnetIds") {
		if vpc := cluster.Outputs.sub("vpcConfig").str("vpcId"); c.find(subnetType, id).Inputs.str("vpcId") != vpc {
			return c.refusef("InvalidParameterException", "Subnet %s is not in the VPC of the cluster, %s", id, vpc)
		}
	}
	if err := checkInstances(c); err != nil {
		return err
	}
	version := in.str("version")
	i, j := slices.Index(kubernetesVersions, version), slices.Index(kubernetesVersions, cluster.Outputs.str("version"))
	if version != "" && (i < 0 || i > j || j-i > 3) {
		return c.refusef("InvalidParameterException", "Requested Nodegroup version %s is not valid for cluster version %s", version, cluster.Outputs.str("version"))
	}
	for key := range in.strs("labels") {
		if strings.HasPrefix(key, "eks.amazonaws.com/") || strings.HasPrefix(key, "kubernetes.io/") {
			return c.refusef("InvalidParameterException", "Label cannot contain reserved prefixes [kubernetes.io/, k8s.io/, eks.amazonaws.com/]: %s", key)
		}
	}
	return nil
}

func checkInstances(c *call) error {
	types, template := nodeInstanceTypes(c), c.in().sub("launchTemplate")
	var bad []string
	for _, t := range types {
		if !knownInstance(t) {
			bad = append(bad, t)
		}
	}
	if len(bad) > 0 {
		return c.refusef("InvalidParameterException", "The following supplied instance types do not exist: %v", bad)
	}
	for _, t := range types {
		if instanceArch(t) != instanceArch(types[0]) {
			return c.refusef("InvalidParameterException", "Instance types %v must all be of one CPU architecture", types)
		}
	}
	if len(template) == 0 {
		return nil
	}
	if c.in().has("diskSize") {
		return c.refusef("InvalidParameterException", "Disk size must be specified within the launch template.")
	}
	lt := c.launchTemplate(template)
	if lt == nil {
		return c.refusef("InvalidRequestException", "The specified launch template, with template name %s, does not exist.", template.str("name"))
	}
	if v, numeric := number(template.str("version")); numeric && (v < 1 || int(v) > lt.Outputs.integer("latestVersion")) {
		return c.refusef("InvalidRequestException", "You must specify a valid launch template version: %s does not exist for %s", template.str("version"), lt.ID)
	}
	if lt.Inputs.has("instanceType") && c.in().has("instanceTypes") {
		return c.refusef("InvalidParameterException", "Instance types cannot be specified both in the launch template and in the API request")
	}
	return nil
}

func (c *call) launchTemplate(in props) *record {
	for r := range c.cloud.each(launchTemplateType, c.region) {
		if r.ID == in.str("id") || in.has("name") && r.Outputs.str("name") == in.str("name") {
			return r
		}
	}
	return nil
}

func nodeInstanceTypes(c *call) []string {
	if types := c.in().list("instanceTypes"); len(types) > 0 {
		return types
	}
	if lt := c.launchTemplate(c.in().sub("launchTemplate")); lt != nil && lt.Inputs.str("instanceType") != "" {
		return []string{lt.Inputs.str("instanceType")}
	}
	return []string{"t3.medium"} // EKS's default
}

func updateNodeGroup(c *call) error {
	cluster := c.find(clusterType, c.in().str("clusterName"))
	if cluster.Status == statusDeleting {
		return c.refusef("InvalidRequestException", "Cluster '%s' is not in ACTIVE status", cluster.ID)
	}
	if err := checkNodes(c, cluster); err != nil {
		return err
	}
	before, after := slices.Index(kubernetesVersions, c.old.Outputs.str("version")), slices.Index(kubernetesVersions, c.in().str("version"))
	if c.in().has("version") && after < before {
		return c.refusef("InvalidParameterException", "Requested Nodegroup version %s is older than the current version %s", c.in().str("version"), c.old.Outputs.str("version"))
	}
	for _, key := range []string{"updateConfig", "labels", "instanceTypes", "amiType", "nodeRepairConfig", "diskSize", "version"} {
		c.out().setDefault(key, c.old.Outputs[key])
	}
	describeNodes(c, cluster)
	return nil
}

// describeNodes decides which nodes the group has; the existing ones stay.
func describeNodes(c *call, cluster *record) {
	out := c.out()
	out.setDefault("version", cluster.Outputs["version"])
	out["releaseVersion"] = out.str("version") + ".0-20260101"
	want := c.in().sub("scalingConfig").integer("desiredSize")
	for len(c.r.Nodes) < want {
		c.r.Nodes = append(c.r.Nodes, newNode(c, len(c.r.Nodes)))
	}
	c.r.Nodes = c.r.Nodes[:want]
	var taints []Taint
	for _, t := range c.in().objects("taints") {
		taints = append(taints, Taint{Key: t.str("key"), Value: t.str("value"), Effect: taintEffects[t.str("effect")]})
	}
	for i := range c.r.Nodes {
		n := &c.r.Nodes[i]
		n.Taints, n.Labels = taints, nodeLabels(c, n)
	}
}

func newNode(c *call, i int) Node {
	subnets := c.in().list("subnetIds")
	subnet := c.find(subnetType, subnets[i%len(subnets)])
	instance := "i-0" + randomHex(16)
	ip := hostAddress(subnet.Outputs.str("cidrBlock"), instance)
	zone := subnet.Outputs.str("availabilityZone")
	return Node{
		Name:         fmt.Sprintf("ip-%s.%s.compute.internal", dashed(ip), c.region),
		InstanceType: nodeInstanceTypes(c)[0],
		Zone:         zone,
		ProviderID:   "aws:///" + zone + "/" + instance,
	}
}

// nodeLabels are the labels that EKS and the kubelet put on a node, and the
// group's own.
func nodeLabels(c *call, n *Node) map[string]string {
	labels := map[string]string{
		"eks.amazonaws.com/nodegroup":      c.in().str("nodeGroupName"),
		"eks.amazonaws.com/capacityType":   c.in().str("capacityType"),
		"kubernetes.io/arch":               instanceArch(n.InstanceType),
		"kubernetes.io/hostname":           n.Name,
		"kubernetes.io/os":                 "linux",
		"node.kubernetes.io/instance-type": n.InstanceType,
		"topology.kubernetes.io/region":    c.region,
		"topology.kubernetes.io/zone":      n.Zone,
		"topology.k8s.aws/zone-id":         zoneID(c.region, n.Zone),
	}
	maps.Copy(labels, c.in().strs("labels"))
	return labels
}

func setNodes(ctx context.Context, c *Cloud, r *record) error {
	cluster, group := r.Inputs.str("clusterName"), r.Inputs.str("nodeGroupName")
	if err := c.options.Clusters.SetNodes(ctx, cluster, group, r.Nodes); err != nil {
		return fmt.Errorf("waiting for EKS Node Group (%s): %w", r.ID, err)
	}
	return nil
}
