//go:build lint

// Package arrows tests the linter's rule for the import arrows: an import
// against an arrow must fail, and one along it must not.
package arrows

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/tests/files"
)

// The SDKs of the clouds.
const (
	pulumiAWS   = "github.com/pulumi/pulumi-aws"
	pulumiAzure = "github.com/pulumi/pulumi-azure-native-sdk"
)

func sdks() []string { return []string{pulumiAWS, pulumiAzure} }

// against lists one import against each arrow: the room, and what it must not
// import.
var against = []struct{ from, to string }{
	{"config", "stacks"},
	{"config", "components/network"},
	{"config", "cmd/tombolo/render"},
	{"components/network", "cmd/tombolo/cli"},
	{"internal/wording", "config"},
	{"internal/names", "stacks"},
	{"internal/file", "internal/wording"},
	{"internal/debuglog", "internal/wording"},
	{"components/network", "config"},
	{"components/network", "automation"},
	{"stacks/core", "automation"},
	{"stacks/core", "components/network"},
	{"stacks/core/aws", "automation"},
	{"stacks/core/azure", "automation"},
	{"stacks", "lab"},
	{"stacks", "config"},
	{"stacks", "stacks/programs"},
	{"automation", "automation/clouds"},
	{"automation", "stacks/programs"},
	{"automation/backend", "stacks/programs"},
	{"cmd/tombolo/cli/drift", "automation/clouds"},
	{"cmd/tombolo", "lab"},
	{"cmd/tombolo/cli/factory", "lab"},
	{"cmd/tombolo/cli/lab", "lab"},
	{"cmd/tombolo/cli/lab", "lab/standin"},
	{"lab/tools", "lab"},
	{"cmd/tombolo-lab", "automation"},
	{"cmd/tombolo/cli/roles", "stacks/core"},
	{"cmd/tombolo/cli/up", "stacks/programs"},
	{"cmd/tombolo/cli/up", "cmd/tombolo/cli/push"},
	{"cmd/tombolo/cli/rebuild", "cmd/tombolo/cli/destroy"},
	{"lab/control", "lab/aws/eks"},
	{"cmd/tombolo/cli/lab/awscli", "cmd/tombolo/render"},
	{"cmd/lab-aws", "lab"},
	{"automation", "cmd/tombolo/cli"},
	{"automation", "components/network"},
	{"automation", "lab"},
	{"automation", "platform"},
	{"automation", "check"},
	{"automation/handover", "platform/scaffold"},
	{"automation/kube", "automation/health"},
	{"automation/operation", "automation"},
	{"automation/operation", "automation/preview"},
	{"automation/connect", "automation/hubs"},
	{"automation/hubs", "automation/destroy"},
	{"automation/step", "automation"},
	{"automation/health", "automation/teardown"},
	{"automation/teardown", "automation/health"},
	{"automation/preflight", "automation/handover"},
	{"automation/drift", "automation/teardown"},
	{"automation/drift", "automation/cloud/aws"},
	{"automation/recovery", "automation/cloud"},
	{"automation/recovery", "automation/teardown"},
	{"automation/cloud", "automation"},
	{"automation/cloud/aws", "automation/cloud"},
	{"automation/cloud/azure", "automation/cloud"},
	{"automation/cloud/azure", "automation/cloud/aws"},
	{"automation/cloud/azure", pulumiAWS},
	{"automation/cloud/aws", "automation/cloud/azure"},
	{"automation/cloud/scratch", "automation/cloud/aws"},
	{"automation/plan", "automation/cloud/aws"},
	{"automation", pulumiAWS},
	{"automation/recovery", pulumiAWS},
	{"stacks/bootstrap", pulumiAWS},
	{"stacks/core", pulumiAWS},
	{"automation", pulumiAzure},
	{"stacks/bootstrap", pulumiAzure},
	{"stacks/core", pulumiAzure},
	{"stacks/core/aws", pulumiAzure},
	{"stacks/core/azure", pulumiAWS},
	{"components/flux", pulumiAzure},
	{"internal/armid", "internal/names"},
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
	{"lab/azure", "stacks"},
	{"lab/azure", "lab"},
	{"lab/azure/network", "lab/aws/ec2"},
	{"lab/azure/network", pulumiAWS},
	{"lab/standin", "lab/aws"},
	{"lab/standin", "lab/azure"},
	{"lab/controlplane", "lab/aws/eks"},
	{"cmd/tombolo/render", "automation"},
	{"cmd/tombolo/render", "automation/fault"},
	{"automation/rollout", "cmd/tombolo/render"},
	{"check", "stacks"},
	{"check/flux", "check/argocd"},
	{"check/argocd", "check/flux"},
	{"check/manifest", "check/finding"},
	{"check/tree", "config"},
	{"check/kustomize", "check/walk"},
	{"check/artifact", "check/walk"},
	{"check/helm", "check/argocd"},
	{"check/gotemplate", "check/published"},
	{"check/substitution", "check/flux"},
	{"check/inventory", "check/published"},
	{"check/published", "check/tree"},
	{"check/finding", "check/walk"},
	{"check/walk", "stacks"},
	{"platform/scaffold", "lab"},
	{"cmd/tombolo/cli/up", "components/network"},
	{"cmd/tombolo", "automation"},
	{"cmd/program", "automation"},
}

