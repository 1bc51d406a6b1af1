package azure

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/containerservice"
	"tombolo/lab/azure/managedidentity"
	"tombolo/lab/azure/network"
	"tombolo/lab/azure/rbac"
	"tombolo/lab/standin"
	"tombolo/lab/standin/standintest"
)

// clock is a time that only a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// atPace opens the stand-in again with a share of Azure's durations and a clock of the test's.
func (a *bench) atPace(scale float64) *clock {
	c := &clock{now: time.Now()}
	a.Reopen(standin.Options{LatencyScale: scale, Now: c.Now})
	a.configure(nil)
	return c
}

// TestPrincipalsAreKnownLater: without its type, a new principal is not found until Entra
// knows it everywhere.
func TestPrincipalsAreKnownLater(t *testing.T) {
	w := newNetwork(t)
	c := w.atPace(0.0001)
	identity := w.identity("late")
	assignment := w.assignment(identity.Out.Str("principalId"), rbac.Reader, w.group.ID, nil)
	delete(assignment, "principalType")
	w.denied(rbac.AssignmentType, assignment, `Status=400 Code="PrincipalNotFound" Message="Principal `+strings.ReplaceAll(identity.Out.Str("principalId"), "-", "")+
		` does not exist in the directory `+arm.Tenant+`. Check that you have the correct principal ID. If you are creating this principal and then immediately assigning a role,`)
	typed := w.Make(rbac.AssignmentType, "typed", standin.Merged(assignment, props{"principalType": "ServicePrincipal", "roleAssignmentName": arm.UUID()}))
	assert.NilError(t, w.Delete(typed))
	c.pass(managedidentity.Replication)
	w.Make(rbac.AssignmentType, "late", assignment)
}

// TestRightsCountLater: a role that has just been assigned does not count yet.
func TestRightsCountLater(t *testing.T) {
	w := newNetwork(t)
	c := w.atPace(0.0001)
	w.control, w.kubelet = w.identity("demo-control-plane"), w.identity("demo-kubelet")
	w.assign("network", w.control, rbac.NetworkContributor, w.subnet.ID)
	w.assign("operator", w.control, rbac.ManagedIdentityOperator, w.kubelet.ID)
	w.denied(containerservice.ClusterType, w.clusterArgs(nil), `Code="CustomKubeletIdentityMissingPermissionError"`)
	c.pass(rbac.Lag)
	w.Make(containerservice.ClusterType, "cluster", w.clusterArgs(nil))
}

// TestConcurrentCredentials: Azure writes one federated credential of an identity at a time.
func TestConcurrentCredentials(t *testing.T) {
	w := newNetwork(t)
	identity := w.identity("shop")
	w.atPace(0.1)
	credential := func(name string) props {
		return props{
			"resourceGroupName": demo, "resourceName": "shop", "federatedIdentityCredentialResourceName": name, "issuer": "https://issuer.example/1/",
			"subject": name, "audiences": list("api://AzureADTokenExchange"),
		}
	}
	made := make(chan error, 1)
	go func() { _, err := w.Try(managedidentity.CredentialType, "first", credential("first")); made <- err }()
	w.Eventually("the first one is under way", func() bool { return w.Cloud.Has(managedidentity.CredentialType, "first") })
	w.denied(managedidentity.CredentialType, credential("second"), `Status=409 Code="ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity" `+
		`Message="Too many Federated Identity Credentials are written concurrently for the managed identity '`+identity.ID+`'. Concurrent Federated Identity Credentials writes under the same managed identity are not supported."`)
	assert.NilError(t, <-made)
	w.Make(managedidentity.CredentialType, "second", credential("second"))
	unlock := w.Cloud.Lock()
	found := managedidentity.Federations(w.Cloud, managedidentity.ByClient(w.Cloud, identity.Out.Str("clientId")))
	unlock()
	assert.Check(t, len(found) == 2 && found[0].Subject == "first" && found[0].Audiences[0] == "api://AzureADTokenExchange", "%v", found)
}

// TestBusyCluster: nothing else is done to a cluster that is being made.
func TestBusyCluster(t *testing.T) {
	w := newIdentities(t)
	w.Clusters.Block = make(chan struct{})
	made := make(chan error, 1)
	go func() { _, err := w.Try(containerservice.ClusterType, "cluster", w.clusterArgs(nil)); made <- err }()
	w.Eventually("the cluster is under way", func() bool { return w.Cloud.Has(containerservice.ClusterType, demo) })
	w.denied(containerservice.PoolType, w.poolArgs(nil), `Status=409 Code="OperationNotAllowed" Message="Operation is not allowed because there's an in progress create managed cluster operation`)
	_, err := w.Invoke("azure-native:containerservice/v20240901:listManagedClusterUserCredentials", props{"resourceGroupName": demo, "resourceName": demo})
	standintest.Refuses(t, err, "is not provisioned yet")
	close(w.Clusters.Block)
	assert.NilError(t, <-made)
	w.Make(containerservice.PoolType, "pool", w.poolArgs(nil))
}

