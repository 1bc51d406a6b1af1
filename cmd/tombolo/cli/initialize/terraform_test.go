package initialize

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config"
	"tombolo/stacks/catalog"
)

// choice is an error that has networks to choose from.
type choice string

func (c choice) Error() string     { return "it has no VPC " + string(c) }
func (c choice) Choices() []string { return nil }

// TestClusterInANetworkOfTerraform: the state answers for cloud, region, account and network, and a flag must not contradict it.
func TestClusterInANetworkOfTerraform(t *testing.T) {
	const subnet = "/subscriptions/" + subscription + "/resourceGroups/shared/providers/Microsoft.Network/virtualNetworks/shared/subnets/aks"
	vpc := catalog.TerraformNetwork{
		Region: "eu-west-1", Account: "444455556666", Isolated: []string{"subnet-0000000d"},
		Existing: config.ExistingNetwork{VPC: "vpc-0000000a", PrivateSubnets: []string{"subnet-0000000a", "subnet-0000000b"}, PublicSubnets: []string{"subnet-0000000c"}},
	}
	isolated := vpc
	isolated.Existing.PrivateSubnets = nil
	azure := catalog.TerraformNetwork{Region: "westeurope", Account: subscription, Outbound: config.OutboundRoutes, Existing: config.ExistingNetwork{NodeSubnet: subnet}}
	for name, test := range map[string]struct {
		found catalog.TerraformNetwork
		args  []string
		want  string
	}{
		"AWS":            {vpc, nil, ""},
		"shared in AWS":  {vpc, []string{"--account", "111122223333"}, ""},
		"Azure":          {azure, []string{"--tenant", tenant, "--admin-group", group}, ""},
		"another region": {vpc, []string{"--region", "eu-central-1"}, "--region is eu-central-1, and the network is in eu-west-1"},
		"another cloud":  {vpc, []string{"--cloud", "azure"}, "--cloud is azure, and the state has a network of aws"},
		"no state":       {vpc, []string{"--network", "none"}, "there is no state; give a state with a network that can be read here"},
		"no such VPC":    {vpc, []string{"--network", "vpc-0000000f"}, "it has no VPC vpc-0000000f; name one of them by --network <id>"},
		"no subnets":     {isolated, nil, "of vpc-0000000a the state has 0 private subnets, and EKS needs two; give a state that has the subnets"},
		"like":           {vpc, []string{"--like", "first"}, "--from-terraform does not go with --like"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			asked := ""
			networks := func(_ context.Context, in, address, of string) (catalog.TerraformNetwork, error) {
				asked = filepath.Join(in, address)
				switch of {
				case "":
				case "none":
					return catalog.TerraformNetwork{}, errors.New("there is no state")
				default:
					return catalog.TerraformNetwork{}, fmt.Errorf("read: %w", choice(of))
				}
				return test.found, nil
			}
			assert.NilError(t, os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte("name: tombolo\n"), 0o600))
			args := append([]string{"cluster", "shop", "--from-terraform", "network.tfstate", "--repository", "https://github.com/acme/clusters", "--private", "--yes"}, test.args...)
			said, err := beginWith(t, dir, "", networks, args...)
			if test.want != "" {
				assert.Check(t, is.ErrorContains(err, test.want))
				return
			}
			assert.NilError(t, err)
			assert.Check(t, is.Equal(asked, filepath.Join(dir, "network.tfstate")))
			c, err := config.Load(filepath.Join(dir, "clusters", "shop.yaml"))
			assert.NilError(t, err)
			want := test.found.Existing
			if name == "shared in AWS" {
				want.Account = "444455556666"
			}
			assert.Check(t, is.DeepEqual(*c.Network.Existing, want))
			assert.Check(t, is.Equal(c.Cloud.Region, test.found.Region))
			if len(test.found.Isolated) > 0 {
				assert.Check(t, is.Contains(said, "left out, as they have no default route: subnet-0000000d"))
			}
		})
	}
}
