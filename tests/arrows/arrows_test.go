//go:build lint

// Package arrows tests the linter's rule for the import arrows: an import
// against an arrow must fail, and one along it must not.
package arrows

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// against lists one import against each arrow: the room, and what it must not
// import.
var against = []struct{ from, to string }{
	{"config", "stacks"},
	{"config", "components/network"},
	{"components/network", "config"},
	{"components/network", "automation"},
	{"stacks/core", "automation"},
	{"stacks", "lab"},
	{"automation", "internal/cli"},
	{"automation", "components/network"},
	{"automation", "lab"},
	{"automation", "platform"},
	{"automation", "platform/contract"},
	{"automation/handover", "platform/scaffold"},
	{"automation/fault", "config"},
	{"automation/process", "automation/backend"},
	{"automation/backend", "automation"},
	{"automation/backend", "automation/preflight"},
	{"automation/backend", "config"},
	{"automation/backend", "automation/pulumicli"},
	{"automation/pulumicli", "automation"},
	{"automation/pulumicli", "automation/teardown"},
	{"automation/pulumicli", "config"},
	{"stacks", "platform/kustomization"},
	{"lab/aws", "stacks"},
	{"internal/render", "automation"},
	{"platform/contract", "stacks"},
	{"platform/scaffold", "lab"},
	{"internal/cli/up", "components/network"},
	{"cmd/tombolo", "automation"},
	{"cmd/program", "automation"},
}

// along lists imports that the architecture draws.
var along = []struct{ from, to string }{
	{"components/eks", "components/identity"},
	{"stacks/core", "components/network"},
	{"stacks/core", "config"},
	{"automation", "stacks"},
	{"automation/handover", "platform/kustomization"},
	{"automation/backend", "automation/fault"},
	{"automation/pulumicli", "automation/backend"},
	{"internal/cli/up", "automation"},
	{"internal/cli/lab", "lab"},
	{"lab", "lab/aws"},
	{"internal/cli/up", "platform/scaffold"},
	{"platform/contract", "config"},
	{"cmd/program", "stacks"},
}

func TestImportAgainstAnArrowFails(t *testing.T) {
	for _, arrow := range against {
		t.Run(arrow.from+" to "+arrow.to, func(t *testing.T) {
			out, err := lint(t, arrow.from, arrow.to)
			if err == nil || !strings.Contains(out, "(depguard)") {
				t.Errorf("the linter passes it:\n%s", out)
			}
		})
	}
}

func TestImportAlongAnArrowPasses(t *testing.T) {
	for _, arrow := range along {
		t.Run(arrow.from+" to "+arrow.to, func(t *testing.T) {
			if out, err := lint(t, arrow.from, arrow.to); err != nil {
				t.Errorf("the linter refuses it: %v\n%s", err, out)
			}
		})
	}
}

// TestTestsInTheLab: the driver's own tests may use the stand-in, and nothing else
// that the driver may not.
func TestTestsInTheLab(t *testing.T) {
	const test = "automation/it_lab_test.go"
	if out, err := lintFile(t, test, "lab/aws"); err != nil {
		t.Errorf("the linter refuses the stand-in: %v\n%s", err, out)
	}
	if out, err := lintFile(t, test, "components/network"); err == nil || !strings.Contains(out, "(depguard)") {
		t.Errorf("the linter passes a component:\n%s", out)
	}
}

// lint runs depguard, as the project configures it, on a module of two empty
// packages of which one imports the other.
func lint(t *testing.T, from, to string) (string, error) {
	t.Helper()
	return lintFile(t, filepath.Join(from, "it.go"), to)
}

// lintFile is lint for an import in a file of that name.
func lintFile(t *testing.T, from, to string) (string, error) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module tombolo\n\ngo 1.26\n")
	write(t, filepath.Join(dir, to, "it.go"), "package it\n")
	write(t, filepath.Join(dir, from), fmt.Sprintf("package it\n\nimport _ %q\n", "tombolo/"+to))
	cmd := exec.CommandContext(t.Context(), filepath.Join(root, ".tools", "bin", "golangci-lint"),
		"run", "--config", filepath.Join(root, ".golangci.yml"), "--enable-only", "depguard", "--allow-parallel-runners", "./...")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
