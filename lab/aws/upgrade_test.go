package aws

import (
	"errors"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/aws/ec2"
	"tombolo/lab/aws/eks"
	"tombolo/lab/standin"
)

// later has the account's clock go on.
func (w *world) later(d time.Duration) {
	now := w.Cloud.Now
	w.Cloud.Now = func() time.Time { return now().Add(d) }
}

func (w *world) addon(name, version string) *thing {
	w.T.Helper()
	return w.Make(eks.AddonType, name, props{"clusterName": "demo", "addonName": name, "addonVersion": version})
}

// insights are the statuses of a category's insights, by name.
func (w *world) insights(category string) map[string]string {
	w.T.Helper()
	list, err := eks.ListInsights(w.Cloud, "eu-central-1", "demo", eks.InsightFilter{Categories: []string{category}})
	assert.NilError(w.T, err)
	statuses := map[string]string{}
	for _, i := range list {
		statuses[i.Name] = i.InsightStatus.Status
	}
	return statuses
}

// TestRollback: an upgraded cluster goes back one version for seven days, once its
// node groups are back, also after a restart of the lab.
func TestRollback(t *testing.T) {
	w := newWorld(t)
	refuses(t, w.Update(w.cluster, props{"version": "1.33"}), "InvalidParameterException: Unsupported Kubernetes minor version update from 1.34 to 1.33")
	assert.NilError(t, w.Update(w.cluster, props{"version": "1.35"}))
	assert.NilError(t, w.Update(w.nodes, props{"version": "1.35"}))
	refuses(t, w.Update(w.cluster, props{"version": "1.34"}), "InvalidParameterException: Nodegroups "+w.nodes.In.Str("nodeGroupName")+" must be rolled back to version 1.34")
	refuses(t, w.Update(w.nodes, props{"version": "1.33"}), "InvalidParameterException: Requested Nodegroup version 1.33 is older than the current version 1.35")

	w.Reopen(standin.Options{})
	w.Configure(props{"region": "eu-central-1"})
	w.later(7*24*time.Hour - time.Minute)
	assert.NilError(t, w.Update(w.nodes, props{"version": "1.34"}))
	assert.NilError(t, w.Update(w.cluster, props{"version": "1.34"}))
	assert.Equal(t, w.Clusters.Running["demo"].Version, "1.34")
	refuses(t, w.Update(w.cluster, props{"version": "1.33"}), "Unsupported Kubernetes minor version update from 1.34 to 1.33")

	assert.NilError(t, w.Update(w.cluster, props{"version": "1.35"}))
	assert.NilError(t, w.Update(w.nodes, props{"version": "1.35"}))
	w.later(7*24*time.Hour + time.Minute)
	refuses(t, w.Update(w.nodes, props{"version": "1.34"}), "Requested Nodegroup version 1.34 is older than the current version 1.35")
	refuses(t, w.Update(w.cluster, props{"version": "1.34"}), "Unsupported Kubernetes minor version update from 1.35 to 1.34")
}

// TestRollbackOfTwo: only the last upgrade can be undone.
func TestRollbackOfTwo(t *testing.T) {
	w := newWorld(t)
	old := w.Make(eks.ClusterType, "old", w.clusterArgs(props{"name": "old", "version": "1.32"}))
	for _, version := range []string{"1.33", "1.34", "1.33"} {
		assert.NilError(t, w.Update(old, props{"version": version}))
	}
	refuses(t, w.Update(old, props{"version": "1.32"}), "Unsupported Kubernetes minor version update from 1.33 to 1.32")
}

// TestKarpenterNodeKeepsARollback: a node of Karpenter's that is too new does so,
// unless the rollback is forced.
func TestKarpenterNodeKeepsARollback(t *testing.T) {
	w := newWorld(t)
	assert.NilError(t, w.Update(w.cluster, props{"version": "1.35"}))
	assert.Equal(t, w.insights(eks.RollbackReadiness)["Kubelet version skew"], eks.StatusPassing)
	w.Make(ec2.InstanceType, "node", props{
		"ami": eks.NodeImage("eu-central-1", "1.35"), "instanceType": "m7i.large", "subnetId": w.subnetA.ID,
		"tags": map[string]any{"kubernetes.io/cluster/demo": "owned"},
	})
	assert.Equal(t, w.insights(eks.RollbackReadiness)["Kubelet version skew"], eks.StatusError)
	refuses(t, w.Update(w.cluster, props{"version": "1.34"}), "Rollback readiness issues detected.")
	assert.NilError(t, w.Update(w.cluster, props{"version": "1.34", "forceUpdateVersion": true}))
}

