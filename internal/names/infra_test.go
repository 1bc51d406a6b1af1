package names

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestInfraKeys(t *testing.T) {
	seen := map[string]bool{}
	examples := map[string]string{}
	for _, k := range InfraKeys(nil) {
		if seen[k.Name] || k.Name == "" || k.Description == "" || k.Example == "" || strings.Contains(k.Example, "$") {
			t.Errorf("key %+v is there twice or lacks something", k)
		}
		seen[k.Name], examples[k.Name] = true, k.Example
	}
	assert.Check(t, is.Equal(examples["cluster_arn"], "arn:aws:eks:eu-central-1:111122223333:cluster/demo"))
	for _, k := range InfraKeys(map[string]string{"cluster_name": "prod", "node_role_arn": "arn:other"}) {
		if want := "arn:aws:eks:eu-central-1:111122223333:cluster/prod"; k.Name == "cluster_arn" && k.Example != want {
			t.Errorf("cluster_arn of prod is like %s; expected %s", k.Example, want)
		}
		if k.Name == "node_role_arn" && k.Example != "arn:other" {
			t.Errorf("what is known of node_role_arn is passed over: %s", k.Example)
		}
	}
	if names := InfraKeyNames(); len(names) != len(seen) || names[0] != "cluster_name" {
		t.Errorf("the names are %v", names)
	}
}
