package drift

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation"
	"tombolo/automation/approved"
	"tombolo/automation/drift"
	"tombolo/automation/health"
	"tombolo/automation/rollout"
	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/stacks"
)

const (
	subnet = "aws:ec2/subnet:Subnet"
	bucket = "aws:s3/bucket:Bucket"
)

// simulated has clusters of which something differs until an up.
type simulated struct {
	mu       sync.Mutex
	observer automation.Observer
	// differs by cluster, and op, which a plan has on a resource of the type.
	differs map[string]drift.Difference
	op      apitype.OpType
	on      string
	// unapplied are clusters whose files have changes, and ups the clusters that were changed.
	unapplied, ups []string
	// failing are clusters whose ups fail, and ill those that are not healthy after it.
	failing, ill []string
}

func (d *simulated) Drift(_ context.Context, c *config.Cluster, _ automation.DriftOptions) (drift.Report, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := drift.Report{Cluster: c.Name, Stacks: []drift.Stack{{Stack: c.Name + "-core", Resources: 3}}}
	if of, ok := d.differs[c.Name]; ok {
		r.Differences = []drift.Difference{of}
	}
	return r, nil
}

func (d *simulated) Preview(_ context.Context, c *config.Cluster, o automation.PreviewOptions) (automation.Result, error) {
	core := automation.StackResult{Stack: c.Name + "-core", Kind: stacks.Core, Operation: "preview"}
	if !o.Refresh {
		if slices.Contains(d.unapplied, c.Name) {
			core.Changes = automation.Changes{"update": 1}
		}
		return automation.Result{Cluster: c.Name, Stacks: []automation.StackResult{core}}, nil
	}
	urn := "urn:pulumi:s::p::" + d.on + "::x"
	d.observer.StackStarted(core.Stack, "preview")
	d.observer.EngineEvent(core.Stack, events.EngineEvent{EngineEvent: apitype.EngineEvent{ResourcePreEvent: &apitype.ResourcePreEvent{
		Metadata: apitype.StepEventMetadata{
			Op: d.op, URN: urn, Type: d.on, Old: &apitype.StepEventStateMetadata{Custom: true, ID: "x-1"}, New: &apitype.StepEventStateMetadata{Custom: true},
		},
	}}})
	steps := []approved.Stack{{Name: core.Stack, Kind: stacks.Core, Steps: []approved.Step{{URN: urn, Op: string(d.op)}}}}
	return automation.Result{Cluster: c.Name, Stacks: []automation.StackResult{core}, Plan: &approved.Cluster{Name: c.Name, Stacks: steps}}, nil
}