// along lists imports that the architecture draws.
var along = []struct{ from, to string }{
	{"components/eks", "components/identity"},
	{"stacks/core", "stacks/core/aws"},
	{"stacks/core", "stacks/core/azure"},
	{"stacks/core/azure", "components/azurenetwork"},
	{"stacks/core/azure", pulumiAzure},
	{"components/aks", "components/azureidentity"},
	{"components/aks", pulumiAzure},
	{"components/aks", "internal/armid"},
	{"stacks/core/aws", "components/network"},
	{"stacks/core/aws", "config"},
	{"automation", "stacks"},
	{"automation", "stacks/catalog"},
	{"automation", "stacks/core/live"},
	{"automation/backend", "stacks"},
	{"automation/handover", "platform/kustomization"},
	{"automation/health", "automation/kube"},
	{"automation/backend", "automation/fault"},
	{"automation/pulumicli", "automation/backend"},
	{"automation", "automation/cloud"},
	{"automation/clouds", "automation/cloud/aws"},
	{"automation/cloud/aws", "automation/recovery"},
	{"automation/cloud/aws", pulumiAWS},
	{"automation/cloud/aws", "automation/cloud/scratch"},
	{"automation/clouds", "automation/cloud/azure"},
	{"automation/cloud/azure", "automation/cloud/scratch"},
	{"automation/cloud/azure", pulumiAzure},
	{"automation/recovery", "automation/backend"},
	{"components/network", pulumiAWS},
	{"lab/aws/eks", pulumiAWS},
	{"cmd/tombolo/cli/up", "automation"},
	{"cmd/tombolo/render", "automation/rollout"},
	{"cmd/tombolo/cli/lab", "lab/control"},
	{"cmd/tombolo/cli/factory", "lab/substitute"},
	{"cmd/tombolo/cli/factory", "lab/tools"},
	{"cmd/tombolo-lab/commands", "lab"},
	{"cmd/tombolo-lab/commands", "cmd/tombolo/cli/lab"},
	{"lab", "lab/aws"},
	{"lab/aws/eks", "lab/standin"},
	{"lab", "lab/azure"},
	{"lab/azure/network", "lab/standin"},
	{"lab/controlplane", "lab/standin"},
	{"cmd/tombolo/cli/up", "platform/scaffold"},
	{"check", "check/flux"},
	{"check/flux", "check/walk"},
	{"check/walk", "check/published"},
	{"check/published", "config"},
	{"check", "config"},
	{"config", "internal/wording"},
	{"automation/kube", "internal/debuglog"},
	{"components/network", "internal/names"},
	{"lab/aws", "internal/file"},
	{"cmd/program", "stacks/programs"},
	{"cmd/tombolo", "automation/clouds"},
	{"cmd/tombolo", "stacks/programs"},
	{"cmd/tombolo/cli/roles", "stacks/catalog"},
	{"cmd/lab-aws", "cmd/tombolo/cli/lab/awscli"},
	{"lab", "lab/control"},
	{"stacks/programs", "stacks/core"},
}

// TestImports lints a module in which each import stands in a package of its own: the rules
// look at the end of a path, so all of them are looked at in one run.
func TestImports(t *testing.T) {
	const test = "automation/it_lab_test.go"
	m := newModule(t)
	var fail, pass []arrow
	for _, a := range against {
		fail = append(fail, m.add(filepath.Join(a.from, "it.go"), a.to))
	}
	for _, a := range along {
		pass = append(pass, m.add(filepath.Join(a.from, "it.go"), a.to))
	}
	// The driver's own tests may use the stand-in, and nothing else that the driver may not.
	fail = append(fail, m.add(test, "components/network"))
	pass = append(pass, m.add(test, "lab/aws"))
	found := m.lint()
	for _, a := range fail {
		t.Run(a.name, func(t *testing.T) {
			assert.Check(t, found[a.file], "the linter passes an import against an arrow")
		})
	}
	for _, a := range pass {
		t.Run(a.name, func(t *testing.T) {
			assert.Check(t, !found[a.file], "the linter refuses an import along an arrow")
		})
	}
}

