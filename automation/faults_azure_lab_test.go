//go:build lab

package automation

import (
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/azure/arm"
	"tombolo/lab/standin"
	"tombolo/tests/tier"
)

const (
	azureNetwork    = "azure-native:network/v20190601:VirtualNetwork"
	azureAssignment = "azure-native:authorization/v20220401:RoleAssignment"
	azureCredential = "azure-native:managedidentity/v20230131:FederatedIdentityCredential"
	aksCluster      = "azure-native:containerservice/v20240901:ManagedCluster"
	aksPool         = "azure-native:containerservice/v20240901:AgentPool"
)

// TestFaultsOfAzureAreRetried: an up meets one thing after another that goes away by itself. It
// tries again each time, and makes nothing twice.
func TestFaultsOfAzureAreRetried(t *testing.T) {
	tier.Short(t, "Azure's faults that go away cost another try and make nothing twice")
	t.Parallel()
	b := newAzureBench(t, azureFile(t, "azure-full"))
	b.deps.pauses = make([]time.Duration, 10)
	b.refuse = map[string]error{
		azureAssignment: &arm.Error{Status: 400, Code: "PrincipalNotFound", Message: "Principal 1 does not exist in the directory 2."},
		azureCredential: &arm.Error{
			Status: 409, Code: "ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity",
			Message: "Too many Federated Identity Credentials are written concurrently for the managed identity.",
		},
		aksPool: &arm.Error{Status: 409, Code: "OperationNotAllowed", Message: "Operation is not allowed because there's an in progress update managed cluster operation on the managed cluster started at 1."},
	}
	for _, f := range []standin.Fault{
		{Kind: standin.FaultThrottled, Operation: standin.OpCreate, Type: azureNetwork, Count: standin.Attempts},
		{Kind: standin.FaultAnswerLost, Operation: standin.OpCreate, Type: aksCluster},
	} {
		_, err := b.cloud.AddFault(f)
		assert.NilError(t, err)
	}
	_, err := b.up()
	assert.NilError(t, err)
	assert.Check(t, is.Len(b.cloud.Faults(), 0))
	assert.Check(t, is.Len(b.refuse, 0))
	notes := strings.Join(b.seen.notes(), "\n")
	for _, want := range []string{"SubscriptionRequestsThrottled", "got no answer; adopted " + aksCluster} {
		assert.Check(t, is.Contains(notes, want)) // of several causes, the first is told
	}
	b.converged()
	b.destroyed()
}