func (d *simulated) Up(_ context.Context, c *config.Cluster, o automation.UpOptions) (automation.Result, error) {
	if o.Approved == nil || o.Approved.Name != c.Name || !o.Refresh {
		return automation.Result{}, errors.New("an up of something that was not planned")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ups = append(d.ups, c.Name)
	if slices.Contains(d.failing, c.Name) {
		return automation.Result{}, errors.New("the up failed")
	}
	delete(d.differs, c.Name)
	return automation.Result{Cluster: c.Name}, nil
}

func (d *simulated) Verify(_ context.Context, c *config.Cluster, _ health.Options) (health.Verification, error) {
	if slices.Contains(d.ill, c.Name) {
		return health.Verification{}, errors.New(c.Name + " is not healthy")
	}
	return health.Verification{}, nil
}

var changed = drift.Difference{Class: drift.Changed, Stack: "demo-core", Type: subnet, Name: "a", Properties: []drift.Property{{Path: "tags.owner", Expected: "ada", Actual: "bob"}}}

// remediate runs drift --remediate on the cluster demo, on a Monday at noon in Berlin, and
// returns what it said and the report.
func remediate(t *testing.T, d *simulated, policy config.Remediation, rules string) (stderr, report string, err error) {
	t.Helper()
	f, stderr, report, err := remediateAll(t, d, []*config.Cluster{{
		Name: "demo", Drift: config.DriftPolicy{Remediate: policy},
		ChangeWindows: []config.ChangeWindow{{Days: []config.Day{config.Monday}, From: "22:00", To: "04:00", TimeZone: "Europe/Berlin"}},
	}}, rules)
	if records, recordsErr := f.Records(); recordsErr != nil || (len(records) > 0) != (len(d.ups) > 0) {
		t.Errorf("%d runs were recorded for %d ups, %v", len(records), len(d.ups), recordsErr)
	} else if len(d.ups) > 0 {
		assert.Check(t, is.Equal(records[0].Ends["demo"].Outcome, rollout.Succeeded))
	}
	return stderr, report, err
}

// remediateAll runs it on several clusters, with the flags.
func remediateAll(t *testing.T, d *simulated, all []*config.Cluster, rules string, flags ...string) (f *factory.Factory, stderr, report string, err error) {
	t.Helper()
	root := clitest.Project(t, nil)
	args := append([]string{"--remediate"}, flags...)
	for _, c := range all {
		c.File, c.Cloud = filepath.Join(root, c.Name+".yaml"), config.Cloud{Provider: config.AWS}
		assert.NilError(t, os.WriteFile(c.File, []byte("name: "+c.Name+"\n"), 0o600))
		args = append(args, c.Name)
	}
	if rules != "" {
		assert.NilError(t, os.WriteFile(filepath.Join(root, config.PolicyFile), []byte(rules), 0o600))
	}
	console := clitest.At(root, render.Plain)
	cmd := NewCmdDrift(console.Factory, func(ctx context.Context, o *Options) error {
		o.Clusters = clitest.Clusters(all...)
		o.Now = func() time.Time { return time.Date(2026, 1, 5, 11, 0, 0, 0, time.UTC) }
		o.Driver = func(_ context.Context, observer automation.Observer) (Driver, error) {
			d.observer = observer
			return d, nil
		}
		return driftRun(ctx, o)
	})
	file := filepath.Join(root, "drift.md")
	err = clitest.Execute(t, cmd, append(args, "--report", file)...)
	text, readErr := os.ReadFile(file)
	assert.NilError(t, readErr)
	return console.Factory, console.ErrOut.String(), string(text), err
}

// TestRemediateWaves changes clusters wave after wave, within the limits that are given.
func TestRemediateWaves(t *testing.T) {
	for name, test := range map[string]struct {
		failing, ill, flags []string
		ups                 []string
	}{
		"all go well":               {ups: []string{"a", "b", "c"}},
		"one fails":                 {failing: []string{"a"}, ups: []string{"a", "b"}},
		"one may fail":              {failing: []string{"a"}, flags: []string{"--max-failures", "1"}, ups: []string{"a", "b", "c"}},
		"none may fail":             {failing: []string{"a"}, flags: []string{"--max-failures", "0"}, ups: []string{"a"}},
		"one is not healthy":        {ill: []string{"b"}, ups: []string{"a", "b"}},
		"nobody asks for health":    {ill: []string{"b"}, flags: []string{"--no-gate"}, ups: []string{"a", "b", "c"}},
		"they stay healthy a while": {flags: []string{"--bake", "1ms"}, ups: []string{"a", "b", "c"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := &simulated{differs: map[string]drift.Difference{}, op: apitype.OpUpdate, on: subnet, failing: test.failing, ill: test.ill}
			var all []*config.Cluster
			for i, n := range []string{"a", "b", "c"} {
				d.differs[n] = changed
				all = append(all, &config.Cluster{Name: n, Wave: i / 2, Drift: config.DriftPolicy{Remediate: config.RemediateAlways}})
			}
			_, stderr, _, err := remediateAll(t, d, all, "", append(test.flags, "--parallel", "1")...)
			assert.Check(t, is.DeepEqual(d.ups, test.ups), stderr)
			assert.Check(t, is.Equal(err == nil, len(d.differs) == 0 && test.ill == nil || slices.Contains(test.flags, "--no-gate")), "%v", err)
		})
	}
}

// TestRemediationFlags are refused where no cluster is changed.
func TestRemediationFlags(t *testing.T) {
	for _, flag := range []string{"--max-failures=1", "--bake=1m", "--no-gate", "--gate-timeout=1m"} {
		cmd := NewCmdDrift(clitest.New(t, render.Text).Factory, func(context.Context, *Options) error { return nil })
		assert.Check(t, is.ErrorContains(clitest.Execute(t, cmd, "demo", flag), "without --remediate: a comparison changes no cluster"))
	}
}

// TestRemediate puts right what the policy of the file allows, and nothing that only people
// may decide.
func TestRemediate(t *testing.T) {
	const denied = `version: 1
rules:
  - name: no-subnets
    match: {types: ["aws:ec2/*"]}
    decision: second-approval
`
	for name, test := range map[string]struct {
		policy  config.Remediation
		change  func(*simulated)
		rules   string
		want    string // why it is left; "" when it is put right
		nothing bool   // is to be put right
	}{
		"always": {policy: config.RemediateAlways},
		"what the program has all of": {policy: config.RemediateAlways, change: func(d *simulated) {
			d.differs["demo"] = drift.Difference{Class: drift.Missing, Stack: "demo-bootstrap", Type: "kubernetes:core/v1:ConfigMap", Name: "infra-config", ID: "flux-system/infra-config"}
		}},
		"never":                   {policy: config.RemediateNever, want: "drift.remediate of its file is never"},
		"outside of a window":     {policy: config.RemediateInWindow, want: "it is outside of its change windows: the window opens at Mon 2026-01-05 22:00 +0100 (Europe/Berlin)"},
		"a file that was changed": {policy: config.RemediateAlways, change: func(d *simulated) { d.unapplied = []string{"demo"} }, want: "its file has changes that were not applied: `tombolo up demo`"},
		"a replacement of data":   {policy: config.RemediateAlways, change: func(d *simulated) { d.op, d.on = apitype.OpReplace, bucket }, want: "it would replace aws:s3:Bucket x ("},
		"data that is missing": {policy: config.RemediateAlways, change: func(d *simulated) {
			d.differs["demo"] = drift.Difference{Class: drift.Missing, Stack: "demo-core", Type: bucket, Name: "x", ID: "x-1"}
		}, want: "aws:s3:Bucket x is missing ("},
		"the project's policy": {policy: config.RemediateAlways, rules: denied, want: "no-subnets"},
		"what is unexpected": {policy: config.RemediateAlways, nothing: true, change: func(d *simulated) {
			d.differs["demo"] = drift.Difference{Class: drift.Unexpected, Type: "ec2:vpc", Name: "vpc-1", CloudID: "arn:aws:ec2:r:a:vpc/vpc-1"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			d := &simulated{differs: map[string]drift.Difference{"demo": changed}, op: apitype.OpUpdate, on: subnet}
			if test.change != nil {
				test.change(d)
			}
			stderr, report, err := remediate(t, d, test.policy, test.rules)
			if test.want == "" && !test.nothing {
				assert.NilError(t, err)
				assert.Check(t, is.DeepEqual(d.ups, []string{"demo"}))
				assert.Check(t, is.Equal(report, ""))
				return
			}
			assert.Check(t, is.ErrorContains(err, "drift in demo"))
			assert.Check(t, is.Len(d.ups, 0))
			if test.nothing {
				return
			}
			assert.Check(t, is.Contains(stderr, "! demo is left to people: "))
			assert.Check(t, is.Contains(stderr, test.want))
			assert.Check(t, is.Contains(report, "It is left to people: "))
		})
	}
}
