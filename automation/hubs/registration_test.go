package hubs

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"

	"tombolo/config"
)

// TestLacks: only a label that the state and the file have is missed.
func TestLacks(t *testing.T) {
	applied := apitype.ResourceV3{Inputs: map[string]any{"metadata": map[string]any{"labels": map[string]any{"wave": "0", "addon-reloader": "on"}}}}
	c := &config.Cluster{Name: "spoke", GitOps: config.GitOps{Engine: config.ArgoCD, Hub: "mgmt"}}
	assert.Check(t, !lacks(map[string]string{"wave": "0"}, applied, c), "a label that the file has no more is missed")
	assert.Check(t, lacks(map[string]string{}, applied, c), "the wave is not missed")
}
