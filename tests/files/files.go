// Package files writes and reads files for tests, keeps them in Git, and gives their checkouts the tools.
package files

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// Write gives a file its content, and makes its directory.
func Write(t *testing.T, file, content string) {
	t.Helper()
	assert.NilError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	assert.NilError(t, os.WriteFile(file, []byte(content), 0o644))
}

// Read is the content of a file.
func Read(t testing.TB, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	assert.NilError(t, err)
	return string(content)
}

// Git runs Git in a directory as a person whom no machine has configured, and returns what it
// writes. A hook that runs the tests leads it nowhere else.
func Git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=Ada", "-c", "user.email=ada@example.com"}, args...)...)
	cmd.Dir = dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "GIT_") })
	cmd.Env = append(cmd.Env, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	out, err := cmd.CombinedOutput()
	assert.NilError(t, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

// Tools gives a checkout the built tools of another one. Programs are links; what a cluster
// file names, which has to be in its project, is copied.
func Tools(to, from string) error {
	entries, err := os.ReadDir(filepath.Join(from, ".tools"))
	err = errors.Join(err, os.Mkdir(filepath.Join(to, ".tools"), 0o755))
	for _, e := range entries {
		source, target := filepath.Join(from, ".tools", e.Name()), filepath.Join(to, ".tools", e.Name())
		if e.Name() == "share" {
			err = errors.Join(err, os.CopyFS(target, os.DirFS(source)))
			continue
		}
		err = errors.Join(err, os.Symlink(source, target))
	}
	return err
}
