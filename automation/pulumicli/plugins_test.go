package pulumicli

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/plugins"
	"tombolo/tests/files"
)

// pinned is a CLI of a program with one provider, for which a directory is the mirror.
func pinned(t *testing.T, env map[string]string) (p *CLI, mirror string, notes *[]string) {
	t.Helper()
	home := t.TempDir()
	p = script(t, `case "$2" in
version) echo v3.999.0 ;;
plugin) echo "$@" >>`+home+`/asked; mkdir -p `+home+`/plugins/resource-other-v1.2.3 ;;
esac
`)
	path, notes := p.Env["PATH"], new([]string)
	p.Home, p.Note = home, func(_, message string) { *notes = append(*notes, message) }
	p.Getenv = func(key string) string {
		if key == "PATH" {
			return path
		}
		return env[key]
	}
	p.build = func() (*debug.BuildInfo, bool) {
		return &debug.BuildInfo{Deps: []*debug.Module{{Path: "github.com/pulumi/pulumi-other/sdk", Version: "v1.2.3"}}}, true
	}
	mirror = t.TempDir()
	files.Write(t, filepath.Join(mirror, "pulumi-resource-other-v1.2.3-"+plugins.Platform()+".tar.gz"), "an archive")
	return p, mirror, notes
}

// asked is what the CLI was called with; "" when it was not called.
func asked(t *testing.T, p *CLI) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.Home, "asked"))
	if !os.IsNotExist(err) {
		assert.NilError(t, err)
	}
	return string(text)
}

// TestInstallPlugins: what is missing is fetched, and installed in this version and
// no later one; the second time nothing is done.
func TestInstallPlugins(t *testing.T) {
	p, mirror, notes := pinned(t, nil)
	other := plugins.Plugin{Name: "other", Version: "1.2.3"}
	for _, isNew := range []bool{true, false} {
		got, err := p.InstallPlugins(t.Context(), PluginOptions{Mirror: mirror})
		assert.NilError(t, err)
		assert.Check(t, is.Equal(got.Dir, filepath.Join(p.Home, "plugins")))
		assert.DeepEqual(t, got.All, []InstalledPlugin{{Plugin: other, New: isNew, Check: plugins.Unknown}})
	}
	calls := strings.Split(strings.TrimSpace(asked(t, p)), "\n")
	assert.Assert(t, is.Len(calls, 1))
	assert.Check(t, is.Contains(calls[0], "plugin install resource other 1.2.3 --exact --file "))
	assert.Check(t, is.Equal((*notes)[0], "installing the plugin other 1.2.3"))
}

// TestInstallOnlyWhatIsUsed: a provider that no cluster uses is not fetched.
func TestInstallOnlyWhatIsUsed(t *testing.T) {
	p, mirror, _ := pinned(t, nil)
	got, err := p.InstallPlugins(t.Context(), PluginOptions{Mirror: mirror, Only: []string{"azure-native"}})
	assert.NilError(t, err)
	assert.Check(t, is.Len(got.All, 0))
	assert.Check(t, is.Equal(asked(t, p), ""))
}

// TestOperationsInstallPlugins: an operation does so, unless it may not or need not.
func TestOperationsInstallPlugins(t *testing.T) {
	env := map[string]string{"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true"}
	p, mirror, _ := pinned(t, env)
	env[plugins.MirrorVariable] = mirror
	assert.NilError(t, p.installPlugins(t.Context(), nil))
	assert.Check(t, is.Equal(asked(t, p), ""))

	delete(env, "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION")
	env["PULUMI_DEBUG_PROVIDERS"] = "other:1234"
	assert.NilError(t, p.installPlugins(t.Context(), nil))
	assert.Check(t, is.Equal(asked(t, p), ""), "it runs already")

	p, mirror, _ = pinned(t, env)
	env[plugins.MirrorVariable], env["PULUMI_DEBUG_PROVIDERS"] = t.TempDir(), ""
	assert.Check(t, is.ErrorContains(p.installPlugins(t.Context(), nil), "fetch the plugin other 1.2.3: "))
	first := filepath.SplitList(p.Getenv("PATH"))[0]
	assert.NilError(t, os.WriteFile(filepath.Join(first, "pulumi-resource-other"), nil, 0o755))
	assert.NilError(t, p.installPlugins(t.Context(), nil)) // the engine takes it from PATH

	p, _, _ = pinned(t, env)
	env[plugins.MirrorVariable] = mirror
	assert.NilError(t, p.installPlugins(t.Context(), nil))
	assert.Check(t, is.Contains(asked(t, p), "plugin install resource other 1.2.3"))
}
