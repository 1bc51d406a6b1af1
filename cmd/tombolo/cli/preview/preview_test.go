package preview

import (
	"context"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation"
	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/config/strict"
)

// driver announces one new ConfigMap in bootstrap, as the engine would.
type driver struct{ observer automation.Observer }

func (d driver) Preview(_ context.Context, c *config.Cluster, _ automation.PreviewOptions) (automation.Result, error) {
	stack, changes := c.Name+"-bootstrap", automation.Changes{"create": 1}
	d.observer.StackStarted(stack, "preview")
	d.observer.EngineEvent(stack, events.EngineEvent{EngineEvent: apitype.EngineEvent{
		ResourcePreEvent: &apitype.ResourcePreEvent{Planning: true, Metadata: apitype.StepEventMetadata{
			Op: apitype.OpCreate, Type: "kubernetes:core/v1:ConfigMap", URN: "urn:pulumi:s::p::kubernetes:core/v1:ConfigMap::infra-config",
			New: &apitype.StepEventStateMetadata{Custom: true, Inputs: map[string]any{
				"data": map[string]any{"vpc_id": "04da6b54-80e4-46f7-96ec-b56ff0331ba9", "region": "eu-central-1"},
			}},
		}},
	}})
	d.observer.StackFinished(stack, changes, nil)
	return automation.Result{Cluster: c.Name, Stacks: []automation.StackResult{
		{Stack: c.Name + "-core", Operation: "preview", Changes: automation.Changes{"same": 9}},
		{Stack: stack, Operation: "preview", Changes: changes, Placeholders: true},
	}}, nil
}

func (driver) List(context.Context, string) ([]automation.ClusterInfo, error) { return nil, nil }

func TestPreview(t *testing.T) {
	for _, test := range []struct {
		name   string
		args   []string
		format render.Format
		want   string
	}{
		{"text", []string{"demo"}, render.Text, `demo-core: 0 changes, 9 unchanged

demo-bootstrap: 1 to create
  previewed without core's outputs: what comes from them is unknown until core exists
  +  kubernetes:core/v1:ConfigMap  infra-config  (1 unknown)
`},
		{"details", []string{"demo", "--details"}, render.Text, `demo-core: 0 changes, 9 unchanged

demo-bootstrap: 1 to create
  previewed without core's outputs: what comes from them is unknown until core exists
  +  kubernetes:core/v1:ConfigMap  infra-config
       data.region: "eu-central-1"
       data.vpc_id: <unknown until core exists>
`},
		{"json", []string{"demo"}, render.JSON, `{"type":"plan","stack":"demo-core","placeholders":false,"changes":{"same":9},"steps":[]}
{"type":"plan","stack":"demo-bootstrap","placeholders":true,"changes":{"create":1},"steps":[{"op":"create","resource":"kubernetes:core/v1:ConfigMap","name":"infra-config","urn":"urn:pulumi:s::p::kubernetes:core/v1:ConfigMap::infra-config","unknown":["data.vpc_id"]}]}
{"type":"result","command":"preview","cluster":"demo","stacks":[{"stack":"demo-core","operation":"preview","changes":{"same":9},"changed":0,"seconds":0},{"stack":"demo-bootstrap","operation":"preview","changes":{"create":1},"changed":1,"seconds":0,"placeholders":true}],"seconds":0}
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := clitest.New(t, render.Text)
			cmd := NewCmdPreview(f.Factory, func(ctx context.Context, o *Options) error {
				o.Clusters = clitest.Clusters(&config.Cluster{Name: "demo"})
				o.Driver = func(_ context.Context, observer automation.Observer) (Driver, error) { return driver{observer}, nil }
				o.JSON = func() bool { return test.format == render.JSON }
				return previewRun(ctx, o)
			})
			assert.NilError(t, clitest.Execute(t, cmd, test.args...))
			assert.Check(t, is.Equal(f.Out.String(), test.want))
		})
	}
}

// TestWarningsOfTheFile: preview shows what the cluster file has warnings for: to people
// beside the plan, and in the JSON format as a document.
func TestWarningsOfTheFile(t *testing.T) {
	c := &config.Cluster{Name: "demo", File: "demo.yaml", Warnings: strict.Problems{
		{File: "demo.yaml", Line: 9, Column: 12, Path: "kubernetes.version", Message: "1.34 is old", Remedy: "upgrade it"},
	}}
	const line = "demo.yaml:9:12: warning: kubernetes.version: 1.34 is old; upgrade it\n"
	for format, args := range map[render.Format][]string{
		render.Text: {"demo"}, render.Markdown: {"demo", "--output", "markdown"}, render.JSON: {"demo", "--output", "json"},
	} {
		f := clitest.New(t, render.Text)
		cmd := NewCmdPreview(f.Factory, func(ctx context.Context, o *Options) error {
			o.Clusters = clitest.Clusters(c)
			o.Driver = func(_ context.Context, observer automation.Observer) (Driver, error) { return driver{observer}, nil }
			return previewRun(ctx, o)
		})
		assert.NilError(t, clitest.Execute(t, cmd, args...))
		assert.Equal(t, strings.Contains(f.ErrOut.String(), line), format != render.JSON, "%s: %s", format, f.ErrOut)
		if format == render.JSON {
			const want = `{"type":"warnings","file":"demo.yaml","cluster":"demo","warnings":[{"file":"demo.yaml","line":9,"column":12,` +
				`"path":"kubernetes.version","message":"1.34 is old","remedy":"upgrade it"}]}`
			first, _, _ := strings.Cut(f.Out.String(), "\n")
			assert.Equal(t, first, want)
		}
		// The comment of a pull request has them too; the plan in a terminal has not.
		assert.Equal(t, strings.Contains(f.Out.String(), "is old"), format != render.Text, "%s: %s", format, f.Out)
	}
}
