package lab

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/aws"
	"tombolo/lab/azure"
	"tombolo/lab/standin"
)

// bothClouds share their faults, as in the daemon.
func bothClouds(t *testing.T) (onAWS, onAzure *standin.Cloud) {
	t.Helper()
	o := standin.Options{Clusters: noPlanes{}, Faults: &standin.Faults{}}
	onAWS, err := aws.Open(t.TempDir(), o)
	assert.NilError(t, err)
	t.Cleanup(onAWS.Close)
	onAzure, err = azure.Open(t.TempDir(), o)
	assert.NilError(t, err)
	t.Cleanup(onAzure.Close)
	return onAWS, onAzure
}

// TestFaultsOfBothClouds: a type says which cloud a fault is of; one of any type is of both.
func TestFaultsOfBothClouds(t *testing.T) {
	onAWS, onAzure := bothClouds(t)
	const azureSubnet = "azure-native:network/v20190601:Subnet"
	for _, tc := range []struct{ typ, want, err string }{
		{"Vpc", "aws:ec2/vpc:Vpc", ""},
		{"ManagedCluster", "azure-native:containerservice/v20240901:ManagedCluster", ""},
		{"azure-native:network:Subnet", azureSubnet, ""},
		{azureSubnet, azureSubnet, ""},
		{"*", "*", ""},
		{"Subnet", "", "add a fault: Subnet is of both clouds; use one of aws:ec2/subnet:Subnet, " + azureSubnet},
		{"azure-native:network:Subnett", "", "the Azure stand-in does not know the resource type azure-native:network:Subnett; did you mean " + azureSubnet},
		{"Vpz", "", "the AWS stand-in does not know the resource type Vpz; did you mean aws:ec2/vpc:Vpc?"},
	} {
		added, err := addFault(onAWS, onAzure, Fault{Kind: standin.FaultThrottled, Operation: standin.OpCreate, Type: tc.typ})
		if tc.err != "" {
			assert.Check(t, is.ErrorContains(err, tc.err))
			continue
		}
		assert.NilError(t, err)
		assert.Equal(t, added.Type, tc.want)
	}
	assert.DeepEqual(t, onAWS.Faults(), onAzure.Faults())
	assert.Equal(t, len(onAWS.Faults()), 5)
	assert.Equal(t, onAWS.ClearFaults(2), 1)
	assert.Equal(t, len(onAzure.Faults()), 4)
}

// TestDriftFindsTheCloud that has a resource, or else the one that knows its type.
func TestDriftFindsTheCloud(t *testing.T) {
	onAWS, onAzure := bothClouds(t)
	d := &daemon{accounts: accounts{onAWS}, azure: onAzure}
	_, err := onAzure.Client("").Create(t.Context(), "azure-native:resources:ResourceGroup", map[string]any{"resourceGroupName": "demo", "location": AzureRegion})
	assert.NilError(t, err)
	for typ, want := range map[string]*standin.Cloud{
		"ResourceGroup": onAzure, "ManagedCluster": onAzure, "azure-native:network:Subnet": onAzure, "azure-native:x": onAzure, "Vpc": onAWS, "Subnet": onAWS, "Vpz": onAWS,
	} {
		assert.Check(t, d.having(typ, "demo") == want, typ)
	}
	changed, err := d.having("ResourceGroup", "demo").Change(t.Context(), "ResourceGroup", "demo", map[string]any{"tags.team": "b"})
	assert.NilError(t, err)
	assert.Equal(t, changed.Name, "demo")
	_, err = d.having("ResourceGroup", "demo").Change(t.Context(), "ResourceGroup", "demo", map[string]any{"location": "westeurope"})
	assert.ErrorContains(t, err, "Azure cannot change location of an existing Microsoft.Resources/resourceGroups; delete it instead")
}
