//go:build lab

package lab

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"sigs.k8s.io/yaml"

	"tombolo/tests/tier"
	"tombolo/tools/upstream/facts"
)

// TestPlainPulumi makes a cluster with plain `pulumi up`, goes on with the
// driver, and destroys it with plain `pulumi destroy`: each finds what the other
// made as it would have made it. What must not happen is refused by the program
// itself: the CLI does not run.
func TestPlainPulumi(t *testing.T) {
	tier.Long(t, "plain pulumi compiles the program again for each of its commands")
	p := newProject(t)
	p.must(t, "lab", "up", "--profile", "light")
	plain := newPlain(t, p)
	for _, stack := range []string{"demo-core", "demo-bootstrap"} {
		plain.mustTool(t, "pulumi", "stack", "init", stack, "--non-interactive")
	}
	plain.run(t, "up", "demo-bootstrap", "--yes").refuses(t, "demo-core") // before core
	for _, stack := range []string{"demo-core", "demo-bootstrap"} {
		plain.must(t, "up", stack, "--yes", "--skip-preview")
	}
	p.up(t, "demo").unchanged(t)
	for _, stack := range []string{"demo-core", "demo-bootstrap"} {
		plain.must(t, "up", stack, "--yes", "--expect-no-changes")
	}
	plain.edited(t)
	plain.guards(t)
	for _, stack := range []string{"demo-bootstrap", "demo-core"} {
		plain.must(t, "destroy", stack, "--yes", "--skip-preview")
	}
	p.nothingExists(t)
}

// plain is the plain program of a project, under the real Pulumi engine: from
// the project's root, as anybody runs it, with the program's source and no binary.
type plain struct{ project }

func newPlain(t *testing.T, p project) plain {
	t.Helper()
	root := checkout(t)
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f",
		`{{if .Module}}{{if .Module.Main}}{{$dir := .Dir}}{{range .GoFiles}}{{$dir}}/{{.}}
{{end}}{{range .EmbedFiles}}{{$dir}}/{{.}}
{{end}}{{end}}{{end}}`, "./cmd/program")
	list.Dir = root
	files, err := list.Output()
	assert.NilError(t, err, "listing the program's source")
	for _, file := range append(strings.Fields(string(files)), filepath.Join(root, "go.mod"), filepath.Join(root, "go.sum")) {
		name, err := filepath.Rel(root, file)
		assert.NilError(t, err)
		assert.NilError(t, copyAll(filepath.Join(p.dir, name), file))
	}
	return plain{project: p}
}

// run runs a command of pulumi's on a stack.
func (p plain) run(t *testing.T, command, stack string, flags ...string) outcome {
	t.Helper()
	return p.tool(t, "pulumi", append([]string{command, "--stack", stack, "--non-interactive"}, flags...)...)
}

// sh runs commands of a shell in the lab's environment; each must end well.
func (p plain) sh(t *testing.T, commands string) {
	t.Helper()
	o := p.tool(t, "/bin/sh", "-euc", commands)
	assert.Assert(t, o.code == 0, "%s\nexit code %d\n%s\n%s", commands, o.code, o.stdout, o.stderr)
}

func (p plain) must(t *testing.T, command, stack string, flags ...string) {
	t.Helper()
	o := p.run(t, command, stack, flags...)
	assert.Assert(t, o.code == 0, "pulumi %s --stack %s: exit code %d\n%s\n%s", command, stack, o.code, o.stdout, o.stderr)
}

// edited changes the program between two previews: each runs the program as it is.
func (p plain) edited(t *testing.T) {
	t.Helper()
	file := filepath.Join("cmd", "program", "main.go")
	text := p.read(t, file)
	defer p.write(t, file, text)
	const plainMain = "pulumi.Run(programs.Plain)"
	for _, word := range []string{"first edit", "second edit"} {
		p.write(t, file, text)
		p.edit(t, file, plainMain,
			`pulumi.Run(func(ctx *pulumi.Context) error { ctx.Export("edit", pulumi.String("`+word+`")); return programs.Plain(ctx) })`)
		o := p.run(t, "preview", "demo-core")
		assert.Check(t, o.code == 0 && strings.Contains(o.stdout, word), "after the %s: exit code %d\n%s\n%s", word, o.code, o.stdout, o.stderr)
	}
	p.write(t, file, "package main\n\nfunc main() { nothing }\n")
	p.run(t, "preview", "demo-core").refuses(t, "undefined: nothing")
}

