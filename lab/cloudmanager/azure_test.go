package cloudmanager

import (
	"log/slog"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	"tombolo/internal/armid"
	"tombolo/lab/azure"
	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/authorization"
	"tombolo/lab/azure/compute"
	"tombolo/lab/azure/containerservice"
	"tombolo/lab/azure/managedidentity"
	azurenetwork "tombolo/lab/azure/network"
	"tombolo/lab/azure/rbac"
	"tombolo/lab/standin"
)

// tenant is the stand-in of Azure with the cluster demo in it.
type tenant struct {
	t       *testing.T
	cloud   *standin.Cloud
	client  *standin.Client
	subnet  string
	control standin.Resource
	cluster string
}

func newTenant(t *testing.T) *tenant {
	t.Helper()
	cloud, err := azure.Open(t.TempDir(), standin.Options{Clusters: noPlanes{}})
	assert.NilError(t, err)
	t.Cleanup(cloud.Close)
	a := &tenant{t: t, cloud: cloud, client: cloud.Client("")}
	a.make(arm.GroupType, map[string]any{"resourceGroupName": "demo", "location": arm.Location})
	a.make(arm.GroupType, map[string]any{"resourceGroupName": "data", "location": arm.Location})
	a.in("virtualNetworkName", azurenetwork.NetworkType, map[string]any{"addressSpace": map[string]any{"addressPrefixes": []any{"10.1.0.0/16"}}})
	a.subnet = a.make(azurenetwork.SubnetType, map[string]any{
		"resourceGroupName": "demo", "virtualNetworkName": "demo", "subnetName": "nodes", "addressPrefix": "10.1.0.0/24",
	}).ID
	a.control = a.in("resourceName", managedidentity.IdentityType, nil)
	assert.NilError(t, authorization.Assign(cloud, a.control.Text("principalId"), rbac.NetworkContributor, a.subnet))
	a.cluster = a.in("resourceName", containerservice.ClusterType, map[string]any{
		"dnsPrefix": "demo", "kubernetesVersion": "1.34", "nodeResourceGroup": "demo-nodes", "tags": map[string]any{"team": "a"},
		"identity":       map[string]any{"type": "UserAssigned", "userAssignedIdentities": []any{a.control.ID}},
		"networkProfile": map[string]any{"networkPlugin": "azure", "networkPluginMode": "overlay"},
		"agentPoolProfiles": []any{map[string]any{
			"name": "system", "mode": "System", "vmSize": "Standard_D2s_v5", "count": 1, "vnetSubnetID": a.subnet,
		}},
	}).ID
	return a
}

func (a *tenant) make(token string, inputs map[string]any) standin.Resource {
	a.t.Helper()
	made, err := a.client.Create(a.t.Context(), token, inputs)
	assert.NilError(a.t, err)
	return made
}

// in makes a resource with the name demo in the group demo.
func (a *tenant) in(property, token string, inputs map[string]any) standin.Resource {
	a.t.Helper()
	return a.make(token, standin.Merged(standin.Props{"resourceGroupName": "demo", "location": arm.Location, property: "demo"}, inputs))
}

func (a *tenant) watching(objects ...runtime.Object) *watch {
	spec := standin.ClusterSpec{Name: "demo", ID: a.cluster, Tenant: arm.Tenant}
	return newWatch(spec, containerservice.AsCluster(a.cloud, a.cluster), clients{client: fake.NewClientset(objects...)}, slog.New(slog.DiscardHandler))
}

// nodeGroup are the ids of what is in the group of the nodes, after its id.
func (a *tenant) nodeGroup() string {
	var ids []string
	for _, item := range a.cloud.Inventory() {
		if path, in := strings.CutPrefix(item.ID, armid.Group(arm.Subscription, "demo-nodes")+"/providers/"); in {
			ids = append(ids, path)
		}
	}
	return strings.Join(ids, " ")
}

