package gitcmd

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/tests/files"
)

// TestRepositoryRunsNothing: what a repository's own settings name does not run; what is
// not such a setting stays.
func TestRepositoryRunsNothing(t *testing.T) {
	dir := t.TempDir()
	mark, evil := filepath.Join(dir, "mark"), filepath.Join(dir, "evil")
	assert.NilError(t, os.WriteFile(evil, []byte("#!/bin/sh\n: >'"+mark+"'\nexit 1\n"), 0o700))
	plain := func(args ...string) {
		t.Helper()
		files.Git(t, dir, args...)
	}
	write := func(name, text string) {
		t.Helper()
		assert.NilError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	plain("init", "--quiet")
	write("a", "one\n")
	write(".gitattributes", "a filter=evil\n")
	plain("add", "a", ".gitattributes")
	plain("commit", "--quiet", "--message", "one")
	write("a", "two\n")
	plain("config", "filter.evil.required", "true")
	plain("config", "filter.evil.clean", evil)
	plain("config", "core.fsmonitor", evil)
	plain("config", "core.hooksPath", dir)
	plain("config", "tombolo.kept", "yes")

	g, err := Git{Dir: dir}.Repository(t.Context())
	assert.NilError(t, err)
	for _, args := range [][]string{{"diff", "--name-status", "HEAD"}, {"status", "--porcelain"}} {
		out, err := g.Command(t.Context(), args...).Output()
		assert.NilError(t, err)
		assert.Assert(t, strings.Contains(string(out), "a\n"), "git %v: %s", args, out)
	}
	kept, err := g.Command(t.Context(), "config", "tombolo.kept").Output()
	assert.NilError(t, err)
	assert.Equal(t, string(kept), "yes\n")
	_, err = os.Stat(mark)
	assert.Assert(t, os.IsNotExist(err), "it ran")
}

func TestEnvironment(t *testing.T) {
	got := Environment([]string{"PATH=.:/bin::evil:/usr/bin", "GIT_DIR=x", "GIT_EXTERNAL_DIFF=evil", "HOME=/h"})
	for _, want := range []string{"PATH=/bin:/usr/bin", "HOME=/h", "GIT_TERMINAL_PROMPT=0"} {
		assert.Assert(t, slices.Contains(got, want), "%v has no %s", got, want)
	}
	assert.Assert(t, !slices.ContainsFunc(got, func(kv string) bool {
		return strings.HasPrefix(kv, "GIT_DIR=") || strings.HasPrefix(kv, "GIT_EXTERNAL_DIFF=")
	}), "%v", got)
}
