package automation

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"

	"tombolo/automation/backend"
	"tombolo/automation/drift"
	"tombolo/automation/pulumicli"
	"tombolo/automation/recovery"
	"tombolo/config"
)

// refreshed is the end of a resource's refresh.
func refreshed(op apitype.OpType, typ, name string) apitype.EngineEvent {
	old := &apitype.StepEventStateMetadata{Custom: true, ID: "id-" + name, Inputs: map[string]any{"size": 1.0}}
	m := apitype.StepEventMetadata{Op: op, Type: typ, URN: "urn:pulumi:s::tombolo::" + typ + "::" + name, Old: old}
	if op != apitype.OpDelete {
		m.New = &apitype.StepEventStateMetadata{Custom: true, ID: old.ID, Inputs: map[string]any{"size": 2.0}}
		m.DetailedDiff = map[string]apitype.PropertyDiff{"size": {Kind: apitype.DiffUpdate}}
	}
	return apitype.EngineEvent{ResOutputsEvent: &apitype.ResOutputsEvent{Metadata: m, Planning: true}}
}

// driftBench is a bench with both stacks deployed, and a cloud with sightings.
func driftBench(t *testing.T, seen ...recovery.Sighting) *bench {
	t.Helper()
	b := newBench(t)
	b.cli.states["demo-core"], b.cli.states["demo-bootstrap"] = deployed("demo-core"), deployed("demo-bootstrap")
	b.cli.plan = map[string][]apitype.EngineEvent{}
	b.cloud.lookup = func(context.Context, *config.Cluster, string, []recovery.Query) ([]recovery.Sighting, error) {
		return seen, nil
	}
	return b
}

var untimed = cmpopts.IgnoreFields(drift.Report{}, "At", "Seconds")

func TestDrift(t *testing.T) {
	b := driftBench(t,
		recovery.Sighting{CloudID: "arn:aws:ec2:eu-central-1:111122223333:vpc/vpc-1"},
		recovery.Sighting{CloudID: "arn:aws:ec2:eu-central-1:111122223333:security-group/sg-1"},
		recovery.Sighting{CloudID: "arn:aws:ec2:eu-central-1:111122223333:instance/i-1", Tags: map[string]string{"eks:nodegroup-name": "x"}},
	)
	b.cli.plan["refresh demo-core"] = []apitype.EngineEvent{
		refreshed(apitype.OpSame, "aws:ec2/vpc:Vpc", "v"), refreshed(apitype.OpDelete, "aws:ec2/subnet:Subnet", "a"),
	}
	b.cli.plan["refresh demo-bootstrap"] = []apitype.EngineEvent{refreshed(apitype.OpUpdate, "kubernetes:core/v1:ConfigMap", "c")}
	got, err := b.Drift(t.Context(), demo(), DriftOptions{})
	assert.NilError(t, err)
	want := drift.Report{
		Cluster: "demo",
		Stacks:  []drift.Stack{{Stack: "demo-core", Resources: 2}, {Stack: "demo-bootstrap", Resources: 1}},
		Differences: []drift.Difference{
			{Class: drift.Missing, Stack: "demo-core", Type: "aws:ec2/subnet:Subnet", Name: "a", ID: "id-a", URN: "urn:pulumi:s::tombolo::aws:ec2/subnet:Subnet::a"},
			{
				Class: drift.Changed, Stack: "demo-bootstrap", Type: "kubernetes:core/v1:ConfigMap", Name: "c", ID: "id-c",
				URN:        "urn:pulumi:s::tombolo::kubernetes:core/v1:ConfigMap::c",
				Properties: []drift.Property{{Path: "size", Expected: 1.0, Actual: 2.0}},
			},
			{Class: drift.Unexpected, Type: "ec2:security-group", Name: "sg-1", CloudID: "arn:aws:ec2:eu-central-1:111122223333:security-group/sg-1"},
		},
		LeftOut: []drift.LeftOut{{Maker: "EKS node groups", Count: 1}},
	}
	assert.DeepEqual(t, got, want, untimed)
	assert.DeepEqual(t, b.seen.lines, []string{
		"started preview refresh demo-core", "finished demo-core map[missing:1 same:1] true",
		"started preview refresh demo-bootstrap", "finished demo-bootstrap map[changed:1 same:0] true",
	})
}

