//go:build lab

package lab

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// processesIn lists the running processes whose command line names a
// directory, as "pid command".
func processesIn(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	assert.NilError(t, err)
	var found []string
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(content), dir) {
			continue // ended meanwhile, or another's
		}
		pid := filepath.Base(filepath.Dir(file))
		found = append(found, pid+" "+strings.ReplaceAll(string(content), "\x00", " "))
	}
	return found
}

// pulumiIn lists the Pulumi CLIs whose working directory is below dir.
func pulumiIn(t *testing.T, dir string) []int {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	assert.NilError(t, err)
	var found []int
	for _, link := range links {
		cwd, err := os.Readlink(link)
		if err != nil || !strings.HasPrefix(cwd, dir) {
			continue
		}
		name, err := os.ReadFile(filepath.Join(filepath.Dir(link), "comm"))
		if err != nil || strings.TrimSpace(string(name)) != "pulumi" {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link)))
		assert.NilError(t, err)
		found = append(found, pid)
	}
	return found
}