// guards changes the cluster file so that the program has to refuse.
func (p plain) guards(t *testing.T) {
	t.Helper()
	file := filepath.Join("clusters", "demo.yaml")
	text := p.read(t, file)
	defer p.write(t, file, text)
	for _, guard := range []struct{ old, new, refusal string }{
		{`account: "111122223333"`, `account: "444455556666"`, "111122223333"},
		{"10.20.0.0/16", "10.30.0.0/16", "network.cidr: cannot change on the live cluster (10.20.0.0/16 -> 10.30.0.0/16, needs rebuild)"},
		{"wave: 0", "wawe: 0", "wawe"},
	} {
		p.write(t, file, text)
		p.edit(t, file, guard.old, guard.new)
		p.run(t, "preview", "demo-core").refuses(t, guard.refusal)
	}
	p.write(t, file, text)
	p.edit(t, file, "wave: 0", "wave: 0\nprotect: true")
	p.must(t, "up", "demo-core", "--yes", "--skip-preview")
	p.run(t, "destroy", "demo-core", "--yes", "--skip-preview").refuses(t, "protect")
	p.write(t, file, text)
	p.must(t, "up", "demo-core", "--yes", "--skip-preview")
}

// stackDefinition is the operator's definition of Stack: the fields, types and
// required fields of upstream's. The finalizer that its controller sets is set by
// the test.
func stackDefinition(t *testing.T) string {
	t.Helper()
	fields, ok, err := facts.Definition("Stack.pulumi.com/v1")
	assert.NilError(t, err)
	assert.Assert(t, ok)
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "stacks.pulumi.com"},
		"spec": map[string]any{
			"group": "pulumi.com", "scope": "Namespaced",
			"names": map[string]any{"kind": "Stack", "listKind": "StackList", "plural": "stacks", "singular": "stack"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": fields.Schema()},
			}},
		},
	})
	assert.NilError(t, err)
	return string(text)
}

// admission: a real API server under strict validation takes all that
// `tombolo export operator` writes for the cluster files of the tests, and refuses
// a Stack with a field that upstream's definition does not have.
func (p project) admission(t *testing.T) {
	for name, dir := range map[string]string{"own": "../../clusters", "all": "../../config/testdata/good", "argocd": "testdata/argocd"} {
		other := p
		other.dir = filepath.Join(p.dir, "export-"+name)
		other.write(t, "Pulumi.yaml", p.read(t, "Pulumi.yaml"))
		sources, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
		assert.NilError(t, err)
		for _, source := range sources {
			text, err := os.ReadFile(source)
			assert.NilError(t, err)
			other.write(t, "clusters/"+filepath.Base(source), string(text))
		}
		for _, from := range [][]string{
			{"--image-dir", "/project"},
			{"--repo", "https://git.example.com/clusters.git", "--branch", "main", "--git-secret", "git", "--env-secret", "env"},
		} {
			out := other.must(t, append([]string{"export", "operator", "--all", "--image", "registry.example/tombolo:1.4.0"}, from...)...)
			p.kubectl(t, "demo", "apply", "--validate=strict", "--dry-run=server", "-f", asFile(t, out))
			wrong := strings.Replace(out, "\n  stack: ", "\n  stak: ", 1)
			assert.Assert(t, wrong != out)
			p.tryKubectl(t, "demo", "apply", "--validate=strict", "--dry-run=server", "-f", asFile(t, wrong)).fails(t, `unknown field "spec.stak"`)
		}
	}
}

// deletionOrder applies what `tombolo export operator` writes to a real API
// server: core is kept until bootstrap is gone.
func (p project) deletionOrder(t *testing.T) {
	objects := asFile(t, p.must(t, "export", "operator", "demo", "--image", "registry.example/tombolo:1.4.0", "--image-dir", "/project"))
	p.kubectl(t, "demo", "apply", "-f", asFile(t, stackDefinition(t)))
	p.meets(t, "demo", "condition=Established", "crd/stacks.pulumi.com")
	p.kubectl(t, "demo", "create", "namespace", "tombolo")
	p.admission(t)
	p.kubectl(t, "demo", "apply", "--validate=strict", "-f", objects)
	p.kubectl(t, "demo", "patch", "stacks.pulumi.com", "demo-bootstrap", "-n", "tombolo", "--type=merge",
		"-p", `{"metadata":{"finalizers":["test.example/destroying"]}}`)
	remove := func(args ...string) outcome {
		return p.tryKubectl(t, "demo", append([]string{"delete", "stacks.pulumi.com", "-n", "tombolo", "--wait=false"}, args...)...)
	}
	refused := func(why string) {
		eventually(t, func() (bool, string) {
			o := remove("demo-core", "--dry-run=server")
			return o.code != 0 && strings.Contains(o.stderr, "delete Stack demo-bootstrap first, and wait until it is gone"),
				why + ": core may be deleted: " + o.stdout + o.stderr
		})
	}
	refused("bootstrap is there")
	o := remove("demo-bootstrap")
	assert.Assert(t, o.code == 0, "bootstrap may not be deleted: %s", o.stderr)
	refused("bootstrap is being destroyed")
	p.kubectl(t, "demo", "patch", "stacks.pulumi.com", "demo-bootstrap", "-n", "tombolo", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	eventually(t, func() (bool, string) {
		o := remove("demo-core")
		return o.code == 0, "bootstrap is gone, and core may not be deleted: " + o.stderr
	})
}
