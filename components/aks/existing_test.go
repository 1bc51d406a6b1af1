package aks

import (
	"errors"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
)

// theirs is a cluster of others as Azure describes it.
func theirs() map[string]any {
	return map[string]any{
		"name": "main", "id": "/subscriptions/s/resourceGroups/apps/providers/Microsoft.ContainerService/managedClusters/main",
		"kubernetesVersion": "1.32.5", "supportPlan": "AKSLongTermSupport", "nodeResourceGroup": "MC_apps_main",
		"powerState": map[string]any{"code": "Running"}, "aadProfile": map[string]any{"managed": true},
		"oidcIssuerProfile": map[string]any{"enabled": true, "issuerURL": "https://oidc.example/main/"},
		"securityProfile":   map[string]any{"workloadIdentity": map[string]any{"enabled": true}},
		"identityProfile":   map[string]any{"kubeletidentity": map[string]any{"clientId": "kubelet"}},
		"agentPoolProfiles": []any{map[string]any{"name": "system", "vnetSubnetID": theirSubnet}},
	}
}

func adopt(t *testing.T, found map[string]any, use func(*Existing)) (*recorder.Recorder, error) {
	t.Helper()
	r := azure()
	r.Invokes[clusterLookup] = func(resource.PropertyMap) (resource.PropertyMap, error) {
		if found == nil {
			return nil, errors.New("ResourceNotFound")
		}
		return resource.NewPropertyMapFromMap(found), nil
	}
	return r, r.Run("demo-core", func(ctx *pulumi.Context) error {
		e, err := NewExisting(ctx, "demo", &ExistingArgs{Name: "main", ResourceGroup: "apps", WorkloadIdentity: true})
		if err != nil {
			return err
		}
		use(e)
		return recorder.Probe(ctx, pulumi.Map{
			"name": e.Name, "id": e.ID, "version": e.Version, "endpoint": e.Endpoint, "ca": e.CA,
			"issuer": e.OIDCIssuer, "nodes": e.NodeResourceGroup, "kubelet": e.KubeletClientID,
		})
	})
}

// TestExisting: nothing is made.
func TestExisting(t *testing.T) {
	r, err := adopt(t, theirs(), func(e *Existing) {
		assert.Check(t, is.Equal(e.SubnetID, theirSubnet))
	})
	r.Sound(t, err)
	r.Probed().Expect(t, map[string]string{
		"name": "main", "id": theirs()["id"].(string), "version": "1.32", "endpoint": "https://demo-abc.hcp.germanywestcentral.azmk8s.io:443", "ca": "Q0E=",
		"issuer": "https://oidc.example/main/", "nodes": "MC_apps_main", "kubelet": "kubelet",
	})
	for _, res := range r.All() {
		assert.Check(t, res.Type == existingType || res.Type == "test:index:Probe", "%s %s is made", res.Type, res.Name)
	}
}

func TestExistingRefuses(t *testing.T) {
	for want, change := range map[string]func(map[string]any){
		"it is a cluster that Tombolo made (tombolo:owner is q5zk): use its own cluster file and backend": func(c map[string]any) {
			c["tags"] = map[string]any{"tombolo:owner": "q5zk"}
		},
		"it is stopped: have its owner start it, with `az aks start`": func(c map[string]any) { c["powerState"] = map[string]any{"code": "Stopped"} },
		"it does not take identities of Entra: have the cluster's owner turn it on: az aks update --name main --resource-group apps --enable-aad": func(c map[string]any) {
			delete(c, "aadProfile")
		},
		"it has no OIDC issuer, which workload identity needs":             func(c map[string]any) { delete(c, "oidcIssuerProfile") },
		"it has no workload identity: have the cluster's owner turn it on": func(c map[string]any) { delete(c, "securityProfile") },
	} {
		found := theirs()
		change(found)
		_, err := adopt(t, found, func(*Existing) {})
		assert.Check(t, is.ErrorContains(err, "existing cluster main: "+want))
	}
	_, err := adopt(t, nil, func(*Existing) {})
	assert.Check(t, is.ErrorContains(err, "look it up in resource group apps: "))
	assert.Check(t, is.ErrorContains(err, "check kubernetes.existing and cloud.account"))
	_, err = recorder.Make("demo-core", "demo", NewExisting, &ExistingArgs{Name: "main"})
	assert.Check(t, is.ErrorContains(err, "existing cluster demo: name and resource group are required"))
}
