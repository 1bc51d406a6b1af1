package automation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

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
		if _, err := b.Preview(t.Context(), demo(), PreviewOptions{}); err != nil {
			t.Fatal(err)
		}
		return b.predicted
	}
	want := map[string]any{"clusterVersion": "1.36", "vpcId": "vpc-1"}
	if diff := cmp.Diff(want, preview(want)); diff != "" {
		t.Errorf("before core exists (-want +got):\n%s", diff)
	}
	if _, err := b.Up(t.Context(), demo(), UpOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := preview(b.cli.outputs("demo-core")); got != nil {
		t.Errorf("core's outputs stay, and bootstrap was previewed with %v", got)
	}
	got := preview(map[string]any{"clusterVersion": "1.36", "token": "[secret]", "nested": []any{map[string]any{"a": "[secret]"}}})
	if diff := cmp.Diff(map[string]any{"clusterVersion": "1.36"}, got); diff != "" {
		t.Errorf("with secrets (-want +got):\n%s", diff)
	}
}
