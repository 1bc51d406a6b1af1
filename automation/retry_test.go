package automation

import (
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
)

func TestUpTriesAgain(t *testing.T) {
	b := newBench(t)
	b.deps.pauses = []time.Duration{time.Millisecond, time.Millisecond}
	b.cli.fail["up demo-core"] = failure{once: true, diagnostics: []apitype.DiagnosticEvent{{
		URN: "urn:pulumi:s::tombolo::aws:ec2/vpc:Vpc::v", Severity: "error", Message: "api error RequestLimitExceeded: Request limit exceeded.",
	}}}
	result, err := b.Up(t.Context(), demo(), UpOptions{})
	assert.Check(t, err == nil && len(result.Stacks) == 2 && result.Stacks[0].Changes.Total() == 2, "result %+v, error %v", result, err)
	want := []string{"note demo-core: aws:ec2/vpc:Vpc v: api error RequestLimitExceeded: Request limit exceeded.; trying again in 1ms, 1 of 2"}
	assert.DeepEqual(t, b.seen.notes(), want)
}

func TestUpGivesUp(t *testing.T) {
	b := newBench(t)
	b.deps.pauses = []time.Duration{time.Millisecond, time.Millisecond}
	b.cli.fail["up demo-core"] = failure{diagnostics: []apitype.DiagnosticEvent{{
		URN: "urn:pulumi:s::tombolo::aws:ec2/vpc:Vpc::v", Severity: "error", Message: "api error RequestLimitExceeded: Request limit exceeded.",
	}}}
	_, err := b.Up(t.Context(), demo(), UpOptions{})
	assert.Error(t, err, "up demo-core: aws:ec2/vpc:Vpc v: api error RequestLimitExceeded: Request limit exceeded.; "+throttledRemedy)
	assert.DeepEqual(t, b.cli.operations(), []string{"up demo-core", "up demo-core", "up demo-core"})
}
