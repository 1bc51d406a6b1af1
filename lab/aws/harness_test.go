package aws

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/structpb"
	"gotest.tools/v3/assert"

	"tombolo/lab/aws/apimodel"
	"tombolo/lab/aws/ec2"
	"tombolo/lab/aws/eks"
	"tombolo/lab/aws/iam"
	"tombolo/lab/aws/kms"
	"tombolo/lab/aws/logs"
	"tombolo/lab/standin"
)

type props = standin.Props

// fakeClusters remembers which control planes run and which nodes they have.
type fakeClusters struct {
	mu      sync.Mutex
	running map[string]standin.ClusterSpec
	nodes   map[string][]standin.Node
	// block, when set, is waited for before a control plane starts.
	block chan struct{}
	fail  error
	// key signs the tokens of the service accounts.
	key *ecdsa.PrivateKey
}

func newFake(t *testing.T) *fakeClusters {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	assert.NilError(t, err)
	return &fakeClusters{running: map[string]standin.ClusterSpec{}, nodes: map[string][]standin.Node{}, key: key}
}

func (f *fakeClusters) Start(_ context.Context, spec standin.ClusterSpec) (standin.ClusterInfo, error) {
	if f.block != nil {
		<-f.block
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		return standin.ClusterInfo{}, f.fail
	}
	f.running[spec.Name] = spec
	return standin.ClusterInfo{Endpoint: "https://127.0.0.1:6443/" + spec.Name, CA: []byte("PEM")}, nil
}

func (f *fakeClusters) Stop(_ context.Context, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.running, name)
	return nil
}

func (f *fakeClusters) SetNodes(_ context.Context, cluster, group string, nodes []standin.Node) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.nodes[cluster+"/"+group] = slices.Clone(nodes)
	return nil
}

func (f *fakeClusters) TokenKey(cluster string) (crypto.PublicKey, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, runs := f.running[cluster]; !runs {
		return nil, errors.New("no such cluster")
	}
	return f.key.Public(), nil
}

// bench drives a stand-in as an engine would.
type bench struct {
	t      *testing.T
	cloud  *standin.Cloud
	fake   *fakeClusters
	server pulumirpc.ResourceProviderServer
	dir    string
}

func newAccount(t *testing.T) *bench {
	t.Helper()
	a := &bench{t: t, fake: newFake(t), dir: t.TempDir()}
	a.open(standin.Options{})
	a.configure(props{"region": "eu-central-1"})
	return a
}

func (a *bench) open(o standin.Options) {
	a.t.Helper()
	o.Clusters = a.fake
	cloud, err := Open(a.dir, o)
	assert.NilError(a.t, err)
	a.cloud, a.server = cloud, cloud.Provider()
	a.t.Cleanup(cloud.Close)
}

func (a *bench) configure(config props) {
	a.t.Helper()
	if _, err := a.server.Configure(a.t.Context(), &pulumirpc.ConfigureRequest{Args: a.wire(config)}); err != nil {
		a.t.Fatal(err)
	}
}

func (a *bench) wire(p props) *structpb.Struct {
	a.t.Helper()
	s, err := standin.Marshal(standin.Normal(map[string]any(p.Clone())).(map[string]any), "test")
	assert.NilError(a.t, err)
	return s
}

func (a *bench) plain(s *structpb.Struct) props {
	a.t.Helper()
	p, err := standin.Unmarshal(s, "test")
	assert.NilError(a.t, err)
	return p
}

func urnOf(token, name string) string { return "urn:pulumi:demo::tombolo::" + token + "::" + name }

// thing is a resource that was made.
type thing struct {
	token, name, id string
	in, out         props
}

func (a *bench) check(token, name string, olds, in props) (props, string) {
	a.t.Helper()
	res, err := a.server.Check(a.t.Context(), &pulumirpc.CheckRequest{
		Urn: urnOf(token, name), Olds: a.wire(olds), News: a.wire(in), RandomSeed: []byte(name),
	})
	if err != nil {
		return nil, err.Error()
	}
	var reasons []string
	for _, f := range res.Failures {
		reasons = append(reasons, f.Property+": "+f.Reason)
	}
	return a.plain(res.Inputs), strings.Join(reasons, "\n")
}