func (a *tenant) reconcile(w *watch, name string) *corev1.Service {
	a.t.Helper()
	services := w.client.CoreV1().Services("apps")
	for range 2 { // once more changes nothing
		s, err := services.Get(a.t.Context(), name, metav1.GetOptions{})
		assert.NilError(a.t, err)
		assert.NilError(a.t, w.reconcileService(a.t.Context(), s))
	}
	s, err := services.Get(a.t.Context(), name, metav1.GetOptions{})
	assert.NilError(a.t, err)
	assert.DeepEqual(a.t, s.Finalizers, []string{cleanupFinalizer})
	assert.Assert(a.t, is.Len(s.Status.LoadBalancer.Ingress, 1))
	return s
}

func (a *tenant) gone(w *watch, s *corev1.Service) {
	a.t.Helper()
	now := metav1.Now()
	s.DeletionTimestamp = &now
	assert.NilError(a.t, w.reconcileService(a.t.Context(), s))
}

const (
	webFront  = "a0f9c1d2e111122223333444455556666"
	balancers = "Microsoft.Network/loadBalancers/"
	addresses = "Microsoft.Network/publicIPAddresses/"
)

// TestAzureServicesShareALoadBalancer, each with a public address, until they go.
func TestAzureServicesShareALoadBalancer(t *testing.T) {
	a := newTenant(t)
	other := web(func(s *corev1.Service) {
		s.Name, s.UID = "api", "1"
		s.Annotations = map[string]string{azureAddressTag: "cost=42, owner=me"}
	})
	w := a.watching(web(nil), other)
	s := a.reconcile(w, "web")
	front := webFront[:32]
	assert.Equal(t, a.nodeGroup(), balancers+"kubernetes "+addresses+"kubernetes-"+front)
	address := a.client.Find(azurenetwork.AddressType, map[string]string{"k8s-azure-service": "apps/web", "k8s-azure-cluster-name": "kubernetes"})
	assert.Assert(t, is.Len(address, 1))
	assert.Equal(t, s.Status.LoadBalancer.Ingress[0].IP, address[0].Text("ipAddress"))
	balancer := a.client.Find(azurenetwork.BalancerType, map[string]string{"team": "a"})
	assert.Assert(t, is.Len(balancer, 1))
	assert.DeepEqual(t, ruleNames(partsOf(balancer[0]).rules), []string{front + "-TCP-80", front + "-UDP-53"})
	err := a.client.Delete(t.Context(), azurenetwork.AddressType, address[0].ID)
	assert.Check(t, is.ErrorContains(err, "PublicIPAddressCannotBeDeleted"))

	second := a.reconcile(w, "api")
	assert.Check(t, is.Len(a.client.Find(azurenetwork.AddressType, map[string]string{"cost": "42", "owner": "me", "k8s-azure-service": "apps/api"}), 1))
	assert.Check(t, second.Status.LoadBalancer.Ingress[0].IP != s.Status.LoadBalancer.Ingress[0].IP)
	a.gone(w, s)
	assert.Equal(t, a.nodeGroup(), balancers+"kubernetes "+addresses+"kubernetes-a1")
	a.gone(w, second)
	assert.Equal(t, a.nodeGroup(), "")
}

// TestAzureServiceBecomesInternal has a private address, and no public one any more.
func TestAzureServiceBecomesInternal(t *testing.T) {
	a := newTenant(t)
	w := a.watching(web(nil))
	s := a.reconcile(w, "web")
	s.Annotations = map[string]string{azureInternal: "true"}
	_, err := w.client.CoreV1().Services("apps").Update(t.Context(), s, metav1.UpdateOptions{})
	assert.NilError(t, err)
	s = a.reconcile(w, "web")
	assert.Equal(t, a.nodeGroup(), balancers+"kubernetes-internal")
	assert.Check(t, strings.HasPrefix(s.Status.LoadBalancer.Ingress[0].IP, "10.1.0."), "%v", s.Status.LoadBalancer)
	err = a.client.Delete(t.Context(), azurenetwork.SubnetType, a.subnet)
	assert.Check(t, is.ErrorContains(err, "InUseSubnetCannotBeDeleted"))
	a.gone(w, s)
	assert.Equal(t, a.nodeGroup(), "")
}

