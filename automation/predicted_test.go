package automation

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"

	"tombolo/automation/backend"
)

// What core's preview says that its outputs will be goes into bootstrap's.
func TestPreviewHandsOnWhatIsPredicted(t *testing.T) {
	b := newBench(t)
	preview := func(outputs map[string]any) map[string]any {
		b.cli.plan = map[string][]apitype.EngineEvent{"preview demo-core": {{ResOutputsEvent: &apitype.ResOutputsEvent{
			Planning: true, Metadata: apitype.StepEventMetadata{
				Op: apitype.OpSame, Type: backend.RootType, New: &apitype.StepEventStateMetadata{Outputs: outputs},
			},
		}}}}
		b.mustPreview(t, demo(), PreviewOptions{})
		return b.predicted
	}
	want := map[string]any{"clusterVersion": "1.36", "vpcId": "vpc-1"}
	assert.DeepEqual(t, preview(want), want)
	b.mustUp(t, demo(), UpOptions{})
	if got := preview(b.cli.outputs("demo-core")); got != nil {
		t.Errorf("core's outputs stay, and bootstrap was previewed with %v", got)
	}
	got := preview(map[string]any{"clusterVersion": "1.36", "token": "[secret]", "nested": []any{map[string]any{"a": "[secret]"}}})
	assert.DeepEqual(t, got, map[string]any{"clusterVersion": "1.36"})
}