func (a *bench) try(token, name string, in props) (*thing, error) {
	a.t.Helper()
	inputs, failures := a.check(token, name, nil, in)
	if failures != "" {
		return nil, errors.New(failures)
	}
	if unmapped := apimodel.Unmapped(token, inputs); len(unmapped) > 0 {
		a.t.Errorf("no call of AWS's takes these inputs of %s: %v; add them to apimodel/calls.json", token, unmapped)
	}
	res, err := a.server.Create(a.t.Context(), &pulumirpc.CreateRequest{Urn: urnOf(token, name), Properties: a.wire(inputs)})
	if err != nil {
		return nil, err
	}
	made := &thing{token: token, name: name, id: res.Id, in: inputs, out: a.plain(res.Properties)}
	for key := range made.out {
		if typ := a.cloud.TypeOf(token); !typ.HasOutput(key) && !typ.HasInput(key) {
			a.t.Errorf("%s returns %s, which the SDK does not know", token, key)
		}
	}
	return made, nil
}

func (a *bench) make(token, name string, in props) *thing {
	a.t.Helper()
	made, err := a.try(token, name, in)
	if err != nil {
		a.t.Fatalf("make %s %s: %v", token, name, err)
	}
	return made
}

func (a *bench) delete(x *thing) error {
	_, err := a.server.Delete(a.t.Context(), &pulumirpc.DeleteRequest{Urn: urnOf(x.token, x.name), Id: x.id, Properties: a.wire(x.out)})
	return err
}

func (a *bench) diff(x *thing, change props) *pulumirpc.DiffResponse {
	a.t.Helper()
	in := x.in.Clone()
	maps.Copy(in, change)
	news, failures := a.check(x.token, x.name, x.in, in)
	if failures != "" {
		a.t.Fatal(failures)
	}
	res, err := a.server.Diff(a.t.Context(), &pulumirpc.DiffRequest{
		Urn: urnOf(x.token, x.name), Id: x.id, Olds: a.wire(x.out), OldInputs: a.wire(x.in), News: a.wire(news),
	})
	assert.NilError(a.t, err)
	return res
}

func (a *bench) update(x *thing, change props) error {
	a.t.Helper()
	in := x.in.Clone()
	maps.Copy(in, change)
	res, err := a.server.Update(a.t.Context(), &pulumirpc.UpdateRequest{
		Urn: urnOf(x.token, x.name), Id: x.id, Olds: a.wire(x.out), OldInputs: a.wire(x.in), News: a.wire(in),
	})
	if err == nil {
		x.in, x.out = in, a.plain(res.Properties)
	}
	return err
}

func (a *bench) invoke(token string, args props) (props, error) {
	a.t.Helper()
	res, err := a.server.Invoke(a.t.Context(), &pulumirpc.InvokeRequest{Tok: token, Args: a.wire(args)})
	if err != nil {
		return nil, err
	}
	if len(res.Failures) > 0 {
		return nil, errors.New(res.Failures[0].Reason)
	}
	return a.plain(res.Return), nil
}

// tagged are the resources with a tag, as the tagging API finds them.
func (a *bench) tagged(key, value string) []standin.Props {
	a.t.Helper()
	found, err := a.invoke("aws:resourcegroupstaggingapi/getResources:getResources", props{
		"tagFilters": []any{map[string]any{"key": key, "values": []any{value}}},
	})
	assert.NilError(a.t, err)
	return found.Objects("resourceTagMappingLists")
}

// eventually waits for a condition, at most ten seconds.
func (a *bench) eventually(what string, condition func() bool) {
	a.t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			a.t.Fatalf("waited ten seconds until %s", what)
		}
	}
}

const (
	clusterTrust = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"eks.amazonaws.com"},"Action":["sts:AssumeRole","sts:TagSession"]}]}`
	nodeTrust    = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}`
	podTrust     = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"pods.eks.amazonaws.com"},"Action":["sts:AssumeRole","sts:TagSession"]}]}`
	readBuckets  = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::x/*"}]}`
)

// world is a network with a cluster and its nodes.
type world struct {
	*bench
	made                          []*thing
	vpc, subnetA, subnetB         *thing
	gateway, address, nat         *thing
	table, link, group            *thing
	clusterRole, nodeRole, policy *thing
	key, cluster, nodes           *thing
}

func (w *world) add(token, name string, in props) *thing {
	w.t.Helper()
	x := w.make(token, name, in)
	w.made = append(w.made, x)
	return x
}

// emptyWorld has nothing but the account.
func emptyWorld(t *testing.T) *world {
	t.Helper()
	return &world{bench: newAccount(t)}
}

// read looks a resource up, as a refresh does.
func (a *bench) read(x *thing) (in, out props) {
	a.t.Helper()
	res, err := a.server.Read(a.t.Context(), &pulumirpc.ReadRequest{Urn: urnOf(x.token, x.name), Id: x.id})
	if err != nil || res.Id == "" {
		a.t.Fatalf("read %s %s: %v, %v", x.token, x.id, res, err)
	}
	return a.plain(res.Inputs), a.plain(res.Properties)
}