// TestKubeletInsight: nodes two minor versions behind are a warning, three an error
// that no force helps against.
func TestKubeletInsight(t *testing.T) {
	w := newWorld(t)
	w.cluster = w.Make(eks.ClusterType, "old", w.clusterArgs(props{"name": "old", "version": "1.31"}))
	old := w.Make(eks.NodeGroupType, "old", w.nodeArgs(props{"clusterName": "old"}))
	for _, step := range []struct{ version, status string }{
		{"1.31", eks.StatusPassing}, {"1.32", eks.StatusPassing}, {"1.33", eks.StatusWarning}, {"1.34", eks.StatusError},
	} {
		assert.NilError(t, w.Update(w.cluster, props{"version": step.version}))
		list, err := eks.ListInsights(w.Cloud, "eu-central-1", "old", eks.InsightFilter{Categories: []string{eks.UpgradeReadiness}})
		assert.NilError(t, err)
		assert.Equal(t, list[0].Name+" "+list[0].InsightStatus.Status, "Kubelet version skew "+step.status, step.version)
	}
	refuses(t, w.Update(w.cluster, props{"version": "1.35", "forceUpdateVersion": true}), "InvalidParameterException: Nodegroups "+old.In.Str("nodeGroupName")+" must be updated to match cluster version 1.34 before updating cluster version")
	assert.NilError(t, w.Update(old, props{"version": "1.34"}))
	assert.NilError(t, w.Update(w.cluster, props{"version": "1.35"}))
	assert.Check(t, is.Len(w.insights(eks.UpgradeReadiness), 3), "of demo, which has a version to go to")
}

// TestKubeProxyInsight: an addon that the next version does not support keeps a
// cluster where it is, unless the update is forced.
func TestKubeProxyInsight(t *testing.T) {
	w := newWorld(t)
	w.cluster = w.Make(eks.ClusterType, "old", w.clusterArgs(props{"name": "old", "version": "1.31"}))
	w.nodes = w.Make(eks.NodeGroupType, "old", w.nodeArgs(props{"clusterName": "old"}))
	proxy := w.Make(eks.AddonType, "kube-proxy", props{"clusterName": "old", "addonName": "kube-proxy"})
	for _, version := range []string{"1.32", "1.33", "1.34"} {
		assert.NilError(t, w.Update(w.cluster, props{"version": version}))
	}
	assert.NilError(t, w.Update(w.nodes, props{"version": "1.34"}))
	list, err := eks.ListInsights(w.Cloud, "eu-central-1", "old", eks.InsightFilter{
		Categories: []string{eks.UpgradeReadiness}, KubernetesVersions: []string{"1.35"}, Statuses: []string{eks.StatusError},
	})
	assert.NilError(t, err)
	assert.Assert(t, is.Len(list, 2))
	detail, err := eks.DescribeInsight(w.Cloud, "eu-central-1", "old", list[0].ID)
	assert.NilError(t, err)
	assert.Equal(t, detail.Name, "EKS add-on version compatibility")
	assert.Check(t, detail.Recommendation != "" && detail.Resources[0].ARN == proxy.Out.Str("arn"), "%+v", detail)
	assert.Equal(t, detail.CategorySpecificSummary.AddonCompatibilityDetails[0].Name, "kube-proxy")

	refuses(t, w.Update(w.cluster, props{"version": "1.35"}), "UpdateClusterVersion, https response error StatusCode: 400")
	refuses(t, w.Update(w.cluster, props{"version": "1.35"}), "InvalidStateException: Upgrade readiness issues detected. Call the EKS ListInsights API to view upgrade blocking issues detected by EKS. "+
		"Pass the force flag to override upgrade readiness errors and proceed with upgrade.")
	assert.NilError(t, w.Update(w.cluster, props{"version": "1.35", "forceUpdateVersion": true}))
}

// TestInsightsOfNothing: the calls refuse what there is not.
func TestInsightsOfNothing(t *testing.T) {
	w := newWorld(t)
	w.addon("kube-proxy", "v1.34.0-eksbuild.2")
	assert.DeepEqual(t, w.insights(eks.UpgradeReadiness), map[string]string{
		"Kubelet version skew": "PASSING", "kube-proxy version skew": "PASSING",
		"EKS add-on version compatibility": "PASSING", "Cluster health issues": "PASSING",
	})
	assert.Check(t, is.Len(w.insights(eks.RollbackReadiness), 0))
	for _, region := range []string{"eu-central-1", "us-east-1"} {
		_, err := eks.ListInsights(w.Cloud, region, map[string]string{"eu-central-1": "none", "us-east-1": "demo"}[region], eks.InsightFilter{})
		var refused *eks.InsightError
		assert.Check(t, errors.As(err, &refused) && refused.Code == "ResourceNotFoundException", "in %s: %v", region, err)
	}
	_, err := eks.DescribeInsight(w.Cloud, "eu-central-1", "demo", "x")
	assert.Error(t, err, "ResourceNotFoundException: No insight found for id: x.")
}
