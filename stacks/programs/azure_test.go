package programs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"sigs.k8s.io/yaml"

	"tombolo/components/recorder"
	"tombolo/internal/names"
	"tombolo/stacks"
	"tombolo/stacks/bootstrap"
	"tombolo/stacks/handoff"
)

// azureAccount answers like Azure for the credentials of the test's subscription.
func azureAccount() *recorder.Recorder {
	return &recorder.Recorder{Unborn: true, Invokes: map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
		"azure-native:authorization:getClientConfig": func(resource.PropertyMap) (resource.PropertyMap, error) {
			return resource.NewPropertyMapFromMap(map[string]any{
				"tenantId": "00000000-0000-4000-8000-00000000000a", "subscriptionId": "00000000-0000-4000-8000-000000000001", "clientId": "c", "objectId": "o",
			}), nil
		},
		"azure-native:resources:getResourceGroup": func(args resource.PropertyMap) (resource.PropertyMap, error) {
			return nil, &missingGroup{args["resourceGroupName"].StringValue()}
		},
	}}
}

type missingGroup struct{ name string }

func (e *missingGroup) Error() string { return "ResourceGroupNotFound: " + e.name }

// TestCoreOnAzure runs by plain Pulumi, without anything of AWS.
func TestCoreOnAzure(t *testing.T) {
	t.Setenv(ClustersVariable, filepath.Join("testdata", "clusters"))
	r := azureAccount()
	r.Sound(t, r.Run("cloudy-core", Plain, recorder.Preview))
	assert.Check(t, is.Len(r.OfType("azure-native:containerservice/v20240901:ManagedCluster"), 1))
	for _, res := range r.All() {
		assert.Check(t, !strings.Contains(res.Type, "aws") && !strings.Contains(res.Type, "eks"), "%s %s is of AWS", res.Type, res.Name)
	}
}

// TestPreviewersOnAzure: the API server knows the groups by their object ids.
func TestPreviewersOnAzure(t *testing.T) {
	r := &recorder.Recorder{}
	assert.NilError(t, run(t, r, load(t, "cloudy"), stacks.Bootstrap, Options{Placeholders: true}, recorder.Preview))
	binding, _ := r.Named("kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding", "cloudy-previews")
	binding.Expect(t, map[string]string{
		"subjects[0].name": "00000000-0000-4000-8000-0000000000a2", "subjects[1].name": "00000000-0000-4000-8000-0000000000a3",
	})
}

// azureTold are outputs of core.
func azureTold() map[string]any {
	const group = "/subscriptions/s/resourceGroups/cloudy/providers/"
	return map[string]any{
		"schemaVersion": float64(handoff.SchemaVersion), "cloud": "azure", "clusterName": "cloudy", "owner": "q5zk", "clusterId": group + "cluster",
		"clusterVersion": "1.35", "clusterEndpoint": anAPI, "clusterCa": "Y2E=", "region": "germanywestcentral", "oidcIssuer": "https://oidc",
		"addonOutputs": map[string]any{}, "subscriptionId": "s", "tenantId": "t", "resourceGroup": "cloudy", "nodeResourceGroup": "cloudy-nodes",
		"vnetId": group + "vnet", "vnetCidr": "10.0.0.0/16", "nodeSubnetId": group + "vnet/subnets/nodes", "kubeletClientId": "k0",
		"serviceClientIds": map[string]any{"shop": "c0"},
	}
}

// TestContentsOnAzure: GitOps reads the keys of its cloud, and a service its client id.
func TestContentsOnAzure(t *testing.T) {
	c := load(t, "cloudy")
	found, err := bootstrap.ContentsOf(t.Context(), c, c, azureTold(), nil)
	assert.NilError(t, err)
	general := found.Data["flux-system/infra-config"]
	for _, key := range names.InfraKeyNames(names.AzureCloud) {
		assert.Check(t, general[key] != "", "%s has no value", key)
	}
	assert.Check(t, is.Equal(general["network_id"], general["vnet_id"]))
	assert.Check(t, is.Equal(general["cluster_id"], azureTold()["clusterId"]))
	_, has := general["vpc_id"]
	assert.Check(t, !has, "vpc_id is published on Azure")
	var values map[string]any
	assert.NilError(t, yaml.Unmarshal([]byte(found.Data["shop/shop-values"]["values.yaml"]), &values))
	assert.DeepEqual(t, values["serviceAccount"], map[string]any{
		"create": true, "name": "shop", "annotations": map[string]any{"azure.workload.identity/client-id": "c0"},
	})
	assert.DeepEqual(t, values["podLabels"], map[string]any{"azure.workload.identity/use": "true"})
	assert.Check(t, !strings.Contains(found.Data["shop/reporter-values"]["values.yaml"], "workload.identity"))
}

// TestSpokeOnAzure: a hub in AWS reaches it by the token of a service account, and both are
// reached by the program of their own cloud.
func TestSpokeOnAzure(t *testing.T) {
	r, o := deployed(t)
	at := r.Outputs["pulumi:pulumi:StackReference"]["outputs"].ObjectValue()
	o.Told, o.Predicted, o.PredictedHub = true, azureTold(), told(load(t, "mgmt"))
	for _, outputs := range []map[string]any{o.Predicted, o.PredictedHub} {
		outputs["clusterEndpoint"], outputs["clusterCa"] = at["clusterEndpoint"].StringValue(), at["clusterCa"].StringValue()
	}
	programs, _, _ := strings.Cut(o.Env["PATH"], ":")
	assert.NilError(t, os.Symlink(filepath.Join(programs, "aws"), filepath.Join(programs, "kubelogin")))
	assert.NilError(t, run(t, r, load(t, "cloudspoke"), stacks.Bootstrap, o, recorder.Preview))
	for provider, program := range map[string]string{"kubernetes": "command: kubelogin", "hub": "command: aws"} {
		made, _ := r.Named("pulumi:providers:kubernetes", provider)
		assert.Check(t, is.Contains(made.String("kubeconfig"), program))
	}
	_, data := registrationOf(t, r, "cloudspoke")
	assert.Check(t, is.Contains(data["config"], `"bearerToken":"`+bearerToken+`"`))
}