// takeDown deletes what the world made, the last first, and finds nothing left.
func (w *world) takeDown() {
	w.t.Helper()
	for _, x := range slices.Backward(w.made) {
		if err := w.delete(x); err != nil {
			w.t.Fatalf("delete %s: %v", x.name, err)
		}
	}
	if items := w.cloud.Inventory(); len(items) != 0 {
		w.t.Errorf("left over: %+v", items)
	}
}

// refuses asserts an error of AWS.
func refuses(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "%!") {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if err != nil {
		checkCode(t, err)
	}
}

// denied asserts that AWS refuses to make a resource.
func (a *bench) denied(token string, in props, want string) {
	a.t.Helper()
	_, err := a.try(token, "x", in)
	refuses(a.t, err, want)
}

// unanswered asserts that a function fails.
func (a *bench) unanswered(token string, args props, want string) {
	a.t.Helper()
	_, err := a.invoke(token, args)
	refuses(a.t, err, want)
}

func newNetwork(t *testing.T) *world {
	t.Helper()
	w := &world{bench: newAccount(t)}
	w.vpc = w.add(ec2.VPCType, "vpc", props{"cidrBlock": "10.0.0.0/16", "enableDnsHostnames": true, "tags": map[string]any{"Name": "net"}})
	w.add(ec2.DefaultGroupType, "default", props{"vpcId": w.vpc.id})
	for i, x := range []**thing{&w.subnetA, &w.subnetB} {
		zone := string(rune('a' + i))
		*x = w.add(ec2.SubnetType, "subnet-"+zone, props{"vpcId": w.vpc.id, "cidrBlock": fmt.Sprintf("10.0.%d.0/24", i), "availabilityZone": "eu-central-1" + zone})
	}
	w.gateway = w.add(ec2.GatewayType, "igw", props{"vpcId": w.vpc.id})
	w.address = w.add(ec2.EIPType, "eip", props{"domain": "vpc"})
	w.nat = w.add(ec2.NatType, "nat", props{"allocationId": w.address.id, "subnetId": w.subnetA.id})
	w.table = w.add(ec2.RouteTableType, "table", props{"vpcId": w.vpc.id})
	w.add(ec2.RouteType, "route", props{"routeTableId": w.table.id, "destinationCidrBlock": "0.0.0.0/0", "natGatewayId": w.nat.id})
	w.link = w.add(ec2.TableLinkType, "link", props{"routeTableId": w.table.id, "subnetId": w.subnetB.id})
	w.group = w.add(ec2.SecurityGroupType, "group", props{"vpcId": w.vpc.id})
	return w
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := newNetwork(t)
	w.clusterRole = w.add(iam.RoleType, "cluster-role", props{"assumeRolePolicy": clusterTrust})
	w.add(iam.AttachmentType, "cluster-policy", props{"role": w.clusterRole.id, "policyArn": "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"})
	w.nodeRole = w.add(iam.RoleType, "node-role", props{"assumeRolePolicy": nodeTrust})
	w.policy = w.add(iam.AttachmentType, "node-policy", props{"role": w.nodeRole.id, "policyArn": "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"})
	w.key = w.add(kms.KeyType, "key", props{"description": "secrets"})
	w.add(logs.LogGroupType, "logs", props{"name": "/aws/eks/demo/cluster", "retentionInDays": 90})
	w.cluster = w.add(eks.ClusterType, "cluster", w.clusterArgs(props{"name": "demo"}))
	w.nodes = w.add(eks.NodeGroupType, "nodes", w.nodeArgs(nil))
	return w
}

func (w *world) clusterArgs(change props) props {
	in := props{
		"roleArn": w.clusterRole.out["arn"], "version": "1.34", "enabledClusterLogTypes": []any{"api"},
		"vpcConfig":        map[string]any{"subnetIds": []any{w.subnetA.id, w.subnetB.id}, "securityGroupIds": []any{w.group.id}},
		"encryptionConfig": map[string]any{"provider": map[string]any{"keyArn": w.key.out["arn"]}, "resources": []any{"secrets"}},
		"accessConfig":     map[string]any{"authenticationMode": "API"},
	}
	return standin.Merged(in, change)
}

func (w *world) nodeArgs(change props) props {
	in := props{
		"clusterName": "demo", "nodeRoleArn": w.nodeRole.out["arn"], "subnetIds": []any{w.subnetA.id, w.subnetB.id},
		"scalingConfig": map[string]any{"minSize": 1, "desiredSize": 2, "maxSize": 3}, "instanceTypes": []any{"m7i.large"},
		"labels": map[string]any{"workload": "system"}, "taints": []any{map[string]any{"key": "dedicated", "value": "x", "effect": "NO_SCHEDULE"}},
	}
	return standin.Merged(in, change)
}