// module is one that is linted as the project is.
type module struct {
	t     *testing.T
	dir   string
	count int
}

// arrow is an import in a module.
type arrow struct{ name, file string }

func newModule(t *testing.T) *module {
	m := &module{t: t, dir: t.TempDir()}
	mod := "module tombolo\n\ngo 1.26\n"
	for _, sdk := range sdks() {
		mod += fmt.Sprintf("\nrequire %[1]s v0.0.0\n\nreplace %[1]s => ./%[1]s\n", sdk)
		files.Write(t, filepath.Join(m.dir, sdk, "go.mod"), "module "+sdk+"\n")
	}
	files.Write(t, filepath.Join(m.dir, "go.mod"), mod)
	// A pattern begins at the checkout: directories above it have any name. Here each import has
	// a directory of its own, so the same patterns begin anywhere.
	rules, err := os.ReadFile(filepath.Join("..", "..", ".golangci.yml"))
	assert.NilError(t, err)
	assert.Assert(t, !bytes.Contains(rules, []byte(`"**/`)) && !bytes.Contains(rules, []byte(`"!**/`)),
		"a pattern of .golangci.yml begins with **/: it also looks at directories above the checkout; begin it with ${config-path}/")
	files.Write(t, filepath.Join(m.dir, ".golangci.yml"), strings.ReplaceAll(string(rules), "${config-path}/", "**/"))
	return m
}

// add puts an import of an empty package into a file, in a directory of its own.
func (m *module) add(from, to string) arrow {
	m.t.Helper()
	m.count++
	imported := to
	if !slices.Contains(sdks(), to) {
		imported = "tombolo/" + to
	}
	a := arrow{name: from + " to " + to, file: filepath.Join("at", strconv.Itoa(m.count), from)}
	files.Write(m.t, filepath.Join(m.dir, to, "it.go"), "package it\n")
	files.Write(m.t, filepath.Join(m.dir, a.file), fmt.Sprintf("package it\n\nimport _ %q\n", imported))
	return a
}

// lint runs depguard as the project configures it, and returns the files that it refuses.
func (m *module) lint() map[string]bool {
	m.t.Helper()
	root, err := filepath.Abs("../..")
	assert.NilError(m.t, err)
	cmd := exec.CommandContext(m.t.Context(), filepath.Join(root, ".tools", "bin", "golangci-lint"),
		"run", "--config", filepath.Join(m.dir, ".golangci.yml"), "--enable-only", "depguard", "--allow-parallel-runners",
		"--max-issues-per-linter", "0", "--max-same-issues", "0", "--path-mode", "abs", "./...")
	cmd.Dir = m.dir
	out, err := cmd.CombinedOutput()
	found := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		file, _, ok := strings.Cut(line, ".go:")
		if !ok {
			continue
		}
		if !strings.Contains(line, "(depguard)") {
			m.t.Errorf("the linter says something else: %s", line)
			continue
		}
		name, err := filepath.Rel(m.dir, file+".go")
		assert.NilError(m.t, err)
		found[name] = true
	}
	if len(found) == 0 {
		m.t.Fatalf("the linter refuses nothing: %v\n%s", err, out)
	}
	return found
}

// TestNoSDKs: the driver and the commands are given what takes the SDK of a provider along.
// With it, the test of every command would link 200 MB. Only the commands of the lab have it.
func TestNoSDKs(t *testing.T) {
	wanted := []string{"tombolo/automation"}
	for _, p := range goList(t, "{{.ImportPath}}", "tombolo/cmd/tombolo/cli/...") {
		if p != "tombolo/cmd/tombolo/cli" && p != "tombolo/cmd/tombolo/cli/lab" {
			wanted = append(wanted, p)
		}
	}
	all := `{{$p := .ImportPath}}{{range .Deps}}{{$p}} imports {{.}}{{"\n"}}{{end}}`
	for _, line := range goList(t, all, wanted...) {
		for _, sdk := range append(sdks(), "github.com/pulumi/pulumi-kubernetes") {
			assert.Check(t, !strings.Contains(line, " imports "+sdk+"/"),
				"%s, by one of its imports: give it to the factory, as main does with stacks/programs", line)
		}
	}
}

// goList are the lines that go list prints.
func goList(t *testing.T, format string, packages ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-f", format}, packages...)...)
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	assert.NilError(t, err)
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}
