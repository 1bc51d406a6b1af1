package automation

import (
	"context"
	"os"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/rollout"
	"tombolo/automation/trace"
	"tombolo/automation/trace/tracetest"
	"tombolo/config"
)

// traced is a bench whose runs have a trace; end ends it, and returns what the collector has read.
func traced(t *testing.T) (b *bench, end func(err error) *tracetest.Collector) {
	t.Helper()
	c := tracetest.NewGRPC(t)
	c.Setenv(t)
	b = newBench(t)
	b.cli.plan = map[string][]apitype.EngineEvent{}
	run, err := trace.Start(t.Context(), trace.Options{Lookup: os.LookupEnv, Command: "up"})
	assert.NilError(t, err)
	b.opts.Trace = run
	return b, func(err error) *tracetest.Collector {
		t.Helper()
		assert.NilError(t, run.End(trace.End{Err: err}))
		return c
	}
}

const (
	vpcURN     = "urn:pulumi:demo-core::tombolo::aws:ec2/vpc:Vpc::demo"
	clusterURN = "urn:pulumi:demo-core::tombolo::aws:eks/cluster:Cluster::demo"
)

func over(op apitype.OpType, urn string) apitype.EngineEvent {
	m := announced(op, urn, nil).ResourcePreEvent.Metadata
	return apitype.EngineEvent{ResOutputsEvent: &apitype.ResOutputsEvent{Metadata: m}}
}

func TestTraceOfAnUp(t *testing.T) {
	b, end := traced(t)
	b.cli.plan["up demo-core"] = []apitype.EngineEvent{
		announced(apitype.OpCreate, vpcURN, nil), over(apitype.OpCreate, vpcURN),
		announced(apitype.OpCreate, clusterURN, map[string]any{"token": "hunter2"}), over(apitype.OpCreate, clusterURN),
	}
	b.mustUp(t, demo(), UpOptions{})
	c := end(nil)
	assert.Equal(t, c.Tree(t), `tombolo up
  cluster demo
    up bootstrap
    up core
      create aws:ec2/vpc:Vpc
      create aws:eks/cluster:Cluster
`)
	core := c.Named("up core")[0]
	assert.Check(t, is.Equal(core.Attributes["tombolo.changes.create"], "2"))
	assert.Check(t, is.Equal(core.Attributes["pulumi.stack"], "demo-core"))
}

func TestTraceOfAFailedUp(t *testing.T) {
	b, end := traced(t)
	failed := announced(apitype.OpCreate, vpcURN, nil)
	b.cli.fail["up demo-core"] = failure{events: []apitype.EngineEvent{
		failed,
		{DiagnosticEvent: &apitype.DiagnosticEvent{Severity: "error", URN: vpcURN, Message: "<{%fg 1%}>error: <{%reset%}>VpcLimitExceeded: no more VPCs\n"}},
		{ResOpFailedEvent: &apitype.ResOpFailedEvent{Metadata: failed.ResourcePreEvent.Metadata}},
	}}
	_, err := b.Up(t.Context(), demo(), UpOptions{})
	assert.ErrorContains(t, err, "VpcLimitExceeded")
	assert.Equal(t, end(err).Tree(t), `tombolo up ! up demo-core: aws:ec2/vpc:Vpc demo: VpcLimitExceeded: no more VPCs; `+quotaRemedy+`
  cluster demo
    up core ! up demo-core: aws:ec2/vpc:Vpc demo: VpcLimitExceeded: no more VPCs; `+quotaRemedy+`
      create aws:ec2/vpc:Vpc ! VpcLimitExceeded: no more VPCs
`)
}

// TestTraceOfAFleet: the run of a command on two waves.
func TestTraceOfAFleet(t *testing.T) {
	b, end := traced(t)
	b.cli.fail["up west-core"] = failure{diagnostics: []apitype.DiagnosticEvent{{Severity: "error", Message: "ExpiredToken: it expired"}}}
	runner := rollout.Runner{
		Operation: "up", Waves: true, Parallel: 2, Observer: b.opts.Trace,
		Work: func(ctx context.Context, name string) (rollout.Work, error) {
			c := demo()
			c.Name = name
			r, err := b.Up(ctx, c, UpOptions{})
			return rollout.Work{Phase: "core", Changes: r.Stacks[0].Changes}, err
		},
		Gate: func(context.Context, int, []string) error { return nil },
	}
	summary, err := runner.Run(t.Context(), []rollout.Job{{Cluster: "canary"}, {Cluster: "east", Wave: 1}, {Cluster: "west", Wave: 1}})
	assert.NilError(t, err)
	const expired = "up west-core: ExpiredToken: it expired; renew the cloud credentials and run the same command again"
	assert.Equal(t, end(summary.Err()).Tree(t), `tombolo up ! up: 2 of 3 clusters succeeded, 1 failed; first cause: `+expired+`
  wave 0
    cluster canary
      up bootstrap
      up core
    gate 0
  wave 1 ! `+expired+`
    cluster east
      up bootstrap
      up core
    cluster west ! `+expired+`
      up core ! `+expired+`
`)
}

func TestTraceOfPreviewDestroyAndDrift(t *testing.T) {
	b, end := traced(t)
	b.cli.states["demo-core"], b.cli.states["demo-bootstrap"] = deployed("demo-core"), deployed("demo-bootstrap")
	b.mustPreview(t, demo(), PreviewOptions{})
	b.cli.plan["refresh demo-core"] = []apitype.EngineEvent{
		announced(apitype.OpRefresh, vpcURN, nil), over(apitype.OpDelete, vpcURN),
	}
	_, err := b.Drift(t.Context(), demo(), DriftOptions{})
	assert.NilError(t, err)
	c := end(nil)
	assert.Equal(t, c.Tree(t), `tombolo up
  cluster demo
    preview bootstrap
    preview core
    preview refresh bootstrap
    preview refresh core
      refresh aws:ec2/vpc:Vpc
`)
	assert.Check(t, is.Equal(c.Named("refresh aws:ec2/vpc:Vpc")[0].Attributes["pulumi.resource.result"], "delete"))
}

// TestChannelAddress: it is read from where the file says, and from nowhere else.
func TestChannelAddress(t *testing.T) {
	b := newBench(t)
	c := demo()
	_, err := b.ChannelAddress(t.Context(), c)
	assert.Error(t, err, "demo has no gitops.channel")
	c.GitOps.Channel = &config.Channel{Type: config.SlackChannel, Address: &config.SecretRef{Env: "TOMBOLO_CHANNEL"}}
	b.opts.Env["TOMBOLO_CHANNEL"] = "https://hooks.example.com/hunter2"
	address, err := b.ChannelAddress(t.Context(), c)
	assert.NilError(t, err)
	assert.Equal(t, address, "https://hooks.example.com/hunter2")
	assert.Check(t, is.Len(b.cli.calls, 0))
	b.opts.Env["TOMBOLO_CHANNEL"] = "http://hooks.example.com/hunter2"
	_, err = b.ChannelAddress(t.Context(), c)
	assert.Error(t, err, "gitops.channel.address: it is http://, and who listens could write to the channel; use https://")
	c.GitOps.Channel.Address = &config.SecretRef{Config: "channel"}
	_, err = b.ChannelAddress(t.Context(), c)
	assert.ErrorContains(t, err, "gitops.channel.address: stack demo-bootstrap has no secret channel that can be read here")
}
