//go:build lab

package lab

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/tier"
)

// TestPluginsFromAMirror: the real Pulumi CLI unpacks what a mirror has. The mirror's
// archive of kubernetes 4.25.0 is not the published one, and is refused; it comes after
// those whose digests are not known.
func TestPluginsFromAMirror(t *testing.T) {
	tier.Short(t, "the real CLI unpacks a mirror's plugins; it takes no lab")
	p := newProject(t)
	var asked []string
	mirror := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		name := regexp.MustCompile(`pulumi-resource-[a-z]+`).FindString(r.URL.Path)
		_, err := w.Write(pluginArchive(t, name))
		assert.Check(t, err)
	}))
	defer mirror.Close()
	home := t.TempDir()
	install := func(flags ...string) outcome {
		cmd := exec.CommandContext(t.Context(), p.tombolo, append([]string{"plugins", "install", "--backend", "file://" + home}, flags...)...)
		cmd.Dir = p.dir
		cmd.Env = append(os.Environ(), "NO_COLOR=1", "TOMBOLO_LAB=", "PULUMI_HOME="+home, "TOMBOLO_PLUGIN_MIRROR="+mirror.URL,
			"PATH="+filepath.Join(p.dir, ".tools", "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
		return end(t, cmd)
	}
	o := install("--strict")
	o.ends(t, 4, "install the plugin aws ")
	assert.Check(t, is.Len(asked, 0), "a plugin without a digest was fetched")

	o = install()
	o.ends(t, 4, "for no digest of it is known: "+mirror.URL, "install the plugin kubernetes 4.25.0: "+mirror.URL, "nothing was installed")
	var installed []string
	entries, err := os.ReadDir(filepath.Join(home, "plugins"))
	assert.NilError(t, err)
	for _, e := range entries {
		if e.IsDir() {
			installed = append(installed, strings.SplitN(e.Name(), "-v", 2)[0])
		} else if strings.Contains(e.Name(), "kubernetes") || strings.HasSuffix(e.Name(), ".partial") {
			t.Errorf("%s is left of an installation", e.Name())
		}
	}
	assert.DeepEqual(t, installed, []string{"resource-aws", "resource-azure-native", "resource-eks"})
	asked = nil
	install()
	assert.Check(t, !slices.ContainsFunc(asked, func(path string) bool { return strings.Contains(path, "-aws-") }), "what is there was fetched again")
}

// pluginArchive is a released plugin's archive with a program that does nothing.
func pluginArchive(t *testing.T, name string) []byte {
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	archive := tar.NewWriter(compressed)
	const program = "#!/bin/sh\n"
	assert.Check(t, archive.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(program)), Typeflag: tar.TypeReg}))
	_, err := archive.Write([]byte(program))
	assert.Check(t, err)
	assert.Check(t, archive.Close())
	assert.Check(t, compressed.Close())
	return out.Bytes()
}