// A cluster without stacks has none afterwards. Without an identity nothing in the
// cloud is known to be of it.
func TestDriftOfNothing(t *testing.T) {
	b := driftBench(t, recovery.Sighting{CloudID: "arn:aws:ec2:eu-central-1:111122223333:vpc/vpc-1"})
	clear(b.cli.states)
	got, err := b.Drift(t.Context(), demo(), DriftOptions{})
	assert.NilError(t, err)
	want := []drift.Stack{{Stack: "demo-core", Skipped: "it was not deployed"}, {Stack: "demo-bootstrap", Skipped: "it was not deployed"}}
	diff := cmp.Diff(want, got.Stacks)
	assert.Check(t, diff == "" && got.Count(drift.Unexpected) == 0, "found %v, stacks (-want +got):\n%s", got.Differences, diff)
	assert.Check(t, len(b.cli.states) == 0 && len(b.cli.operations()) == 0,
		"stacks %v were made, and %v ran", b.cli.states, b.cli.operations())
}

// Without the cluster, nothing on it can be asked for.
func TestDriftWithoutTheCluster(t *testing.T) {
	b := driftBench(t)
	b.cli.plan["refresh demo-core"] = []apitype.EngineEvent{refreshed(apitype.OpDelete, "aws:eks/cluster:Cluster", "demo")}
	got, err := b.Drift(t.Context(), demo(), DriftOptions{})
	assert.NilError(t, err)
	assert.Check(t, got.Count(drift.Missing) == 1 && got.Stacks[1].Skipped == "the cluster that it is on is gone",
		"found %v in %v", got.Differences, got.Stacks)
	want := []string{"refresh demo-core"}
	assert.Check(t, slices.Equal(b.cli.operations(), want), "ran %v, want %v", b.cli.operations(), want)
}

// One stack that fails does not keep the other from being compared; but what is
// unexpected cannot be told.
func TestDriftFails(t *testing.T) {
	b := driftBench(t, recovery.Sighting{CloudID: "arn:aws:ec2:eu-central-1:111122223333:vpc/vpc-2"})
	b.cli.fail["refresh demo-core"] = failure{diagnostics: []apitype.DiagnosticEvent{{Severity: "error", Message: "ExpiredToken: it expired"}}}
	b.cli.plan["refresh demo-bootstrap"] = []apitype.EngineEvent{refreshed(apitype.OpUpdate, "kubernetes:core/v1:ConfigMap", "c")}
	got, err := b.Drift(t.Context(), demo(), DriftOptions{})
	const want = "preview refresh demo-core: ExpiredToken: it expired; renew the cloud credentials and run the same command again"
	if deployment := new(pulumicli.Error); !errors.As(err, &deployment) || err.Error() != want || got.Error != want {
		t.Errorf("error is %T %v, in the report %q", err, err, got.Error)
	}
	assert.Check(t, got.Stacks[0].Skipped == want && len(got.Differences) == 1 && got.Differences[0].Class == drift.Changed,
		"found %v in %v", got.Differences, got.Stacks)
}

func TestDriftLookupFails(t *testing.T) {
	b := driftBench(t)
	b.cloud.lookup = func(context.Context, *config.Cluster, string, []recovery.Query) ([]recovery.Sighting, error) {
		return nil, &pulumicli.Error{Stack: "demo", Operation: "look up", Reasons: []string{"denied"}}
	}
	_, err := b.Drift(t.Context(), demo(), DriftOptions{})
	const want = "look for unexpected resources of demo: denied; allow tag:GetResources to the credentials in use, and run the same command again"
	assert.Error(t, err, want)
}

func TestDriftOfBusyStack(t *testing.T) {
	b := driftBench(t)
	core := b.cli.states["demo-core"]
	core.PendingOperations = []apitype.OperationV2{{Type: apitype.OperationTypeUpdating}}
	b.cli.states["demo-core"] = core
	owner := backend.Owner{PID: 7, Host: "elsewhere", User: "ada"}
	b.lock(t, "demo-bootstrap", owner)
	b.cli.states["demo-bootstrap"] = deployed("demo-bootstrap")
	got, err := b.Drift(t.Context(), demo(), DriftOptions{})
	assert.NilError(t, err)
	for i, want := range []string{"1 operation on it was interrupted", "it is locked by " + owner.String()} {
		assert.Check(t, got.Stacks[i].Busy == want, "%s: busy is %q, want %q", got.Stacks[i].Stack, got.Stacks[i].Busy, want)
	}
}
