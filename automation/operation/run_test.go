package operation

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

func takesAway(op apitype.OpType, kind, id string) events.EngineEvent {
	return events.EngineEvent{EngineEvent: apitype.EngineEvent{ResourcePreEvent: &apitype.ResourcePreEvent{
		Planning: true, Metadata: apitype.StepEventMetadata{Op: op, Type: kind, Old: &apitype.StepEventStateMetadata{ID: id, Custom: true}},
	}}}
}

func TestLostObjects(t *testing.T) {
	const secret, configMap = "kubernetes:core/v1:Secret", "kubernetes:core/v1:ConfigMap"
	for _, test := range []struct {
		op       apitype.OpType
		kind, id string
		want     string
	}{
		{apitype.OpDelete, secret, "argocd/cluster-spoke", "Secret argocd/cluster-spoke"},
		{apitype.OpReplace, secret, "argocd/cluster-spoke", "Secret argocd/cluster-spoke"},
		{apitype.OpCreateReplacement, configMap, "tombolo/infra-config", "ConfigMap tombolo/infra-config"},
		{apitype.OpDeleteReplaced, configMap, "flux-system/infra-config", "ConfigMap flux-system/infra-config"},
		{apitype.OpUpdate, secret, "argocd/cluster-spoke", ""},
		{apitype.OpDelete, secret, "argocd/platform-auth", ""},
		{apitype.OpDelete, secret, "other/cluster-spoke", ""},
		{apitype.OpDelete, configMap, "argocd/karpenter-values", ""},
		{apitype.OpDelete, "kubernetes:core/v1:Namespace", "infra-config", ""},
	} {
		rec := (&Session{}).newRecorded()
		rec.Record(takesAway(test.op, test.kind, test.id))
		rec.Record(takesAway(test.op, test.kind, test.id)) // it is named once
		assert.Check(t, is.Equal(strings.Join(rec.lost, ", "), test.want), "%s of %s %s: lost", test.op, test.kind, test.id)
	}
}
