package pipelines

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// archive has one program, which says what it is.
func archive(t *testing.T, name, says string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	to := tar.NewWriter(zipped)
	text := "#!/bin/sh\necho " + says + "\n"
	assert.NilError(t, to.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text)), Typeflag: tar.TypeReg}))
	_, err := to.Write([]byte(text))
	assert.NilError(t, err)
	assert.NilError(t, to.Close())
	assert.NilError(t, zipped.Close())
	return out.Bytes()
}

// TestInstall runs the Makefile of a project against a server: what is pinned is installed, and
// anything else is not, whatever the server has.
func TestInstall(t *testing.T) {
	for _, tool := range []string{"make", "bash", "curl", "tar"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	platform := runtime.GOOS + "_" + runtime.GOARCH
	name, tools := "tombolo_1.2.3_"+platform+".tar.gz", "tombolo-tools_1.2.3_"+platform+".tar.gz"
	good := map[string][]byte{
		name:  archive(t, "tombolo_1.2.3_"+platform+"/tombolo", "it is 1.2.3"),
		tools: archive(t, "bin/pulumi", "pulumi"),
	}
	line := func(name string) string { return fmt.Sprintf("%x  %s\n", sha256.Sum256(good[name]), name) }
	pin := line(name) + line(tools) + strings.Repeat("ab", 32) + "  tombolo_1.2.3_plan9_mips.tar.gz\n"
	for what, c := range map[string]struct {
		pin     string
		served  map[string][]byte
		refused string
	}{
		"as pinned":             {pin, good, ""},
		"another archive":       {pin, map[string][]byte{name: archive(t, "tombolo_1.2.3_"+platform+"/tombolo", "bad"), tools: good[tools]}, "is not what tombolo.sha256 pins"},
		"other tools":           {pin, map[string][]byte{name: good[name], tools: archive(t, "bin/pulumi", "bad")}, "is not what tombolo.sha256 pins"},
		"no archive":            {pin, nil, "404"},
		"no line":               {strings.ReplaceAll(pin, platform, "plan9_arm"), good, "has not one line with tombolo of one release for " + platform},
		"no line for the tools": {line(name), good, "has not one line with tombolo-tools of one release"},
		"two lines":             {pin + strings.Repeat("cd", 32) + "  " + name + "\n", good, "has not one line with tombolo of one release"},
		"two releases":          {pin + strings.Repeat("cd", 32) + "  tombolo_1.2.4_plan9_arm.tar.gz\n", good, "has not one line with tombolo of one release"},
		"no file":               {"", good, "has not one line with tombolo of one release"},
		"a short checksum":      {pin[8:], good, "has not one line with tombolo of one release"},
	} {
		t.Run(what, func(t *testing.T) {
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				served, ok := c.served[strings.TrimPrefix(r.URL.Path, "/releases/v1.2.3/")]
				if !ok {
					http.NotFound(w, r)
				}
				_, _ = w.Write(served)
			}))
			t.Cleanup(server.Close)
			dir := t.TempDir()
			files, err := Files(options(GitHub))
			assert.NilError(t, err)
			makefile := files[slices.IndexFunc(files, func(f File) bool { return f.Path == "Makefile" })]
			assert.NilError(t, os.WriteFile(filepath.Join(dir, "Makefile"), []byte(makefile.Text), 0o600))
			if c.pin != "" {
				assert.NilError(t, os.WriteFile(filepath.Join(dir, "tombolo.sha256"), []byte(c.pin), 0o600))
			}
			run := func(ci string) (string, error) {
				cmd := exec.Command("make", "build", "tools")
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "TOMBOLO_RELEASES="+server.URL+"/releases", "CI="+ci, "TF_BUILD=", "MAKEFLAGS=", "LC_ALL=C")
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			said, err := run("true")
			if c.refused != "" {
				assert.Check(t, err != nil, said)
				assert.Check(t, is.Contains(said, c.refused))
				_, err := os.Stat(filepath.Join(dir, ".tools", "bin", "pulumi"))
				assert.Check(t, os.IsNotExist(err), "what is not pinned is there")
				return
			}
			assert.NilError(t, err, said)
			for program, want := range map[string]string{"bin/tombolo": "it is 1.2.3\n", ".tools/bin/pulumi": "pulumi\n"} {
				out, err := exec.Command(filepath.Join(dir, program)).Output()
				assert.Check(t, err == nil && string(out) == want, "%s says %q, error %v", program, out, err)
			}
			// What is there is not fetched again, but in a job, where a checkout may have brought it.
			assert.NilError(t, os.WriteFile(filepath.Join(dir, "bin/tombolo"), []byte("#!/bin/sh\necho bad\n"), 0o700))
			before := asked
			said, err = run("")
			assert.NilError(t, err, said)
			assert.Equal(t, asked, before)
			said, err = run("true")
			assert.NilError(t, err, said)
			out, err := exec.Command(filepath.Join(dir, "bin/tombolo")).Output()
			assert.Check(t, err == nil && string(out) == "it is 1.2.3\n", "a job runs %q, error %v", out, err)
		})
	}
}
