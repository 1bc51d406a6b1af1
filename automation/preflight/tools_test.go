package preflight

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/plugins"
	"tombolo/tests/files"
)

// machine has one program, that says this, and a home of the Pulumi CLI.
type machine struct {
	env        map[string]string
	says, home string
	err        error
}

func (m machine) Env(key string) string                                  { return m.env[key] }
func (m machine) Has(string) bool                                        { return m.says != "" || m.err != nil }
func (m machine) Run(context.Context, string, ...string) (string, error) { return m.says, m.err }
func (m machine) CLI(context.Context) error                              { return nil }
func (m machine) Home() string                                           { return m.home }

func TestOldestVersion(t *testing.T) {
	kubectl := Program{Name: "kubectl", Remedy: "install it", Oldest: "1.24.0"}
	for _, test := range []struct {
		machine
		version, bad string
	}{
		{machine{says: `{"clientVersion": {"gitVersion": "v1.24.0"}}`}, "1.24.0", ""},
		{machine{says: `{"clientVersion": {"gitVersion": "v1.35.1-eks-4f4795d"}}`}, "1.35.1-eks-4f4795d", ""},
		{machine{says: `{"clientVersion": {"gitVersion": "v1.23.17"}}`}, "", `kubectl is version "1.23.17", and 1.24.0 or newer is needed`},
		{machine{says: `{}`}, "", `kubectl is version "", and 1.24.0 or newer is needed`},
		{machine{says: `Client Version: v1.30`}, "", "kubectl does not say its version: invalid character 'C' looking for beginning of value"},
		{machine{err: errors.New("exit status 1\nmore")}, "", "kubectl does not say its version: exit status 1"},
		{machine{}, "", "kubectl is not in PATH"},
	} {
		version, bad := Doctor{Machine: test.machine}.checkProgram(t.Context(), kubectl)
		assert.Check(t, is.Equal(version, test.version))
		if test.bad == "" {
			assert.Check(t, is.Len(bad, 0))
			continue
		}
		assert.DeepEqual(t, bad, []Finding{Bad("tools", Fail, "install it", "%s", test.bad)})
	}
}

func TestPlugins(t *testing.T) {
	m := machine{home: t.TempDir(), env: map[string]string{}}
	d := Doctor{Machine: m}
	kubernetes := plugins.Plugin{Name: "kubernetes", Version: "4.25.0"}
	older := plugins.Plugin{Name: "kubernetes", Version: "4.15.0", For: "eks 2.8.1"}
	needed := []plugins.Plugin{{Name: "aws", Version: "6.83.2"}, kubernetes, older}
	assert.DeepEqual(t, d.judgePlugins(needed, "aws:1"), Bad("plugins", Warn,
		"run `tombolo plugins install`, or let the first operation do it, if this machine may download them or has a mirror",
		"missing: kubernetes 4.25.0, kubernetes 4.15.0 for eks 2.8.1")) // aws runs, and so does no kubernetes
	m.env["PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"] = "true"
	assert.Check(t, is.Equal(d.judgePlugins(needed, "").Level, Fail))

	dir := plugins.Dir(m.home)
	for _, name := range []string{"resource-aws-v6.83.2", "resource-kubernetes-v4.25.0", "resource-kubernetes-v4.15.0"} {
		assert.NilError(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
	}
	known, _ := plugins.Locked().Of(kubernetes, plugins.Platform())
	record := filepath.Join(dir, "resource-kubernetes-v4.25.0", "tombolo-archive.json")
	files.Write(t, record, `{"sha256":"`+known.SHA256+`"}`)
	files.Write(t, filepath.Join(dir, "resource-kubernetes-v4.15.0", "tombolo-archive.json"), `{"sha256":"00"}`)
	assert.DeepEqual(t, d.judgePlugins(needed, ""),
		Good("plugins", "aws 6.83.2 (not checked), kubernetes 4.25.0 (checked), kubernetes 4.15.0 for eks 2.8.1 (no digest is known)"))
	files.Write(t, record, `{"sha256":"00"}`)
	assert.DeepEqual(t, d.judgePlugins(needed, ""), Bad("plugins", Fail,
		"remove it from "+dir+", and run `tombolo plugins install`", "kubernetes 4.25.0 was installed from an archive with another digest than is known"))
}
