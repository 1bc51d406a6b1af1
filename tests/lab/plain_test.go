//go:build lab

package lab

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/tests/tier"
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
	o := plain.run(t, "up", "demo-bootstrap", "--yes")
	assert.Check(t, o.code != 0 && strings.Contains(o.stdout+o.stderr, "demo-core"),
		"bootstrap before core: exit code %d\n%s\n%s", o.code, o.stdout, o.stderr)
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
	root, err := filepath.Abs("../..")
	assert.NilError(t, err)
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
	if o := p.tool(t, "/bin/sh", "-euc", commands); o.code != 0 {
		t.Fatalf("%s\nexit code %d\n%s\n%s", commands, o.code, o.stdout, o.stderr)
	}
}

func (p plain) must(t *testing.T, command, stack string, flags ...string) {
	t.Helper()
	if o := p.run(t, command, stack, flags...); o.code != 0 {
		t.Fatalf("pulumi %s --stack %s: exit code %d\n%s\n%s", command, stack, o.code, o.stdout, o.stderr)
	}
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
		if o := p.run(t, "preview", "demo-core"); o.code != 0 || !strings.Contains(o.stdout, word) {
			t.Errorf("after the %s: exit code %d\n%s\n%s", word, o.code, o.stdout, o.stderr)
		}
	}
	p.write(t, file, "package main\n\nfunc main() { nothing }\n")
	if o := p.run(t, "preview", "demo-core"); o.code == 0 || !strings.Contains(o.stdout+o.stderr, "undefined: nothing") {
		t.Errorf("a program that does not compile: exit code %d\n%s\n%s", o.code, o.stdout, o.stderr)
	}
}

// guards changes the cluster file so that the program has to refuse.
func (p plain) guards(t *testing.T) {
	t.Helper()
	file := filepath.Join("clusters", "demo.yaml")
	text := p.read(t, file)
	defer p.write(t, file, text)
	for _, guard := range []struct{ name, old, new, command, stack, refusal string }{
		{"account", `account: "111122223333"`, `account: "444455556666"`, "preview", "demo-core", "111122223333"},
		{
			"block of the live network", "10.20.0.0/16", "10.30.0.0/16", "preview", "demo-core",
			"network.cidr: cannot change on the live cluster (10.20.0.0/16 -> 10.30.0.0/16, needs rebuild)",
		},
		{"misspelt key", "wave: 0", "wawe: 0", "preview", "demo-core", "wawe"},
	} {
		p.write(t, file, text)
		p.edit(t, file, guard.old, guard.new)
		o := p.run(t, guard.command, guard.stack)
		assert.Check(t, o.code != 0 && strings.Contains(o.stdout+o.stderr, guard.refusal),
			"%s: exit code %d, and no word of %q\n%s\n%s", guard.name, o.code, guard.refusal, o.stdout, o.stderr)
	}
	p.write(t, file, text)
	p.edit(t, file, "wave: 0", "wave: 0\nprotect: true")
	p.must(t, "up", "demo-core", "--yes", "--skip-preview")
	if o := p.run(t, "destroy", "demo-core", "--yes", "--skip-preview"); o.code == 0 || !strings.Contains(o.stdout+o.stderr, "protect") {
		t.Errorf("a protected cluster: exit code %d\n%s\n%s", o.code, o.stdout, o.stderr)
	}
	p.write(t, file, text)
	p.must(t, "up", "demo-core", "--yes", "--skip-preview")
}
