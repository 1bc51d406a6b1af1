package aws

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/aws/authenticator"
	"tombolo/lab/aws/ec2"
	"tombolo/lab/aws/eks"
	"tombolo/lab/aws/iam"
	"tombolo/lab/aws/sqs"
	"tombolo/lab/aws/sts"
	"tombolo/lab/standin"
	"tombolo/lab/standin/standintest"
	"tombolo/tests/files"
)

func TestLifecycle(t *testing.T) {
	w := newWorld(t)
	spec := w.Clusters.Running["demo"]
	assert.Check(t, spec.ServiceCIDR == "172.20.0.0/16" && spec.Version == "1.34" && spec.ID == w.cluster.Out.Str("arn"), "control plane started with %+v", spec)
	assert.Check(t, is.Equal(w.cluster.Out.Sub("certificateAuthority").Str("data"), "UEVN"))
	for _, key := range []string{"endpoint", "arn", "createdAt", "platformVersion"} {
		assert.Check(t, w.cluster.Out.Str(key) != "", "cluster has no %s", key)
	}
	issuers := w.cluster.Out.At("identities", "oidcs", "issuer")
	assert.Check(t, len(issuers) == 1 && strings.HasPrefix(issuers[0], "https://oidc.eks.eu-central-1.amazonaws.com/id/"), "issuers are %v", issuers)
	group := w.nodes.In.Str("nodeGroupName")
	nodes := w.Clusters.Nodes["demo/"+group]
	assert.Assert(t, len(nodes) == 2 && nodes[0].Zone != nodes[1].Zone, "nodes are %+v", nodes)
	n := nodes[0]
	assert.Check(t, n.Labels["eks.amazonaws.com/nodegroup"] == group && n.Labels["workload"] == "system" && n.Taints[0].Effect == "NoSchedule", "node is %+v", n)
	w.TakeDown()
	assert.Check(t, len(w.Clusters.Running) == 0 && len(w.Clusters.Nodes["demo/"+group]) == 0, "still running: %v %v", w.Clusters.Running, w.Clusters.Nodes)
}

func TestNodesFollowTheSize(t *testing.T) {
	w := newWorld(t)
	before := w.Clusters.Nodes["demo/"+w.nodes.In.Str("nodeGroupName")]
	err := w.Update(w.nodes, props{"scalingConfig": map[string]any{"minSize": 1, "desiredSize": 3, "maxSize": 3}})
	assert.NilError(t, err)
	after := w.Clusters.Nodes["demo/"+w.nodes.In.Str("nodeGroupName")]
	assert.Check(t, len(after) == 3 && after[0].Name == before[0].Name, "nodes were %v and are %v", before, after)
}

// TestNodesAreReplaced: another version of Kubernetes has a group's nodes be new
// ones; a label leaves them be.
func TestNodesAreReplaced(t *testing.T) {
	w := newWorld(t)
	key := "demo/" + w.nodes.In.Str("nodeGroupName")
	first := w.Clusters.Nodes[key]
	assert.NilError(t, w.Update(w.cluster, props{"version": "1.35"}))
	assert.NilError(t, w.Update(w.nodes, props{"labels": map[string]any{"workload": "other"}}))
	same := w.Clusters.Nodes[key]
	assert.NilError(t, w.Update(w.nodes, props{"version": "1.35"}))
	second := w.Clusters.Nodes[key]
	assert.Equal(t, len(second), len(first))
	for i := range first {
		assert.Equal(t, first[i].Version, "1.34")
		assert.Check(t, same[i].Version == "1.34" && same[i].ProviderID == first[i].ProviderID, "labelled node %+v", same[i])
		assert.Check(t, second[i].Version == "1.35" && second[i].ProviderID != first[i].ProviderID && second[i].Name != first[i].Name, "upgraded node %+v", second[i])
	}
}

