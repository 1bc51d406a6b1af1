package eks

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/ec2"
	"tombolo/lab/aws/iam"
	"tombolo/lab/standin"
)

func eksNodeTypes() map[string]*standin.Type {
	return map[string]*standin.Type{
		NodeGroupType: {
			Constructor:   eks.NewNodeGroup,
			Noun:          "EKS Node Group",
			LimitExceeded: standin.Refusal{Code: "ResourceLimitExceededException", Message: "NodeGroup limit exceeded for cluster."},
			API:           standin.API{Service: "EKS", Create: "CreateNodegroup", Update: "UpdateNodegroupConfig", Remove: "DeleteNodegroup"},
			// internal/service/eks/node_group.go
			ForceNew: []string{
				"amiType", "capacityType", "clusterName", "diskSize", "instanceTypes", "launchTemplate.id", "launchTemplate.name",
				"nodeGroupName", "nodeGroupNamePrefix", "nodeRoleArn", "remoteAccess", "subnetIds",
			},
			Ordered:  []string{"instanceTypes"},
			Autoname: standin.Autoname{Property: "nodeGroupName", Max: 63},
			Defaults: standin.Props{"capacityType": "ON_DEMAND"},
			References: []standin.Reference{
				toCluster(false),
				toSubnets("subnetIds"),
				{Path: []string{"launchTemplate", "id"}, To: ec2.LaunchTemplateType, Weak: true, Missing: standin.Refusal{
					Code:    "InvalidRequestException",
					Message: "The specified launch template, with template ID %s, does not exist.",
				}},
			},
			Validate: validateNodeGroup,
			Create:   createNodeGroup,
			Update:   updateNodeGroup,
			Settle:   setNodes,
			Teardown: func(ctx context.Context, c *standin.Cloud, r *standin.Record) error {
				r.Nodes = nil
				return setNodes(ctx, c, r)
			},
			// Users of the AWS provider report 2 to 3 minutes for creation, and
			// somewhat more for draining and deletion.
			Takes: standin.Timing{Create: 150 * time.Second, Update: 2 * time.Minute, Remove: 3 * time.Minute},
		},
	}
}

// validateNodeGroup checks what AWS's model of the call does not have.
func validateNodeGroup(in standin.Props) []standin.Problem {
	if name := in.Str("nodeGroupName"); len(name) > 63 {
		return []standin.Problem{{Path: "nodeGroupName", Reason: "expected length of nodeGroupName to be in the range (0 - 63), got " + name}}
	}
	return nil
}

// taintEffects in EKS's spelling and in Kubernetes'.
var taintEffects = map[string]string{"NO_SCHEDULE": "NoSchedule", "PREFER_NO_SCHEDULE": "PreferNoSchedule", "NO_EXECUTE": "NoExecute"}

func createNodeGroup(c *standin.Call) (string, error) {
	in, out := c.In(), c.Out()
	cluster, err := activeCluster(c)
	if err != nil {
		return "", err
	}
	name := in.Str("nodeGroupName")
	id := cluster.ID + ":" + name
	if c.Find(NodeGroupType, id) != nil {
		return "", c.Refuse(standin.Refusal{Code: "ResourceInUseException", Status: 409, Message: "NodeGroup already exists with name %s and cluster name %s"}, name, cluster.ID)
	}
	if err := checkNodeRole(c); err != nil {
		return "", err
	}
	// https://github.com/sassoftware/viya4-iac-aws/issues/298 and
	// https://github.com/ministryofjustice/cloud-platform-infrastructure/pull/4595
	switch low, want, high := sizes(c); {
	case low > want:
		return "", c.Refusef("InvalidParameterException", "minSize can't be greater than desiredSize")
	case want > high:
		return "", c.Refusef("InvalidParameterException", "desiredSize can't be greater than maxSize")
	}
	if err := checkNodes(c, cluster); err != nil {
		return "", err
	}
	template := in.Sub("launchTemplate")
	arch := ec2.InstanceArch(nodeInstanceTypes(c)[0])
	out["arn"] = account.ARN(c, "eks", fmt.Sprintf("nodegroup/%s/%s/%s", cluster.ID, name, account.UUID()))
	out["status"] = standin.StatusCreating
	out.SetDefault("instanceTypes", standin.Values(nodeInstanceTypes(c)...))
	out.SetDefault("amiType", map[string]string{"amd64": "AL2023_x86_64_STANDARD", "arm64": "AL2023_ARM_64_STANDARD"}[arch])
	if ownImage(c) != "" {
		out["amiType"] = customAMI
	}
	if len(template) == 0 {
		out.SetDefault("diskSize", 20)
	} else {
		out["diskSize"] = 0 // EKS reports none: the template has it
	}
	out.SetDefaults(standin.Props{
		"updateConfig": map[string]any{"maxUnavailable": 1}, "nodeRepairConfig": map[string]any{"enabled": false}, "labels": map[string]any{},
	})
	out["resources"] = []any{map[string]any{
		"autoscalingGroups": []any{map[string]any{"name": "eks-" + name + "-" + account.UUID()}}, "remoteAccessSecurityGroupId": "",
	}}
	describeNodes(c, cluster)
	return id, implyNodeEntry(c, cluster.ID, in.Str("nodeRoleArn"))
}

