package tests

import (
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"

	"tombolo/automation/clouds"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/owner"
	"tombolo/stacks/programs"
)

// Whose clouds the programs ask about.
const (
	madeAccount      = "111122223333"
	madeSubscription = "00000000-0000-4000-8000-000000000001"
	madeTenant       = "00000000-0000-4000-8000-00000000000a"
)

// TestCoreMakesNothingThatIsLost runs the program of core for clusters that have all of it: each
// resource of a cloud whose creation was interrupted is found again.
func TestCoreMakesNothingThatIsLost(t *testing.T) {
	good := filepath.Join("..", "config", "testdata", "good")
	for _, cloud := range []struct {
		prefix string
		files  []string
		// some are types without which the test shows nothing about them.
		some []string
	}{
		{"aws:", []string{filepath.Join("testdata", "all-aws.yaml")}, []string{
			"aws:acm/certificate:Certificate", "aws:ec2/tag:Tag", "aws:efs/mountTarget:MountTarget", "aws:s3/bucketV2:BucketV2", "aws:sqs/queue:Queue",
		}},
		{"azure-native:", []string{filepath.Join(good, "azure-full.yaml"), filepath.Join(good, "azure-network.yaml"), filepath.Join(good, "azure-minimal.yaml")}, []string{
			"azure-native:containerservice/v20240901:ManagedCluster", "azure-native:network/v20190601:VirtualNetwork",
			"azure-native:authorization/v20220401:RoleAssignment", "azure-native:managedidentity/v20230131:FederatedIdentityCredential",
		}},
	} {
		made := &made{prefix: cloud.prefix, types: map[string]bool{}}
		var c *config.Cluster
		for _, file := range cloud.files {
			var err error
			c, err = config.Load(file)
			assert.NilError(t, err)
			program, err := programs.Of(c, stacks.Core, programs.Options{})
			assert.NilError(t, err)
			preview := func(info *pulumi.RunInfo) { info.DryRun = true }
			assert.NilError(t, pulumi.RunErr(program, pulumi.WithMocks(stacks.Project, c.Name+"-core", made), preview))
		}
		for token := range made.types {
			_, ok := clouds.All().Of(c, nil).Finder(token)
			assert.Check(t, ok, "an interrupted creation of %s is not found again: add a line to finders", token)
		}
		for _, token := range cloud.some {
			assert.Check(t, made.types[token], "no cluster has %s, so that this test shows nothing about it", token)
		}
	}
}

// made notes the types of a cloud's resources that a program makes.
type made struct {
	prefix string
	mu     sync.Mutex
	types  map[string]bool
}

func (m *made) NewResource(r pulumi.MockResourceArgs) (string, resource.PropertyMap, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if strings.HasPrefix(r.TypeToken, m.prefix) && r.Custom {
		m.types[r.TypeToken] = true
	}
	if r.TypeToken == owner.Type { // as the engine answers
		return r.Name, resource.PropertyMap{"input": r.Inputs["input"], "output": r.Inputs["input"]}, nil
	}
	return r.Name, r.Inputs, nil
}

func (m *made) Call(call pulumi.MockCallArgs) (resource.PropertyMap, error) {
	switch call.Token {
	case "aws:index/getCallerIdentity:getCallerIdentity":
		return resource.PropertyMap{"accountId": resource.NewProperty(madeAccount), "arn": resource.NewProperty("arn:aws:iam::" + madeAccount + ":user/u")}, nil
	case "aws:index/getPartition:getPartition":
		return resource.PropertyMap{"partition": resource.NewProperty("aws")}, nil
	case "aws:eks/getClusters:getClusters":
		return resource.PropertyMap{"names": resource.NewProperty([]resource.PropertyValue{})}, nil
	case "aws:eks/getAddonVersion:getAddonVersion":
		return resource.PropertyMap{"version": resource.NewProperty("v1.2.3-eksbuild.1")}, nil
	case "aws:resourcegroupstaggingapi/getResources:getResources":
		return resource.PropertyMap{}, nil
	case "aws:route53/getZone:getZone":
		return resource.PropertyMap{"name": resource.NewProperty("example.com")}, nil
	case "azure-native:authorization:getClientConfig":
		return resource.NewPropertyMapFromMap(map[string]any{"subscriptionId": madeSubscription, "tenantId": madeTenant, "clientId": "c", "objectId": "o"}), nil
	case "azure-native:resources:getResourceGroup":
		return nil, errors.New(`Status=404 Code="ResourceGroupNotFound"`)
	case "azure-native:network/v20190601:getSubnet":
		return resource.NewPropertyMapFromMap(map[string]any{"name": "aks", "purpose": "", "routeTable": map[string]any{
			"id": "/subscriptions/other/resourceGroups/network-team/providers/Microsoft.Network/routeTables/egress", "name": "egress", "type": "x",
		}}), nil
	case "azure-native:network/v20190601:getVirtualNetwork":
		return resource.NewPropertyMapFromMap(map[string]any{"name": "shared", "type": "x", "addressSpace": map[string]any{"addressPrefixes": []any{"10.8.0.0/14"}}}), nil
	case "azure-native:network/v20240601:getPrivateZone":
		return resource.NewPropertyMapFromMap(map[string]any{"name": "corp.example"}), nil
	case "azure-native:keyvault/v20230701:getVault":
		return resource.NewPropertyMapFromMap(map[string]any{
			"name": "shop", "properties": map[string]any{"vaultUri": "https://shop.vault.azure.net/", "enableRbacAuthorization": true, "tenantId": madeTenant, "sku": map[string]any{"family": "A", "name": "standard"}},
		}), nil
	case "azure-native:storage/v20230501:getBlobContainer":
		return resource.NewPropertyMapFromMap(map[string]any{"name": "loki"}), nil
	case "azure-native:containerservice/v20240901:listManagedClusterUserCredentials":
		kubeconfig := base64.StdEncoding.EncodeToString([]byte(`clusters: [{cluster: {server: "https://demo.example:443", certificate-authority-data: Q0E=}}]`))
		return resource.NewPropertyMapFromMap(map[string]any{"kubeconfigs": []any{map[string]any{"name": "clusterUser", "value": kubeconfig}}}), nil
	case "pulumi:pulumi:readStackResourceOutputs":
		return resource.PropertyMap{}, nil
	}
	return nil, fmt.Errorf("nobody answers %s", call.Token)
}
