//go:build lab

package lab

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"k8s.io/apimachinery/pkg/util/wait"

	"tombolo/lab/standin"
	"tombolo/tests/tier"
)

// cloudObjects ask for something in the cloud, each in its way.
const cloudObjects = `apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {type: LoadBalancer, selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web
  namespace: default
  annotations: {alb.ingress.kubernetes.io/scheme: internet-facing}
spec:
  ingressClassName: alb
  defaultBackend: {service: {name: web, port: {number: 80}}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: gp3}
provisioner: ebs.csi.aws.com
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: default}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: gp3
  resources: {requests: {storage: 1Gi}}
---
apiVersion: v1
kind: Pod
metadata: {name: store, namespace: default}
spec:
  containers: [{name: store, image: "store:1", volumeMounts: [{name: data, mountPath: /data}]}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
---
apiVersion: v1
kind: Pod
metadata: {name: batch, namespace: default}
spec:
  nodeSelector: {karpenter.sh/nodepool: default}
  containers: [{name: batch, image: "batch:1"}]
`

const pool = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: [{key: kubernetes.io/os, operator: In, values: [linux]}]
`

// controllerOf is the Deployment of a chart.
func controllerOf(chart string) string {
	return strings.ReplaceAll(`apiVersion: apps/v1
kind: Deployment
metadata: {name: CHART, namespace: kube-system, labels: {app.kubernetes.io/name: CHART}}
spec:
  selector: {matchLabels: {app.kubernetes.io/name: CHART}}
  template:
    metadata: {labels: {app.kubernetes.io/name: CHART}}
    spec: {containers: [{name: CHART, image: "CHART:1"}]}
