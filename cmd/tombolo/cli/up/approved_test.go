package up

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation"
	"tombolo/automation/approved"
	"tombolo/cmd/tombolo/cli/change"
	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/config"
	"tombolo/stacks"
)

const vpc = "urn:pulumi:s::p::aws:ec2/vpc:Vpc::demo-vpc"

// planner previews one step on a VPC, and makes a plan of it.
type planner struct {
	*driver
	observer automation.Observer
	op       apitype.OpType
	// unseen has a plan without secrets know nothing of the step.
	unseen bool
	// up is the error of an up.
	up error
	// applied is the commit that is recorded.
	applied string
}

func (p *planner) Preview(_ context.Context, c *config.Cluster, o automation.PreviewOptions) (automation.Result, error) {
	stack := c.Name + "-core"
	p.observer.StackStarted(stack, "preview")
	of, err := automation.PlanFiles(c)
	core := approved.Stack{Name: stack, Kind: stacks.Core, Steps: []approved.Step{}}
	if p.unseen {
		core.Unseen = []string{vpc}
		of.WithoutSecrets = o.WithoutSecrets
	}
	if p.op != "" && !o.WithoutSecrets {
		p.observer.EngineEvent(stack, events.EngineEvent{EngineEvent: apitype.EngineEvent{ResourcePreEvent: &apitype.ResourcePreEvent{
			Metadata: apitype.StepEventMetadata{
				Op: p.op, URN: vpc, Type: "aws:ec2/vpc:Vpc", Diffs: []string{"cidrBlock"},
				Old: &apitype.StepEventStateMetadata{Custom: true, ID: "vpc-1", Inputs: map[string]any{"cidrBlock": "10.0.0.0/16"}},
				New: &apitype.StepEventStateMetadata{Custom: true, Inputs: map[string]any{"cidrBlock": "10.1.0.0/16"}},
			},
		}}})
		core.Steps = []approved.Step{{URN: vpc, Op: string(p.op), Inputs: "sha256:i"}}
	}
	of.Stacks = []approved.Stack{core}
	return automation.Result{Cluster: c.Name, Plan: &of, Stacks: []automation.StackResult{{Stack: stack, Kind: stacks.Core, Operation: "preview"}}}, err
}

func (p *planner) Up(ctx context.Context, c *config.Cluster, o automation.UpOptions) (automation.Result, error) {
	if o.Approved == nil || o.Approved.Name != c.Name {
		panic("an up of something that nobody has approved")
	}
	r, _ := p.driver.Up(ctx, c, o)
	return r, p.up
}

// newPlanned is an up of a plan in which a VPC is updated.
func newPlanned(t *testing.T, args ...string) (*fixture, *planner) {
	t.Helper()
	dir := t.TempDir()
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "demo.yaml"), []byte("name: demo\n"), 0o600))
	return newPlannedOf(t, dir, args...)
}

// newPlannedOf is newPlanned for the cluster file in a directory.
func newPlannedOf(t *testing.T, dir string, args ...string) (*fixture, *planner) {
	t.Helper()
	demo := &config.Cluster{Name: "demo", File: filepath.Join(dir, "demo.yaml"), Cloud: config.Cloud{Provider: config.AWS}}
	p := &planner{op: apitype.OpUpdate, observer: nothing{}}
	return newPlannedBy(t, p, demo, automation.PreviewOptions{}, args...)
}

// newPlannedBy is an up of the plan that a preview with the options makes.
func newPlannedBy(t *testing.T, p *planner, demo *config.Cluster, o automation.PreviewOptions, args ...string) (*fixture, *planner) {
	t.Helper()
	r, err := p.Preview(t.Context(), demo, o)
	assert.NilError(t, err)
	plan, err := change.Plan([]change.Planned{{Cluster: demo, Plan: *r.Plan}}, false)
	assert.NilError(t, err)
	file := filepath.Join(t.TempDir(), "plan.json")
	_, err = plan.Write(file)
	assert.NilError(t, err)
	fx := newFixture(t, append(args, "demo", "--plan", file)...)
	p.driver = fx.driver
	fx.opts.Tools = func([]*config.Cluster) error { return nil }
	fx.opts.Clusters = clitest.Clusters(demo)
	fx.opts.Driver = func(_ context.Context, o automation.Observer) (Driver, error) { p.observer = o; return p, nil }
	return fx, p
}

// nothing is an observer that nobody needs.
type nothing struct{ automation.Observer }

func (nothing) StackStarted(string, string)            {}
func (nothing) EngineEvent(string, events.EngineEvent) {}

func TestUpOfAPlan(t *testing.T) {
	fx, _ := newPlanned(t)
	assert.NilError(t, upRun(t.Context(), fx.opts))
	assert.DeepEqual(t, fx.driver.calls, []string{"up demo"})
}