func TestFailedStartCanBeTriedAgain(t *testing.T) {
	w := newIdentities(t)
	w.Clusters.Fail = errors.New("etcd: port 2379 is taken")
	w.denied(containerservice.ClusterType, w.clusterArgs(nil), "etcd: port 2379 is taken")
	w.Clusters.Fail = nil
	w.Make(containerservice.ClusterType, "cluster", w.clusterArgs(nil))
}

func TestVanishedCallerLeavesTheCluster(t *testing.T) {
	w := newIdentities(t)
	w.Clusters.Block = make(chan struct{})
	made := make(chan error, 1)
	go func() { _, err := w.Try(containerservice.ClusterType, "cluster", w.clusterArgs(nil)); made <- err }()
	w.Eventually("the cluster is recorded", func() bool { return w.Cloud.Has(containerservice.ClusterType, demo) })
	_, err := w.Server.Cancel(t.Context(), nil)
	assert.NilError(t, err)
	standintest.Refuses(t, <-made, "which goes on: the operation was cancelled")
	close(w.Clusters.Block)
	w.Cloud.Work.Wait()
	r := containerservice.ClusterNamed(w.Cloud, demo)
	assert.Check(t, r != nil && r.Status == standin.StatusActive && r.Control != nil, "%+v", r)
}

func TestFaults(t *testing.T) {
	group := props{"resourceGroupName": demo, "location": arm.Location}
	for kind, want := range map[standin.FaultKind]string{
		standin.FaultThrottled:   `Status=429 Code="SubscriptionRequestsThrottled" Message="Number of 'write' requests for subscription '` + arm.Subscription + `'`,
		standin.FaultServerError: `Status=500 Code="InternalServerError" Message="Encountered internal server error`,
		standin.FaultQuota:       `Status=409 Code="QuotaExceeded" Message="The quota of the subscription has been reached."`,
	} {
		a := newTenant(t)
		_, err := a.Cloud.AddFault(standin.Fault{Kind: kind, Operation: standin.OpCreate, Type: "ResourceGroup", Count: standin.Attempts})
		assert.NilError(t, err)
		a.denied(arm.GroupType, group, want)
		assert.Equal(t, len(a.Cloud.Inventory()), 0)
		a.Cloud.ClearFaults()
		a.Make(arm.GroupType, "group", group)
	}
}

// TestLostAnswer: what no answer came to is there all the same, and is not made again.
func TestLostAnswer(t *testing.T) {
	a := newTenant(t)
	_, err := a.Cloud.AddFault(standin.Fault{Kind: standin.FaultAnswerLost, Operation: standin.OpCreate, Type: "ResourceGroup"})
	assert.NilError(t, err)
	group := props{"resourceGroupName": demo, "location": arm.Location}
	a.denied(arm.GroupType, group, `Put "https://management.azure.com/providers/Microsoft.Resources/resourceGroups/demo": net/http: timeout awaiting response headers`)
	a.denied(arm.GroupType, group, "cannot create already existing resource '"+armid.Group(arm.Subscription, demo)+"'")
	_, err = a.Cloud.AddFault(standin.Fault{Kind: standin.FaultAnswerLost, Operation: standin.OpDelete, Type: "ResourceGroup"})
	assert.NilError(t, err)
	made := &thing{Token: arm.GroupType, ID: armid.Group(arm.Subscription, demo)}
	standintest.Refuses(t, a.Delete(made), `Delete "https://management.azure.com`+made.ID+`": net/http: timeout awaiting response headers`)
	assert.NilError(t, a.Delete(made))
}

// TestGroupBeingDeleted: nothing is made in a group that goes.
func TestGroupBeingDeleted(t *testing.T) {
	w := newNetwork(t)
	w.atPace(0.01)
	gone := make(chan error, 1)
	go func() { gone <- w.Delete(w.group) }()
	want := `Status=409 Code="ResourceGroupBeingDeleted" Message="The resource group 'demo' is in deprovisioning state and cannot perform this operation."`
	w.Eventually("the group is being deleted", func() bool {
		_, err := w.Try(network.RouteTableType, "x", w.inGroup(props{"routeTableName": arm.UUID()}))
		return err != nil && strings.Contains(err.Error(), want)
	})
	assert.NilError(t, <-gone)
	assert.Equal(t, len(w.Cloud.Inventory()), 0)
}