// instances are the service principal that EKS wants a node role to trust, another one in
// China. Source: https://github.com/pulumi/pulumi-eks/pull/796
func instances(c *standin.Call) string { return "ec2." + account.DNSSuffix(c.Region) }

// checkNodeRole refuses a role that instances cannot assume, and one with which
// they would not join the cluster.
func checkNodeRole(c *standin.Call) error {
	arn := c.In().Str("nodeRoleArn")
	role := iam.RoleOf(c.Cloud, arn)
	if role == nil {
		return c.Refusef("InvalidParameterException", "The role with name %s cannot be found. (Service: AmazonIdentityManagement; Status Code: 404; Error Code: NoSuchEntity)", arn[strings.LastIndex(arn, "/")+1:])
	}
	if !iam.Trusts(role, instances(c), "sts:AssumeRole") {
		return c.Refusef("InvalidParameterException", "Following required service principals [%s] were not found in the trust relationships of nodeRole %s", instances(c), arn)
	}
	if !iam.HasPolicy(c, role, "AmazonEKSWorkerNodePolicy", "AmazonEKSWorkerNodeMinimalPolicy") {
		return fmt.Errorf("waiting for EKS Node Group (%s:%s) create: unexpected state 'CREATE_FAILED', wanted target 'ACTIVE'. last error: NodeCreationFailure: Instances failed to join the kubernetes cluster (role %s has no AmazonEKSWorkerNodePolicy attached)",
			c.In().Str("clusterName"), c.In().Str("nodeGroupName"), role.ID)
	}
	return nil
}

// sizes are the numbers of a call's scaling configuration.
func sizes(c *standin.Call) (low, want, high int) {
	size := c.In().Sub("scalingConfig")
	return size.Integer("minSize"), size.Integer("desiredSize"), size.Integer("maxSize")
}

// checkNodes refuses what EKS refuses on creation and on update.
func checkNodes(c *standin.Call, cluster *standin.Record) error {
	in := c.In()
	if _, _, high := sizes(c); high < 1 {
		return c.Refusef("InvalidParameterException", "maxSize must be greater than or equal to 1")
	}
	vpc := cluster.Outputs.Sub("vpcConfig").Str("vpcId")
	if id := ec2.Foreign(c, ec2.SubnetType, "subnetIds", vpc); id != "" {
		return c.Refusef("InvalidParameterException", "Subnet %s is not in the VPC of the cluster, %s", id, vpc)
	}
	if err := c.Check(checkInstances, func(c *standin.Call) error { return checkImage(c, cluster) }); err != nil {
		return err
	}
	version := in.Str("version")
	i, j := index(version), index(cluster.Outputs.Str("version"))
	if version != "" && (i < 0 || i > j || j-i > 3) {
		return c.Refusef("InvalidParameterException", "Requested Nodegroup version %s is not valid for cluster version %s", version, cluster.Outputs.Str("version"))
	}
	for key := range in.Strs("labels") {
		if strings.HasPrefix(key, "eks.amazonaws.com/") || strings.HasPrefix(key, "kubernetes.io/") {
			return c.Refusef("InvalidParameterException", "Label cannot contain reserved prefixes [kubernetes.io/, k8s.io/, eks.amazonaws.com/]: %s", key)
		}
	}
	return nil
}