func azureClass(policy corev1.PersistentVolumeReclaimPolicy, parameters map[string]string) *storagev1.StorageClass {
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "gp3"}, Provisioner: azureDriver, ReclaimPolicy: &policy, Parameters: parameters}
}

func azureClaim() *corev1.PersistentVolumeClaim {
	claim := data()
	claim.Annotations[provisionerAnnotation] = azureDriver
	return claim
}

var azureNode = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-b", Labels: map[string]string{azureZoneLabel: arm.Location + "-2"}}}

// TestAzureClaimHasADisk in the zone of its pod, until the claim is gone.
func TestAzureClaimHasADisk(t *testing.T) {
	const disks = "Microsoft.Compute/disks/pvc-11112222"
	for policy, left := range map[corev1.PersistentVolumeReclaimPolicy]string{
		corev1.PersistentVolumeReclaimDelete: "", corev1.PersistentVolumeReclaimRetain: disks,
	} {
		t.Run(string(policy), func(t *testing.T) {
			a := newTenant(t)
			w := a.watching(azureClass(policy, map[string]string{"skuName": "Premium_LRS", "tags": "a=b"}), azureClaim(), azureNode)
			for range 2 {
				assert.NilError(t, w.reconcileClaim(t.Context(), azureClaim()))
			}
			assert.Equal(t, a.nodeGroup(), disks)
			made := a.client.Find(compute.DiskType, map[string]string{
				"kubernetes.io-created-for-pvc-name": "data", "kubernetes.io-created-for-pvc-namespace": "apps",
				"kubernetes.io-created-for-pv-name": "pvc-11112222", "a": "b",
			})
			assert.Assert(t, is.Len(made, 1))
			assert.Equal(t, standin.Props(made[0].Properties).Sub("sku").Str("name"), "Premium_LRS")
			v, err := w.client.CoreV1().PersistentVolumes().Get(t.Context(), "pvc-11112222", metav1.GetOptions{})
			assert.NilError(t, err)
			assert.Equal(t, v.Spec.CSI.VolumeHandle, made[0].ID)
			assert.DeepEqual(t, v.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0].Values, []string{arm.Location + "-2"})
			now := metav1.Now()
			v.DeletionTimestamp, v.Status.Phase = &now, corev1.VolumeReleased
			assert.NilError(t, w.reconcileVolume(t.Context(), v))
			assert.Equal(t, a.nodeGroup(), left)
		})
	}
}

// TestAzureDiskInAnotherGroup needs a role there, and outlives the cluster.
func TestAzureDiskInAnotherGroup(t *testing.T) {
	a := newTenant(t)
	w := a.watching(azureClass(corev1.PersistentVolumeReclaimRetain, map[string]string{"resourceGroup": "data"}), azureClaim(), azureNode)
	err := w.reconcileClaim(t.Context(), azureClaim())
	assert.Check(t, is.ErrorContains(err, "AuthorizationFailed"))
	assert.NilError(t, authorization.Assign(a.cloud, a.control.Text("principalId"), rbac.Contributor, armid.Group(arm.Subscription, "data")))
	assert.NilError(t, w.reconcileClaim(t.Context(), azureClaim()))
	in := a.watching(web(nil))
	a.reconcile(in, "web")
	assert.NilError(t, a.client.Delete(t.Context(), containerservice.ClusterType, a.cluster))
	assert.Equal(t, a.nodeGroup(), "")
	left := a.client.Find(compute.DiskType, nil)
	assert.Assert(t, is.Len(left, 1))
	assert.Equal(t, armid.GroupOf(left[0].ID), armid.Group(arm.Subscription, "data"))
}
