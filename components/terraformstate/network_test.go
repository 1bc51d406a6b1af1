package terraformstate

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestNetwork: subnets by their tags and by their routes, in the two ways that the AWS provider writes a route.
func TestNetwork(t *testing.T) {
	dir := t.TempDir()
	assert.NilError(t, os.CopyFS(dir, os.DirFS("testdata")))
	r := Reader{Dir: dir, Getenv: func(string) string { return "" }}
	got, err := r.Network(t.Context(), "aws.tfstate", "")
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(got, Network{
		VPC: "vpc-0a", Region: "eu-central-1", Account: "111122223333",
		PrivateSubnets: []string{"subnet-a1", "subnet-a2", "subnet-tagged"}, PublicSubnets: []string{"subnet-b1"}, Isolated: []string{"subnet-c1"},
	}))
	const network = "/subscriptions/s/resourceGroups/shared/providers/Microsoft.Network/virtualNetworks/shared/subnets/"
	got, err = r.Network(t.Context(), "azure.tfstate", network+"aks")
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(got, Network{NodeSubnet: network + "aks", Account: "s", Region: "germanywestcentral", HasRoutes: true}))

	_, err = r.Network(t.Context(), "azure.tfstate", "")
	assert.Check(t, is.Error(err, "it has several of the kind VPC of AWS or subnet of Azure: "+network+"aks, "+network+"other"))
	several := new(ChoiceError)
	assert.Assert(t, errors.As(err, &several))
	assert.Check(t, is.DeepEqual(several.Choices(), []string{network + "aks", network + "other"}))
	_, err = r.Network(t.Context(), "aws.tfstate", "vpc-0b")
	assert.Check(t, is.Error(err, "it has no VPC vpc-0b; it has vpc-0a"))
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "empty.tfstate"), []byte(state), 0o600))
	_, err = r.Network(t.Context(), "empty.tfstate", "")
	assert.Check(t, is.Error(err, "it has no VPC of AWS or subnet of Azure"))
}