func checkInstances(c *standin.Call) error {
	types, template := nodeInstanceTypes(c), c.In().Sub("launchTemplate")
	var bad []string
	for _, t := range types {
		if !ec2.KnownInstance(t) {
			bad = append(bad, t)
		}
	}
	if len(bad) > 0 {
		return c.Refusef("InvalidParameterException", "The following supplied instance types do not exist: %v", bad)
	}
	for _, t := range types {
		if ec2.InstanceArch(t) != ec2.InstanceArch(types[0]) {
			return c.Refusef("InvalidParameterException", "Instance types %v must all be of one CPU architecture", types)
		}
	}
	if len(template) == 0 {
		return nil
	}
	if c.In().Has("diskSize") {
		return c.Refusef("InvalidParameterException", "Disk size must be specified within the launch template.")
	}
	lt := launchTemplate(c, template)
	if lt == nil {
		return c.Refusef("InvalidRequestException", "The specified launch template, with template name %s, does not exist.", template.Str("name"))
	}
	if v, numeric := standin.Number(template.Str("version")); numeric && (v < 1 || int(v) > lt.Outputs.Integer("latestVersion")) {
		return c.Refusef("InvalidRequestException", "You must specify a valid launch template version: %s does not exist for %s", template.Str("version"), lt.ID)
	}
	if lt.Inputs.Has("instanceType") && c.In().Has("instanceTypes") {
		return c.Refusef("InvalidParameterException", "Instance types cannot be specified both in the launch template and in the API request")
	}
	return nil
}

func launchTemplate(c *standin.Call, in standin.Props) *standin.Record {
	for r := range c.Cloud.Each(ec2.LaunchTemplateType, c.Region) {
		if isTemplate(r, in) {
			return r
		}
	}
	return nil
}

// isTemplate says whether a launch template is the one that a group names.
func isTemplate(r *standin.Record, named standin.Props) bool {
	return r.ID == named.Str("id") || named.Has("name") && r.Outputs.Str("name") == named.Str("name")
}

func nodeInstanceTypes(c *standin.Call) []string {
	if types := c.In().List("instanceTypes"); len(types) > 0 {
		return types
	}
	if lt := launchTemplate(c, c.In().Sub("launchTemplate")); lt != nil && lt.Inputs.Str("instanceType") != "" {
		return []string{lt.Inputs.Str("instanceType")}
	}
	return []string{"t3.medium"} // EKS's default
}

func updateNodeGroup(c *standin.Call) error {
	cluster := c.Find(ClusterType, c.In().Str("clusterName"))
	if cluster.Status == standin.StatusDeleting {
		return c.Refusef("InvalidRequestException", "Cluster '%s' is not in ACTIVE status", cluster.ID)
	}
	keepSize(c)
	// An update has words of its own for the first:
	// https://github.com/terraform-aws-modules/terraform-aws-eks/issues/3306
	switch low, want, high := sizes(c); {
	case low > want:
		return c.Refusef("InvalidParameterException", "Minimum capacity %d can't be greater than desired size %d", low, want)
	case want > high:
		return c.Refusef("InvalidParameterException", "desiredSize can't be greater than maxSize")
	}
	err := c.Check(
		func(c *standin.Call) error { return checkNodes(c, cluster) },
		func(c *standin.Call) error { return checkOlder(c, cluster) },
	)
	if err != nil {
		return err
	}
	for _, key := range []string{"updateConfig", "labels", "instanceTypes", "amiType", "nodeRepairConfig", "diskSize", "version"} {
		c.Out().SetDefault(key, c.Old.Outputs[key])
	}
	describeNodes(c, cluster)
	return nil
}

// keepSize leaves the size alone when the caller changes nothing of it. The provider
// sends a scaling configuration only when it has changed, whatever an autoscaler has
// made of it meanwhile (internal/service/eks/node_group.go).
func keepSize(c *standin.Call) {
	if reflect.DeepEqual(c.Known["scalingConfig"], c.In()["scalingConfig"]) {
		c.In()["scalingConfig"] = c.Old.Inputs["scalingConfig"]
		c.Out()["scalingConfig"] = c.Old.Outputs["scalingConfig"]
	}
}

