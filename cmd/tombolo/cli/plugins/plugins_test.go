package plugins

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation"
	"tombolo/automation/plugins"
	"tombolo/automation/pulumicli"
	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

type fake struct {
	got      pulumicli.PluginOptions
	clusters []*config.Cluster
	err      error
}

func (f *fake) InstallPlugins(_ context.Context, clusters []*config.Cluster, o pulumicli.PluginOptions) (pulumicli.InstalledPlugins, error) {
	f.got, f.clusters = o, clusters
	return pulumicli.InstalledPlugins{Dir: "/home/ada/.pulumi/plugins", All: []pulumicli.InstalledPlugin{
		{Plugin: plugins.Plugin{Name: "aws", Version: "6.83.2"}, Attached: true},
		{Plugin: plugins.Plugin{Name: "eks", Version: "2.8.1"}, New: true, Check: plugins.Unknown},
		{Plugin: plugins.Plugin{Name: "kubernetes", Version: "4.15.0", For: "eks 2.8.1"}, Check: plugins.Checked},
	}}, f.err
}

// run runs the command as it is called, with a driver of ours.
func run(t *testing.T, driver *fake, format render.Format, args ...string) (out, status string, err error) {
	t.Helper()
	f := clitest.New(t, format)
	cmd := NewCmdInstall(f.Factory, func(ctx context.Context, o *InstallOptions) error {
		o.Clusters = clitest.Clusters(&config.Cluster{Name: "demo"})
		o.Driver = func(context.Context, automation.Observer) (Driver, error) { return driver, nil }
		return installRun(ctx, o)
	})
	return f.Run(t, cmd, args...)
}

func TestInstall(t *testing.T) {
	t.Setenv(plugins.MirrorVariable, "https://mirror.example")
	driver := &fake{}
	out, status, err := run(t, driver, render.Text)
	assert.NilError(t, err)
	assert.DeepEqual(t, driver.got, pulumicli.PluginOptions{Mirror: "https://mirror.example"}, cmpopts.IgnoreUnexported(pulumicli.PluginOptions{}))
	assert.Check(t, is.Equal(driver.clusters[0].Name, "demo"))
	for _, want := range []string{"attached", "installed", "no digest is known", "there", "checked", "eks 2.8.1"} {
		assert.Check(t, is.Contains(out, want))
	}
	assert.Check(t, is.Equal(status, "✔ the plugins are in /home/ada/.pulumi/plugins\n"))
	out, _, err = run(t, driver, render.JSON, "--strict", "--mirror", "/media")
	assert.NilError(t, err)
	assert.DeepEqual(t, driver.got, pulumicli.PluginOptions{Mirror: "/media", Strict: true}, cmpopts.IgnoreUnexported(pulumicli.PluginOptions{}))
	assert.Check(t, is.Equal(out, `{"type":"plugins","plugins":[{"name":"aws","version":"6.83.2","state":"attached"},`+
		`{"name":"eks","version":"2.8.1","state":"installed","digest":"no digest is known"},`+
		`{"name":"kubernetes","version":"4.15.0","for":"eks 2.8.1","state":"there","digest":"checked"}]}`+"\n"))
	driver.err = errors.New("another digest")
	_, _, err = run(t, driver, render.Text)
	assert.Check(t, is.ErrorContains(err, "another digest"))
}