// TestUpOfAPlanWithoutSecrets: a cluster of which the plan has no step is changed if a secret is another
// one, and else left alone.
func TestUpOfAPlanWithoutSecrets(t *testing.T) {
	for op, want := range map[apitype.OpType][]string{apitype.OpUpdate: {"up demo"}, "": nil} {
		file := filepath.Join(t.TempDir(), "demo.yaml")
		assert.NilError(t, os.WriteFile(file, []byte("name: demo\n"), 0o600))
		demo := &config.Cluster{Name: "demo", File: file, Cloud: config.Cloud{Provider: config.AWS}}
		p := &planner{op: op, unseen: true, observer: nothing{}}
		fx, _ := newPlannedBy(t, p, demo, automation.PreviewOptions{WithoutSecrets: true})
		assert.NilError(t, upRun(t.Context(), fx.opts))
		assert.DeepEqual(t, fx.driver.calls, want)
	}
}

// TestUpOfAnotherPlan: the difference is shown as the comment on a change shows it.
func TestUpOfAnotherPlan(t *testing.T) {
	fx, p := newPlanned(t)
	p.op = apitype.OpReplace
	err := upRun(t.Context(), fx.opts)
	assert.ErrorContains(t, err, "it would replace aws:ec2/vpc:Vpc demo-vpc, which is not in the plan")
	assert.Assert(t, is.Len(fx.driver.calls, 0))
	for _, want := range []string{
		"- `demo-core: it would replace aws:ec2/vpc:Vpc demo-vpc, which is not in the plan`", "- aws:ec2:Vpc demo-vpc: replace  DANGER: network",
		`-    cidrBlock: "10.0.0.0/16"`, `+    cidrBlock: "10.1.0.0/16"`,
	} {
		assert.Check(t, is.Contains(fx.errOut.String(), want))
	}
	fx, p = newPlanned(t)
	p.op = ""
	fx.opts.JSON = func() bool { return true }
	assert.ErrorContains(t, upRun(t.Context(), fx.opts), "it would no longer update")
	assert.Check(t, is.Contains(fx.out.String(), `{"type":"difference","cluster":"demo","stack":"demo-core","urn":"`+vpc+`","what":"it would no longer update aws:ec2/vpc:Vpc demo-vpc, which is in the plan"}`))
}

// TestUpOfAnotherFile: what needs no preview is compared before anything is started.
func TestUpOfAnotherFile(t *testing.T) {
	fx, p := newPlanned(t)
	p.observer = nil // a preview would panic
	fx.opts.Driver = func(context.Context, automation.Observer) (Driver, error) { panic("a driver was started") }
	all, err := fx.opts.Clusters(nil)
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(all[0].File, []byte("name: demo # other\n"), 0o600))
	assert.ErrorContains(t, upRun(t.Context(), fx.opts), "demo: its cluster file has changed; nothing was changed")
}

// TestPolicyOfAPlan: the policy judges where the plan is applied, too.
func TestPolicyOfAPlan(t *testing.T) {
	const policy = "version: 1\nrules:\n  - name: networks\n    match: {types: [\"aws:ec2/*\"]}\n    decision: second-approval\n"
	for approvals, want := range map[string]string{"1": "tombolo.policy.yaml does not let the change pass: networks (second-approval)", "2": ""} {
		fx, _ := newPlanned(t, "--approvals", approvals)
		root, err := fx.opts.Root()
		assert.NilError(t, err)
		assert.NilError(t, os.WriteFile(filepath.Join(root, config.PolicyFile), []byte(policy), 0o600))
		err = upRun(t.Context(), fx.opts)
		if want == "" {
			assert.NilError(t, err)
			assert.DeepEqual(t, fx.driver.calls, []string{"up demo"})
			continue
		}
		assert.ErrorContains(t, err, want)
		assert.Assert(t, is.Len(fx.driver.calls, 0))
	}
}

// TestPlanOfNothing does nothing, and says so.
func TestPlanOfNothing(t *testing.T) {
	fx, p := newPlanned(t)
	p.op = ""
	p.replan(t, fx)
	assert.NilError(t, upRun(t.Context(), fx.opts))
	assert.Assert(t, is.Len(fx.driver.calls, 0))
	assert.Check(t, is.Contains(fx.errOut.String(), "the plan is empty: nothing to do"))
}

// replan makes the plan anew.
func (p *planner) replan(t *testing.T, fx *fixture) {
	t.Helper()
	all, err := fx.opts.Clusters(nil)
	assert.NilError(t, err)
	r, err := p.Preview(t.Context(), all[0], automation.PreviewOptions{})
	assert.NilError(t, err)
	plan, err := change.Plan([]change.Planned{{Cluster: all[0], Plan: *r.Plan}}, false)
	assert.NilError(t, err)
	_, err = plan.Write(fx.opts.Plan)
	assert.NilError(t, err)
}

func TestFlagsOfAPlan(t *testing.T) {
	for _, args := range []string{"demo --plan-digest sha256:0", "demo --plan p --refresh", "--resume --plan p", "demo --approvals 2", "demo --policy p"} {
		fx := newFixture(t, "demo")
		cmd := NewCmdUp(fx.factory, func(context.Context, *Options) error { return nil })
		if err := clitest.Execute(t, cmd, strings.Fields(args)...); err == nil {
			t.Errorf("%s was taken", args)
		}
	}
}
