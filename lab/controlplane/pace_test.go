package controlplane

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestStagesTakeTheirTime: at a pace, pods wait for their images and Karpenter's nodes for their boot.
func TestStagesTakeTheirTime(t *testing.T) {
	stage := func(name string) map[string]any {
		return map[string]any{"metadata": map[string]any{"name": name}, "spec": map[string]any{}}
	}
	delay := func(stage map[string]any) any { return stage["spec"].(map[string]any)["delay"] }
	from := func(expression string) any {
		return map[string]any{"durationFrom": map[string]any{"expressionFrom": expression}}
	}
	all := paced([]map[string]any{stage("pod-ready"), stage("pod-delete"), stage("node-initialize")}, 0.5)
	assert.Check(t, is.DeepEqual(delay(all[0]), from(`([.spec.initContainers[]?, .spec.containers[]] | map(.image) | unique | length) * 2400 | tostring + "ms"`)))
	assert.Check(t, is.Nil(delay(all[1])))
	assert.Check(t, is.DeepEqual(delay(all[2]), from(`if .metadata.labels["karpenter.sh/nodepool"] then "35500ms" else "0s" end`)))
	text, err := encodeStages(all)
	assert.NilError(t, err)
	assert.Check(t, is.Contains(string(text), "\n---\n"))
}
