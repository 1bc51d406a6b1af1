//go:build lint

// Package arrows tests the linter's rule for the import arrows: an import
// against an arrow must fail, and one along it must not.
package arrows

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/tests/files"
)

// pulumiAWS is the SDK of a cloud.
const pulumiAWS = "github.com/pulumi/pulumi-aws"

// against lists one import against each arrow: the room, and what it must not
// import.
var against = []struct{ from, to string }{
	{"config", "stacks"},
	{"config", "components/network"},
	{"config", "internal/render"},
	{"components/network", "internal/cli"},
	{"internal/wording", "config"},
	{"internal/names", "stacks"},
	{"internal/file", "internal/wording"},
	{"components/network", "config"},
	{"components/network", "automation"},
	{"stacks/core", "automation"},
	{"stacks/core", "components/network"},
	{"stacks/core/aws", "automation"},
	{"stacks", "lab"},
	{"automation", "internal/cli"},
	{"automation", "components/network"},
	{"automation", "lab"},
	{"automation", "platform"},
	{"automation", "platform/contract"},
	{"automation/handover", "platform/scaffold"},
	{"automation/kube", "automation/health"},
	{"automation/health", "automation/teardown"},
	{"automation/teardown", "automation/health"},
	{"automation/preflight", "automation/handover"},
	{"automation/drift", "automation/teardown"},
	{"automation/drift", "automation/cloud/aws"},
	{"automation/recovery", "automation/cloud"},
	{"automation/recovery", "automation/teardown"},
	{"automation/cloud", "automation"},
	{"automation/cloud/aws", "automation/cloud"},
	{"automation/plan", "automation/cloud/aws"},
	{"automation", pulumiAWS},
	{"automation/recovery", pulumiAWS},
	{"stacks/bootstrap", pulumiAWS},
	{"stacks/core", pulumiAWS},
	{"components/flux", pulumiAWS},
	{"lab/standin", pulumiAWS},
	{"lab/controlplane", pulumiAWS},
	{"internal/sleep", "config"},
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
	{"lab/standin", "lab/aws"},
	{"lab/controlplane", "lab/aws/eks"},
	{"internal/render", "automation"},
	{"platform/contract", "stacks"},
	{"platform/contract/flux", "platform/contract/argocd"},
	{"platform/contract/argocd", "platform/contract/flux"},
	{"platform/contract/manifest", "platform/contract/finding"},
	{"platform/contract/tree", "config"},
	{"platform/contract/kustomize", "platform/contract/walk"},
	{"platform/contract/helm", "platform/contract/argocd"},
	{"platform/contract/gotemplate", "platform/contract/published"},
	{"platform/contract/substitution", "platform/contract/flux"},
	{"platform/contract/inventory", "platform/contract/published"},
	{"platform/contract/published", "platform/contract/tree"},
	{"platform/contract/finding", "platform/contract/walk"},
	{"platform/contract/walk", "stacks"},
	{"platform/scaffold", "lab"},
	{"internal/cli/up", "components/network"},
	{"cmd/tombolo", "automation"},
	{"cmd/program", "automation"},
}

// along lists imports that the architecture draws.
var along = []struct{ from, to string }{
	{"components/eks", "components/identity"},
	{"stacks/core", "stacks/core/aws"},
	{"stacks/core/aws", "components/network"},
	{"stacks/core/aws", "config"},
	{"automation", "stacks"},
	{"automation/handover", "platform/kustomization"},
	{"automation/health", "automation/kube"},
	{"automation/backend", "automation/fault"},
	{"automation/pulumicli", "automation/backend"},
	{"automation", "automation/cloud"},
	{"automation/cloud", "automation/cloud/aws"},
	{"automation/cloud/aws", "automation/recovery"},
	{"automation/cloud/aws", pulumiAWS},
	{"automation/recovery", "automation/backend"},
	{"components/network", pulumiAWS},
	{"lab/aws/eks", pulumiAWS},
	{"internal/cli/up", "automation"},
	{"internal/cli/lab", "lab"},
	{"lab", "lab/aws"},
	{"lab/aws/eks", "lab/standin"},
	{"lab/controlplane", "lab/standin"},
	{"internal/cli/up", "platform/scaffold"},
	{"platform/contract", "platform/contract/flux"},
	{"platform/contract/flux", "platform/contract/walk"},
	{"platform/contract/walk", "platform/contract/published"},
	{"platform/contract/published", "config"},
	{"platform/contract", "config"},
	{"config", "internal/wording"},
	{"components/network", "internal/names"},
	{"lab/aws", "internal/file"},
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
// packages. One imports the other.
func lint(t *testing.T, from, to string) (string, error) {
	t.Helper()
	return lintFile(t, filepath.Join(from, "it.go"), to)
}

// lintFile is lint for an import in a file of that name.
func lintFile(t *testing.T, from, to string) (string, error) {
	t.Helper()
	root, err := filepath.Abs("../..")
	assert.NilError(t, err)
	dir := t.TempDir()
	module, imported := "module tombolo\n\ngo 1.26\n", "tombolo/"+to
	if strings.Contains(to, ".") { // another module
		module += fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %s => ./%s\n", to, to, to)
		files.Write(t, filepath.Join(dir, to, "go.mod"), "module "+to+"\n")
		imported = to
	}
	files.Write(t, filepath.Join(dir, "go.mod"), module)
	files.Write(t, filepath.Join(dir, to, "it.go"), "package it\n")
	files.Write(t, filepath.Join(dir, from), fmt.Sprintf("package it\n\nimport _ %q\n", imported))
	cmd := exec.CommandContext(t.Context(), filepath.Join(root, ".tools", "bin", "golangci-lint"),
		"run", "--config", filepath.Join(root, ".golangci.yml"), "--enable-only", "depguard", "--allow-parallel-runners", "./...")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}