// describeNodes decides which nodes the group has. The existing ones stay, unless
// the group's version or template is another: then all are new.
func describeNodes(c *standin.Call, cluster *standin.Record) {
	out := c.Out()
	out.SetDefault("version", cluster.Outputs["version"])
	out["releaseVersion"] = releaseOf(c)
	if rolls(c) {
		c.Record.Nodes = nil
		if ownImage(c) != "" { // is taken to be made for the control plane's version
			out["version"] = cluster.Outputs["version"]
		}
	}
	want := c.In().Sub("scalingConfig").Integer("desiredSize")
	for len(c.Record.Nodes) < want {
		c.Record.Nodes = append(c.Record.Nodes, newNode(c, len(c.Record.Nodes)))
	}
	c.Record.Nodes = c.Record.Nodes[:want]
	var taints []standin.Taint
	for _, t := range c.In().Objects("taints") {
		taints = append(taints, standin.Taint{Key: t.Str("key"), Value: t.Str("value"), Effect: taintEffects[t.Str("effect")]})
	}
	for i := range c.Record.Nodes {
		n := &c.Record.Nodes[i]
		n.Taints, n.Labels, n.Version, n.Pods = taints, nodeLabels(c, n), out.Str("version"), mostPods(c, n.InstanceType)
	}
}

// rolls says that an update replaces the nodes of its group: EKS does so for another
// version of Kubernetes, of the image or of the launch template. Source:
// https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html
func rolls(c *standin.Call) bool {
	if c.Old == nil {
		return false
	}
	template := func(r *standin.Record) string { return r.Inputs.Sub("launchTemplate").Str("version") }
	return c.Old.Outputs.Str("version") != c.Out().Str("version") || template(c.Old) != template(c.Record) ||
		c.Old.Outputs.Str("releaseVersion") != c.Out().Str("releaseVersion")
}

func newNode(c *standin.Call, i int) standin.Node {
	subnets := c.In().List("subnetIds")
	subnet := c.Find(ec2.SubnetType, subnets[i%len(subnets)])
	zone := subnet.Outputs.Str("availabilityZone")
	n := standin.Node{InstanceType: nodeInstanceTypes(c)[0], Zone: zone}
	for range mostTries {
		instance := "i-0" + account.RandomHex(16)
		ip := ec2.HostAddress(subnet.Outputs.Str("cidrBlock"), instance)
		n.Name, n.ProviderID = fmt.Sprintf("ip-%s.%s.compute.internal", ec2.Dashed(ip), c.Region), "aws:///"+zone+"/"+instance
		if !nodeIsThere(c, n.Name) {
			break
		}
	}
	return n
}

// mostTries is how often an address is looked for that no other machine has: more than enough
// in a subnet that is not full.
const mostTries = 1000

// nodeIsThere says whether a node has a name. Those that are replaced have theirs until the
// new ones are there.
func nodeIsThere(c *standin.Call, name string) bool {
	groups := slices.Collect(c.Others())
	groups = append(groups, c.Record)
	if c.Old != nil {
		groups = append(groups, c.Old)
	}
	return slices.ContainsFunc(groups, func(group *standin.Record) bool {
		return slices.ContainsFunc(group.Nodes, func(n standin.Node) bool { return n.Name == name })
	})
}

// nodeLabels are the labels that EKS and the kubelet put on a node, and the
// group's own.
func nodeLabels(c *standin.Call, n *standin.Node) map[string]string {
	labels := map[string]string{
		"eks.amazonaws.com/nodegroup":      c.In().Str("nodeGroupName"),
		"eks.amazonaws.com/capacityType":   c.In().Str("capacityType"),
		"kubernetes.io/arch":               ec2.InstanceArch(n.InstanceType),
		"kubernetes.io/hostname":           n.Name,
		"kubernetes.io/os":                 "linux",
		"node.kubernetes.io/instance-type": n.InstanceType,
		"topology.kubernetes.io/region":    c.Region,
		"topology.kubernetes.io/zone":      n.Zone,
		"topology.k8s.aws/zone-id":         account.ZoneID(c.Region, n.Zone),
	}
	maps.Copy(labels, c.In().Strs("labels"))
	return labels
}

func setNodes(ctx context.Context, c *standin.Cloud, r *standin.Record) error {
	cluster, group := r.Inputs.Str("clusterName"), r.Inputs.Str("nodeGroupName")
	for i := range r.Nodes {
		if r.Nodes[i].Version == "" { // of a lab from before nodes had one
			r.Nodes[i].Version = r.Outputs.Str("version")
		}
	}
	if err := c.Clusters.SetNodes(ctx, cluster, group, r.Nodes); err != nil {
		return fmt.Errorf("waiting for EKS Node Group (%s): %w", r.ID, err)
	}
	r.Outputs["status"] = standin.StatusActive
	return nil
}
