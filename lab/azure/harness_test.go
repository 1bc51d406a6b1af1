package azure

import (
	"context"
	"crypto"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/structpb"
	"gotest.tools/v3/assert"

	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/containerservice"
	"tombolo/lab/azure/managedidentity"
	"tombolo/lab/azure/network"
	"tombolo/lab/azure/rbac"
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

func (f *fakeClusters) TokenKey(string) (crypto.PublicKey, error) {
	return nil, errors.New("the test has no keys")
}

// bench drives a stand-in as an engine would.
type bench struct {
	t      *testing.T
	cloud  *standin.Cloud
	fake   *fakeClusters
	server pulumirpc.ResourceProviderServer
	dir    string
}

func newTenant(t *testing.T) *bench {
	t.Helper()
	a := &bench{t: t, fake: &fakeClusters{running: map[string]standin.ClusterSpec{}, nodes: map[string][]standin.Node{}}, dir: t.TempDir()}
	a.open(standin.Options{})
	a.configure(nil)
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

func (a *bench) configure(change props) {
	a.t.Helper()
	config := standin.Merged(props{"subscriptionId": arm.Subscription, "tenantId": arm.Tenant}, change)
	_, err := a.server.Configure(a.t.Context(), &pulumirpc.ConfigureRequest{Args: a.wire(config)})
	assert.NilError(a.t, err)
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
	res, err := a.server.Create(a.t.Context(), &pulumirpc.CreateRequest{Urn: urnOf(token, name), Properties: a.wire(inputs)})
	if err != nil {
		return nil, err
	}
	made := &thing{token: token, name: name, id: res.Id, in: inputs, out: a.plain(res.Properties)}
	for key := range made.out {
		if !a.cloud.TypeOf(token).HasOutput(key) {
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
	news, failures := a.check(x.token, x.name, x.in, standin.Merged(x.in, change))
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
	for key, value := range in {
		if value == nil {
			delete(in, key)
		}
	}
	res, err := a.server.Update(a.t.Context(), &pulumirpc.UpdateRequest{
		Urn: urnOf(x.token, x.name), Id: x.id, Olds: a.wire(x.out), OldInputs: a.wire(x.in), News: a.wire(in),
	})
	if err == nil {
		x.in, x.out = in, a.plain(res.Properties)
	}
	return err
}

// read looks a resource up, as a refresh does.
func (a *bench) read(token, id string, known props) *pulumirpc.ReadResponse {
	a.t.Helper()
	req := &pulumirpc.ReadRequest{Urn: urnOf(token, "x"), Id: id}
	if known != nil {
		req.Inputs = a.wire(known)
	}
	res, err := a.server.Read(a.t.Context(), req)
	assert.NilError(a.t, err)
	return res
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

// refuses asserts an error of Azure.
func refuses(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "%!") {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// denied asserts that Azure refuses to make a resource.
func (a *bench) denied(token string, in props, want string) {
	a.t.Helper()
	_, err := a.try(token, "x", in)
	refuses(a.t, err, want)
}

// world is a group with a network, identities, and a cluster with two pools.
type world struct {
	*bench
	made                                []*thing
	group, vnet, subnet, gateway, ip    *thing
	control, kubelet, cluster, nodePool *thing
}

func (w *world) add(token, name string, in props) *thing {
	w.t.Helper()
	x := w.make(token, name, in)
	w.made = append(w.made, x)
	return x
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

const demo = "demo"

func newNetwork(t *testing.T) *world {
	t.Helper()
	w := &world{bench: newTenant(t)}
	w.group = w.add(arm.GroupType, "group", props{"resourceGroupName": demo, "location": arm.Location, "tags": map[string]any{"team": "a"}})
	w.vnet = w.add(network.NetworkType, "network", w.inGroup(props{
		"virtualNetworkName": demo, "addressSpace": map[string]any{"addressPrefixes": []any{"10.1.0.0/16"}},
	}))
	w.ip = w.add(network.AddressType, "address", w.inGroup(props{
		"publicIpAddressName": "demo-outbound", "sku": map[string]any{"name": "Standard"}, "publicIPAllocationMethod": "Static",
	}))
	w.gateway = w.add(network.NatGatewayType, "gateway", w.inGroup(props{
		"natGatewayName": demo, "sku": map[string]any{"name": "Standard"}, "publicIpAddresses": []any{map[string]any{"id": w.ip.id}},
	}))
	w.subnet = w.add(network.SubnetType, "subnet", props{
		"resourceGroupName": demo, "virtualNetworkName": demo, "subnetName": "demo-nodes", "addressPrefix": "10.1.0.0/20",
		"natGateway": map[string]any{"id": w.gateway.id},
	})
	return w
}

// inGroup adds the group and its location to inputs.
func (w *world) inGroup(in props) props {
	return standin.Merged(props{"resourceGroupName": demo, "location": arm.Location}, in)
}

func (w *world) identity(name string) *thing {
	w.t.Helper()
	return w.add(managedidentity.IdentityType, name, w.inGroup(props{"resourceName": name}))
}

// assign gives an identity a role on a scope.
func (w *world) assign(name string, identity *thing, role, scope string) *thing {
	w.t.Helper()
	return w.add(rbac.AssignmentType, name, w.assignment(identity.out.Str("principalId"), role, scope, nil))
}

func (w *world) assignment(principal, role, scope string, change props) props {
	return standin.Merged(props{
		"principalId": principal, "principalType": "ServicePrincipal", "scope": scope, "roleAssignmentName": arm.UUID(),
		"roleDefinitionId": rbac.Definition(arm.Subscription, role),
	}, change)
}

// newIdentities has a network, and what a cluster in it needs.
func newIdentities(t *testing.T) *world {
	t.Helper()
	w := newNetwork(t)
	w.control, w.kubelet = w.identity("demo-control-plane"), w.identity("demo-kubelet")
	w.assign("network", w.control, rbac.NetworkContributor, w.subnet.id)
	w.assign("operator", w.control, rbac.ManagedIdentityOperator, w.kubelet.id)
	return w
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := newIdentities(t)
	w.cluster = w.add(containerservice.ClusterType, "cluster", w.clusterArgs(nil))
	w.nodePool = w.add(containerservice.PoolType, "pool", w.poolArgs(nil))
	return w
}

func (w *world) systemPool(change props) props {
	return standin.Merged(props{
		"name": "system", "mode": "System", "vmSize": "Standard_D2s_v5", "count": 2, "vnetSubnetID": w.subnet.id, "availabilityZones": []any{"1", "2"},
	}, change)
}

func (w *world) clusterArgs(change props) props {
	return standin.Merged(w.inGroup(props{
		"resourceName": demo, "dnsPrefix": demo, "kubernetesVersion": "1.34", "nodeResourceGroup": "demo-nodes",
		"identity":             map[string]any{"type": "UserAssigned", "userAssignedIdentities": []any{w.control.id}},
		"identityProfile":      map[string]any{"kubeletidentity": map[string]any{"resourceId": w.kubelet.id}},
		"aadProfile":           map[string]any{"managed": true, "enableAzureRBAC": false, "adminGroupObjectIDs": []any{arm.AdminGroup}, "tenantID": arm.Tenant},
		"disableLocalAccounts": true,
		"oidcIssuerProfile":    map[string]any{"enabled": true},
		"securityProfile":      map[string]any{"workloadIdentity": map[string]any{"enabled": true}},
		"networkProfile":       w.clusterNetwork(nil),
		"agentPoolProfiles":    []any{map[string]any(w.systemPool(nil))},
	}), change)
}

func (w *world) clusterNetwork(change props) map[string]any {
	return standin.Merged(props{
		"networkPlugin": "azure", "networkPluginMode": "overlay", "networkDataplane": "cilium", "outboundType": "userAssignedNATGateway",
		"podCidr": "10.244.0.0/16", "serviceCidr": "10.0.0.0/16", "dnsServiceIP": "10.0.0.10",
	}, change)
}

func (w *world) poolArgs(change props) props {
	return standin.Merged(props{
		"resourceGroupName": demo, "resourceName": demo, "agentPoolName": "apps", "mode": "User", "vmSize": "Standard_D4s_v5", "vnetSubnetID": w.subnet.id,
		"enableAutoScaling": true, "minCount": 1, "maxCount": 3, "nodeLabels": map[string]any{"workload": "apps"}, "nodeTaints": []any{"dedicated=x:NoSchedule"},
	}, change)
}
