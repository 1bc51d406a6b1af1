// Package backendtest writes what tests find in a local backend.
package backendtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/automation/process"
)

// Table is a process table.
type Table map[int]process.Process

// Process returns the process with the id.
func (t Table) Process(pid int) (process.Process, bool) {
	p, ok := t[pid]
	return p, ok
}

// Lock writes the lock of an owner on a stack, as the CLI does, and returns its file.
func Lock(t *testing.T, dir, stack string, owner any) string {
	t.Helper()
	file := filepath.Join(dir, ".pulumi", "locks", "organization", "tombolo", stack, "1.json")
	assert.NilError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	raw, err := json.Marshal(owner)
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(file, raw, 0o600))
	return file
}
