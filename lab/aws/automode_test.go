package aws

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/aws/ec2"
	"tombolo/lab/aws/eks"
	"tombolo/lab/aws/iam"
	"tombolo/lab/standin"
)

// autoArgs are a cluster with EKS Auto Mode, and the roles that it needs.
func (w *world) autoArgs(change props) props {
	const trust = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"eks.amazonaws.com"},"Action":["sts:AssumeRole","sts:TagSession"]}]}`
	role := w.Make(iam.RoleType, "auto-role", props{"assumeRolePolicy": trust})
	for _, policy := range []string{"AmazonEKSClusterPolicy", "AmazonEKSComputePolicy", "AmazonEKSBlockStoragePolicy", "AmazonEKSLoadBalancingPolicy", "AmazonEKSNetworkingPolicy"} {
		w.Make(iam.AttachmentType, policy, props{"role": role.ID, "policyArn": "arn:aws:iam::aws:policy/" + policy})
	}
	return standin.Merged(w.clusterArgs(props{
		"name": "auto", "roleArn": role.Out["arn"], "bootstrapSelfManagedAddons": false,
		"computeConfig":           map[string]any{"enabled": true, "nodePools": []any{"general-purpose", "system"}, "nodeRoleArn": w.nodeRole.Out["arn"]},
		"kubernetesNetworkConfig": map[string]any{"elasticLoadBalancing": map[string]any{"enabled": true}},
		"storageConfig":           map[string]any{"blockStorage": map[string]any{"enabled": true}},
	}), change)
}

func TestAutoModeRefusals(t *testing.T) {
	refused(t, newWorld, []attempt{
		{"a part of it", eks.ClusterType, func(w *world) props {
			return w.autoArgs(props{"storageConfig": map[string]any{"blockStorage": map[string]any{"enabled": false}}})
		}, "InvalidParameterException: For EKS Auto Mode, please ensure that all required configs"},
		{"addons of EKS's", eks.ClusterType, func(w *world) props {
			return w.autoArgs(props{"bootstrapSelfManagedAddons": true})
		}, "InvalidParameterException: When EKS Auto Mode is enabled, bootstrapSelfManagedAddons must be set to false."},
		{"role of a cluster without it", eks.ClusterType, func(w *world) props {
			return w.autoArgs(props{"roleArn": w.clusterRole.Out["arn"]})
		}, "has no AmazonEKSComputePolicy attached"},
		{"no such pool", eks.ClusterType, func(w *world) props {
			return w.autoArgs(props{"computeConfig": map[string]any{"enabled": true, "nodePools": []any{"gpu"}, "nodeRoleArn": w.nodeRole.Out["arn"]}})
		}, "Node pool gpu is not one of general-purpose, system"},
		{"role of the cluster for nodes", eks.ClusterType, func(w *world) props {
			return w.autoArgs(props{"computeConfig": map[string]any{"enabled": true, "nodePools": []any{"system"}, "nodeRoleArn": w.clusterRole.Out["arn"]}})
		}, "ec2.amazonaws.com cannot assume it"},
	})
}

// TestAutoMode: EKS lets the nodes in, and takes them away with the cluster.
func TestAutoMode(t *testing.T) {
	w := newWorld(t)
	cluster := w.Make(eks.ClusterType, "auto", w.autoArgs(nil))
	entries := 0
	for r := range w.Cloud.Each(eks.AccessEntryType, "eu-central-1") {
		if r.Outputs.Str("clusterName") == "auto" && r.Outputs.Str("type") == "EC2" {
			entries++
		}
	}
	assert.Check(t, is.Equal(entries, 1))
	instance := w.Make(ec2.InstanceType, "node", props{
		"ami": "ami-0123456789abcdef0", "instanceType": "m7i.large", "subnetId": w.subnetA.ID,
		"tags": map[string]any{eks.ClusterNameTag: "auto", eks.NodePoolTag: "general-purpose"},
	})
	assert.NilError(t, w.Delete(cluster))
	for r := range w.Cloud.Each(ec2.InstanceType, "eu-central-1") {
		assert.Check(t, r.ID != instance.ID, "the node outlives its cluster")
	}
}
