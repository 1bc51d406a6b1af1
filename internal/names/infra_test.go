package names

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestInfraKeys(t *testing.T) {
	for cloud, id := range map[string]string{
		AWSCloud:   "arn:aws:eks:eu-central-1:111122223333:cluster/demo",
		AzureCloud: "/subscriptions/00000000-0000-4000-8000-000000000001/resourceGroups/demo/providers/Microsoft.ContainerService/managedClusters/demo",
	} {
		seen := map[string]bool{}
		examples := map[string]string{}
		for _, k := range InfraKeys(cloud, nil) {
			assert.Check(t, !seen[k.Name] && k.Name != "" && k.Description != "" && k.Example != "" && !strings.Contains(k.Example, "$"),
				"key %+v of %s is there twice or lacks something", k, cloud)
			seen[k.Name], examples[k.Name] = true, k.Example
		}
		assert.Check(t, is.Equal(examples["cluster_id"], id))
		assert.Check(t, is.Equal(examples["cloud"], cloud))
		names := InfraKeyNames(cloud)
		assert.Check(t, len(names) == len(seen) && names[0] == "cluster_name", "the names on %s are %v", cloud, names)
	}
}

func TestInfraKeysOfACluster(t *testing.T) {
	for _, k := range InfraKeys(AWSCloud, map[string]string{"cluster_name": "prod", "node_role_arn": "arn:other"}) {
		if want := "arn:aws:eks:eu-central-1:111122223333:cluster/prod"; k.Name == "cluster_arn" && k.Example != want {
			t.Errorf("cluster_arn of prod is like %s; expected %s", k.Example, want)
		}
		assert.Check(t, k.Name != "node_role_arn" || k.Example == "arn:other", "what is known of node_role_arn is passed over: %s", k.Example)
	}
}

// TestEachCloudHasItsKeys: keys of one cloud are not the other's.
func TestEachCloudHasItsKeys(t *testing.T) {
	for name, want := range map[string][]string{
		"cluster_id": {AWSCloud, AzureCloud}, "network_id": {AWSCloud, AzureCloud}, "account_id": {AWSCloud, AzureCloud},
		"vpc_id": {AWSCloud}, "cluster_arn": {AWSCloud}, "tenant_id": {AzureCloud}, "vnet_id": {AzureCloud}, "domain": nil,
	} {
		assert.Check(t, is.DeepEqual(InfraKeyClouds(name), want), name)
	}
	assert.Check(t, is.Len(InfraKeyNames("acme"), 0))
}

func TestCheckChannel(t *testing.T) {
	for address, want := range map[string]string{
		"https://hooks.slack.com/services/T0/B0/x":       "",
		"http://inbox.lab.test/platform":                 "",
		"https://prod.westeurope.logic.azure.com/x?s=1":  "",
		"https://contoso.webhook.office.com/webhookb2/x": "it is a connector at webhook.office.com, which Microsoft has retired; make a Workflow in the channel, and take its address",
		"http://hooks.example.com/s3cret":                "it is http://, and who listens could write to the channel; use https://",
		"hooks.example.com/s3cret":                       "it is no address of a webhook; give it as https://host/path",
		"":                                               "it is no address of a webhook; give it as https://host/path",
	} {
		got := ""
		if err := CheckChannel(address); err != nil {
			got = err.Error()
		}
		assert.Check(t, is.Equal(got, want), address)
	}
}
