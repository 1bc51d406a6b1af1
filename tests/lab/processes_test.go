//go:build lab

package lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// processesIn lists the running processes whose command line names a
// directory, as "pid command".
func processesIn(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
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
