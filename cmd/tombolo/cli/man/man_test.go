package man

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// commands are a small tree; the root writes the manual with what build says.
func commands(time string) *cobra.Command {
	nothing := func(*cobra.Command, []string) {}
	root := &cobra.Command{Use: "tombolo", Short: "From nothing to GitOps", DisableAutoGenTag: true, Run: nothing}
	up := &cobra.Command{Use: "up", Short: "Deploy clusters", Run: nothing}
	up.Flags().Bool("refresh", false, "look at the cloud first")
	hidden := &cobra.Command{Use: "secret", Hidden: true, Run: nothing}
	root.AddCommand(up, hidden)
	man := NewCmdMan()
	man.RunE = func(cmd *cobra.Command, args []string) error {
		return manRun(&Options{Directory: args[0], Root: cmd.Root(), Build: func() (*debug.BuildInfo, bool) {
			return &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.time", Value: time}}}, true
		}})
	}
	root.AddCommand(man)
	return root
}

// TestMan: each command that people see has a page of its own, dated by the commit in UTC.
func TestMan(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	root := commands("2026-11-30T22:00:00-05:00")
	root.SetArgs([]string{"man", dir})
	assert.NilError(t, root.Execute())
	for name, want := range map[string]string{
		"tombolo.1":    "From nothing to GitOps",
		"tombolo-up.1": `\fB--refresh\fP`,
	} {
		page, err := os.ReadFile(filepath.Join(dir, name))
		assert.NilError(t, err)
		assert.Check(t, is.Contains(string(page), want), name)
		assert.Check(t, is.Contains(string(page), `"Dec 2026"`), name)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*"))
	assert.NilError(t, err)
	for _, p := range pages {
		assert.Check(t, !strings.Contains(p, "secret") && !strings.Contains(p, "-man"), p)
	}
}

func TestNoDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	assert.NilError(t, os.WriteFile(file, nil, 0o644))
	root := commands("")
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetArgs([]string{"man", filepath.Join(file, "man1")})
	assert.Check(t, is.ErrorContains(root.Execute(), "make the directory of the manual pages"))
}