func TestReopen(t *testing.T) {
	w := newWorld(t)
	before := w.Cloud.Inventory()
	token, _, err := authenticator.GetToken(w.Cloud, sts.UserCredentials(w.Cloud), "demo")
	assert.NilError(t, err)
	w.Clusters.Running, w.Clusters.Nodes = map[string]standin.ClusterSpec{}, map[string][]standin.Node{}
	w.Reopen(standin.Options{})
	w.Configure(props{"region": "eu-central-1"})
	assert.Check(t, is.DeepEqual(before, w.Cloud.Inventory()))
	assert.NilError(t, w.Cloud.Resume(t.Context()))
	assert.Check(t, len(w.Clusters.Running) == 1 && len(w.Clusters.Nodes["demo/"+w.nodes.In.Str("nodeGroupName")]) == 2, "after resume: %v %v", w.Clusters.Running, w.Clusters.Nodes)
	_, groups, err := authenticator.Authenticate(w.Cloud, "demo", token)
	assert.Check(t, err == nil && slices.Contains(groups, "system:masters"), "the old token gives %v, %v", groups, err)
	res, err := w.Server.Read(t.Context(), &pulumirpc.ReadRequest{Urn: standintest.URN(ec2.VPCType, "vpc"), Id: w.vpc.ID})
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(w.vpc.Out, w.Plain(res.Properties)))
}

func TestResumeAsksAFailedClusterForNothing(t *testing.T) {
	w := newWorld(t)
	w.Clusters.Running, w.Clusters.Nodes = map[string]standin.ClusterSpec{}, map[string][]standin.Node{}
	w.Clusters.Fail = errors.New("port 6443 is taken")
	w.Reopen(standin.Options{})
	err := w.Cloud.Resume(t.Context())
	assert.Check(t, err != nil && strings.HasPrefix(err.Error(), "resume EKS Cluster demo: ") && !strings.Contains(err.Error(), "\n"), "error %v", err)
	assert.Check(t, len(w.Clusters.Nodes) == 0, "nodes %v", w.Clusters.Nodes)
}

func TestReadByImportForm(t *testing.T) {
	w := newWorld(t)
	role := w.Make(iam.RoleType, "pod", props{"assumeRolePolicy": podTrust})
	pod := w.Make(eks.PodIdentityType, "pod", props{"clusterName": "demo", "namespace": "a", "serviceAccount": "b", "roleArn": role.Out["arn"]})
	w.Make(ec2.GroupRuleType, "rule", props{
		"securityGroupId": w.group.ID, "type": "ingress", "protocol": "-1", "fromPort": 0.0, "toPort": 0.0, "self": true,
	})
	for token, id := range map[string]string{
		ec2.GroupRuleType:   w.group.ID + "_ingress_all_0_0_self",
		ec2.RouteType:       w.table.ID + "_0.0.0.0/0",
		ec2.TableLinkType:   w.subnetB.ID + "/" + w.table.ID,
		iam.AttachmentType:  w.nodeRole.ID + "/arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy",
		eks.PodIdentityType: "demo," + pod.ID,
		eks.NodeGroupType:   "demo:" + w.nodes.In.Str("nodeGroupName"),
	} {
		res, err := w.Server.Read(t.Context(), &pulumirpc.ReadRequest{Urn: standintest.URN(token, "x"), Id: id})
		assert.Check(t, err == nil && res.Id != "" && len(res.Inputs.GetFields()) != 0, "read %s %s: %v, %v", token, id, res, err)
	}
	res, err := w.Server.Read(t.Context(), &pulumirpc.ReadRequest{Urn: standintest.URN(ec2.VPCType, "x"), Id: "vpc-0"})
	assert.Check(t, err == nil && res.Id == "", "read of nothing: %v, %v", res, err)
}

