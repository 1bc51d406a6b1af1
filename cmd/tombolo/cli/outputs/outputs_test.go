package outputs

import (
	"context"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/automation"
	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/stacks"
)

func run(t *testing.T, format render.Format, args ...string) (string, error) {
	t.Helper()
	f := clitest.New(t, format)
	cmd := NewCmdOutputs(f.Factory, func(ctx context.Context, o *Options) error {
		o.Clusters = clitest.Clusters(&config.Cluster{Name: "demo"})
		o.Outputs = func(_ context.Context, _ automation.Observer, _ *config.Cluster, stack stacks.Kind) (map[string]automation.Output, error) {
			return map[string]automation.Output{
				"stack":            {Value: string(stack)},
				"privateSubnetIds": {Value: []any{"subnet-1", "subnet-2"}},
				"password":         {Value: "s3cr3t", Secret: true},
			}, nil
		}
		return outputsRun(ctx, o)
	})
	err := clitest.Execute(t, cmd, args...)
	assert.Check(t, !strings.Contains(f.Out.String(), "s3cr3t"), "a secret is printed: %q", f.Out)
	return f.Out.String(), err
}

func TestOutputs(t *testing.T) {
	for _, test := range []struct {
		name   string
		format render.Format
		args   []string
		want   string
	}{
		{"all", render.Text, []string{"demo"}, "KEY                VALUE\npassword           [secret]\nprivateSubnetIds   [\"subnet-1\",\"subnet-2\"]\nstack              core\n"},
		{"one text", render.Text, []string{"demo", "stack", "--stack", "bootstrap"}, "bootstrap\n"},
		{"one list", render.Text, []string{"demo", "privateSubnetIds"}, "[\"subnet-1\",\"subnet-2\"]\n"},
		{"one secret", render.Text, []string{"demo", "password"}, "[secret]\n"},
		{"json", render.JSON, []string{"demo", "stack"}, `{"type":"outputs","cluster":"demo","stack":"core","outputs":{"stack":"core"}}` + "\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := run(t, test.format, test.args...)
			if err != nil || got != test.want {
				t.Errorf("got %v\n%s\nwant:\n%s", err, got, test.want)
			}
		})
	}
}

func TestOutputsErrors(t *testing.T) {
	for want, args := range map[string][]string{
		`stack demo-core has no output "vpcID"; it has: password, privateSubnetIds, stack`:      {"demo", "vpcID"},
		"no cluster is named; give the name of one in clusters/, or the path of a cluster file": {},
		"too many arguments: c; see `outputs --help`":                                           {"demo", "b", "c"},
		`invalid argument "x" for "--stack" flag: must be one of: core, bootstrap`:              {"demo", "--stack", "x"},
	} {
		if _, err := run(t, render.Text, args...); err == nil || err.Error() != want {
			t.Errorf("%v:\n got %v\nwant %s", args, err, want)
		}
	}
}