`, "CHART", chart)
}

// inAnotherOrder: the one node has room for one pod. What comes first takes it; the controller of load balancers has
// none, and its webhook refuses Services; nor has Karpenter, which could make a node. In the order, Karpenter has the room.
func inAnotherOrder(t *testing.T, k kubectl) {
	t.Helper()
	reason := func(chart string) []string {
		return []string{"-n", "kube-system", "get", "pods", "-l", "app.kubernetes.io/name=" + chart, "-o", "jsonpath={.items[*].status.conditions[?(@.type=='PodScheduled')].reason}"}
	}
	k.run(controllerOf("reloader"), "apply", "-f", "-")
	k.run("", "-n", "kube-system", "rollout", "status", "deployment/reloader", "--timeout=60s")
	for _, late := range []string{"aws-load-balancer-controller", "karpenter"} {
		k.run(controllerOf(late), "apply", "-f", "-")
		k.await("Unschedulable", reason(late)...)
	}
	k.run(pool, "apply", "-f", "-")
	k.await("mservice.elbv2.k8s.aws", "get", "mutatingwebhookconfigurations", "-o", "jsonpath={.items[*].webhooks[*].name}")
	out, err := k.command("", "create", "service", "clusterip", "early", "--tcp=80:80")
	assert.Check(t, err != nil && strings.Contains(out, `failed calling webhook "mservice.elbv2.k8s.aws"`) &&
		strings.Contains(out, `no endpoints available for service "aws-load-balancer-webhook-service"`), "%v: %s", err, out)
	k.await("Unschedulable", reason("karpenter")...)

	k.run("", "-n", "kube-system", "delete", "deployment", "reloader", "aws-load-balancer-controller")
	k.run("", "-n", "kube-system", "rollout", "status", "deployment/karpenter", "--timeout=60s")
	k.run(controllerOf("aws-load-balancer-controller")+"---\n"+controllerOf("reloader"), "apply", "-f", "-")
	for _, late := range []string{"aws-load-balancer-controller", "reloader"} {
		k.run("", "-n", "kube-system", "rollout", "status", "deployment/"+late, "--timeout=60s")
	}
	k.await("", "get", "mutatingwebhookconfigurations", "-o", "name")
}

// TestCloudOfACluster has a real control plane's objects make load balancers, a
// volume and an instance in the stand-in, and take them away again.
func TestCloudOfACluster(t *testing.T) {
	tier.Short(t, "a control plane's objects make load balancers, volumes and instances")
	d := start(t, checkout(t, map[string]string{"settings.yaml": settingsOf("plain")}))
	client := accountOf(t, d)
	demo := client.clusters("1.34", "demo")[0]
	subnet := standin.Props(demo.Properties).At("vpcConfig", "subnetIds")[0]
	nodes := []standin.Node{{Name: "ip-10-0-1-10", Zone: "eu-central-1b", Pods: 1}}
	assert.NilError(t, d.clusters.SetNodes(t.Context(), "demo", "a", nodes))
	k := kubectlOf(t, d, "demo")
	for _, kind := range []string{"nodepools", "nodeclaims"} {
		definition, err := os.ReadFile(filepath.Join("charts", "karpenter-crd", "templates", kind+".yaml"))
		assert.NilError(t, err)
		k.run(string(definition), "apply", "-f", "-")
		k.run("", "wait", "--for=condition=Established", "crd/"+kind+".karpenter.sh", "--timeout=60s")
	}
	inAnotherOrder(t, k)
	k.run(cloudObjects, "apply", "-f", "-")
	k.await("Bound", "get", "pvc", "data", "-o", "jsonpath={.status.phase}")
	k.await("Running", "get", "pod", "batch", "-o", "jsonpath={.status.phase}")
	for _, object := range []string{"service/web", "ingress/web"} {
		k.run("", "wait", "--for=jsonpath={.status.loadBalancer.ingress[0].hostname}", object, "--timeout=60s")
	}
	const made = "Instance LoadBalancer LoadBalancer Volume"
	if got := inTheCloud(d); got != made {
		t.Errorf("the cloud has %s, want %s", got, made)
	}
	assert.Check(t, is.ErrorContains(client.Delete(t.Context(), "aws:ec2/subnet:Subnet", subnet), "DependencyViolation"))
	kubelets := []string{"get", "nodes", "-l", "karpenter.sh/nodepool=default", "-o", "jsonpath={.items[*].status.nodeInfo.kubeletVersion}"}
	k.await("v1.34.0-eks-0000000", kubelets...)
	_, err := d.accounts.home().Change(t.Context(), "aws:eks/cluster:Cluster", "demo", map[string]any{"version": "1.35"})
	assert.NilError(t, err)
	k.await("v1.35.0-eks-0000000", kubelets...)
	err = wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 60*time.Second, true, func(context.Context) (bool, error) {
		return inTheCloud(d) == made, nil // the instance goes after its node
	})
	if err != nil {
		t.Errorf("after the upgrade the cloud has %s, want %s", inTheCloud(d), made)
	}
	k.run("", "delete", "--ignore-not-found", "pod/store", "pod/batch", "pvc/data", "service/web", "ingress/web", "nodepool/default", "--timeout=90s")
	err = wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 60*time.Second, true, func(context.Context) (bool, error) {
		return inTheCloud(d) == "", nil
	})
	if err != nil {
		t.Errorf("the cloud still has %s", inTheCloud(d))
	}
	assert.Check(t, client.Delete(t.Context(), "aws:eks/cluster:Cluster", "demo"))
	assert.Check(t, client.Delete(t.Context(), "aws:ec2/subnet:Subnet", subnet))
}

// inTheCloud are the types of what the cluster's objects asked for, in order.
func inTheCloud(d *daemon) string {
	var kinds []string
	for _, item := range d.accounts.home().Inventory() {
		name := item.Type[strings.LastIndex(item.Type, ":")+1:]
		if slices.Contains([]string{"LoadBalancer", "Volume", "Instance"}, name) {
			kinds = append(kinds, name)
		}
	}
	slices.Sort(kinds)
	return strings.Join(kinds, " ")
}