func TestVanishedCallerLeavesTheResource(t *testing.T) {
	w := newWorld(t)
	w.Clusters.Block = make(chan struct{})
	made := make(chan error)
	in := w.clusterArgs(props{"name": "second"})
	go func() {
		_, err := w.Try(eks.ClusterType, "second", in)
		made <- err
	}()
	w.Eventually("the cluster is recorded", func() bool {
		return slices.ContainsFunc(w.Cloud.Inventory(), func(i standin.Item) bool { return i.ID == "second" })
	})
	if _, err := w.Server.Cancel(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	refuses(t, <-made, "stopped waiting for aws:eks/cluster:Cluster second, which goes on: the operation was cancelled")
	close(w.Clusters.Block)
	w.Cloud.Work.Wait()
	r := eks.ClusterNamed(w.Cloud, "second")
	assert.Check(t, r != nil && r.Status == standin.StatusActive && r.Outputs.Str("endpoint") != "", "the cluster is %+v", r)
}

func TestFailedStartCanBeTriedAgain(t *testing.T) {
	w := newWorld(t)
	w.Clusters.Fail = errors.New("etcd: port 2379 is taken")
	in := w.clusterArgs(props{"name": "second"})
	w.denied(eks.ClusterType, in, "waiting for EKS Cluster (second): etcd: port 2379 is taken")
	w.Clusters.Fail = nil
	w.Make(eks.ClusterType, "second", in)
}

func TestLatencyEndsWithTheCaller(t *testing.T) {
	a := newAccount(t)
	a.Reopen(standin.Options{LatencyScale: 1000})
	a.Configure(props{})
	done := make(chan error)
	go func() { _, err := a.Try(ec2.VPCType, "vpc", props{"cidrBlock": "10.0.0.0/16"}); done <- err }()
	a.Eventually("the VPC is recorded", func() bool { return len(a.Cloud.Inventory()) == 1 })
	if _, err := a.Server.Cancel(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	refuses(t, <-done, "the operation was cancelled")
}

// TestRepeatedCreate of what is busy does not wait: it has the account locked,
// for which the other operation may wait.
func TestRepeatedCreate(t *testing.T) {
	a := newAccount(t)
	queue := a.Make(sqs.QueueType, "queue", props{"name": "q"})
	unlock := a.Cloud.LockResource(sqs.QueueType, "eu-central-1", queue.ID)
	made := make(chan error, 1)
	go func() {
		_, err := a.Try(sqs.QueueType, "again", props{"name": "q"})
		made <- err
	}()
	select {
	case err := <-made:
		assert.Check(t, err)
	case <-time.After(10 * time.Second):
		t.Error("the second creation waits for the first one's lock")
	}
	unlock()
	assert.Check(t, a.Delete(queue))
}

func TestConcurrentCreates(t *testing.T) {
	a := newAccount(t)
	vpc := a.Make(ec2.VPCType, "vpc", props{"cidrBlock": "10.0.0.0/16"})
	var wg sync.WaitGroup
	errs := make(chan error, 40)
	for i := range 40 {
		wg.Go(func() { // twenty blocks, each asked for twice
			_, err := a.Try(ec2.SubnetType, fmt.Sprint("s", i), props{"vpcId": vpc.ID, "cidrBlock": fmt.Sprintf("10.0.%d.0/24", i%20)})
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	refused := 0
	for err := range errs {
		if err != nil {
			refused++
		}
	}
	if refused != 20 || len(a.Cloud.Inventory()) != 21 {
		t.Errorf("%d refused, %d resources", refused, len(a.Cloud.Inventory()))
	}
}

func TestUnwritableStateMakesNothing(t *testing.T) {
	a := newAccount(t)
	assert.NilError(t, os.RemoveAll(a.Dir))
	assert.NilError(t, os.WriteFile(a.Dir, nil, 0o600))
	a.denied(ec2.EIPType, props{"domain": "vpc"}, "record aws:ec2/eip:Eip eipalloc-0")
	items := a.Cloud.Inventory()
	assert.Check(t, len(items) == 0, "made %v", items)
}

func TestStored(t *testing.T) {
	a := newAccount(t)
	a.Make(ec2.VPCType, "vpc", props{"cidrBlock": "10.0.0.0/16", "tags": map[string]any{"Name": "demo"}})
	a.Make(iam.RoleType, "role", props{"assumeRolePolicy": nodeTrust})
	// A write that a crash has cut short, which Open removes.
	cut := filepath.Join(a.Dir, "resources", "ec2", ".new-1")
	assert.NilError(t, os.WriteFile(cut, []byte("{"), 0o600))
	stored, err := Stored(a.Dir)
	assert.NilError(t, err)
	if diff := cmp.Diff(a.Cloud.Inventory(), stored); diff != "" || len(stored) != 2 {
		t.Errorf("stored are %d resources (-exist +stored):\n%s", len(stored), diff)
	}
	_, err = os.Stat(cut)
	assert.Check(t, err == nil, "looking has changed what is stored: %v", err)
}

func TestStoredWithoutState(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "aws")
	stored, err := Stored(dir)
	assert.Check(t, err == nil && len(stored) == 0, "stored are %v, %v", stored, err)
	damaged := filepath.Join(dir, "resources", "ec2", "Vpc-1.json")
	files.Write(t, damaged, "{")
	want := "read the state of the AWS stand-in: " + damaged + " is damaged: "
	_, err = Stored(dir)
	assert.Check(t, err != nil && strings.HasPrefix(err.Error(), want), "error %v, want %s…", err, want)
}
