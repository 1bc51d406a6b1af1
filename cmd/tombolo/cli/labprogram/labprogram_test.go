package labprogram

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/lab/control"
)

// program writes a program.
func program(t *testing.T, file, script string) {
	t.Helper()
	assert.NilError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	assert.NilError(t, os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o755))
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir) // which is no checkout
	built := func(_ context.Context, checkout string) (string, error) { return "built of " + checkout, nil }
	installed, project, checkout := filepath.Join(dir, "installed"), filepath.Join(dir, "project"), filepath.Join(dir, "checkout")
	program(t, filepath.Join(installed, Name), "")
	program(t, filepath.Join(project, "bin", Name), "")
	program(t, filepath.Join(checkout, "bin", Name), "")
	assert.NilError(t, os.MkdirAll(filepath.Join(checkout, "cmd", Name), 0o755))
	assert.NilError(t, os.MkdirAll(filepath.Join(dir, "source", "cmd", Name), 0o755))
	for _, test := range []struct{ name, self, root, want string }{
		{"beside this program", installed, project, filepath.Join(installed, Name)},
		{"in the project's bin", filepath.Join(dir, "other"), project, filepath.Join(project, "bin", Name)},
		{"in a checkout's bin", filepath.Join(dir, "other"), checkout, filepath.Join(checkout, "bin", Name)},
		{"by go run", filepath.Join(dir, "go-build7", "b001", "exe"), checkout, "built of " + checkout},
		{"by go run, for a project without source", filepath.Join(dir, "go-build7", "b001", "exe"), project, filepath.Join(project, "bin", Name)},
		{"nothing built yet", filepath.Join(dir, "other"), filepath.Join(dir, "source"), "built of " + filepath.Join(dir, "source")},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := find(t.Context(), filepath.Join(test.self, "tombolo"), test.root, built)
			assert.NilError(t, err)
			assert.Check(t, is.Equal(got, test.want))
		})
	}
	_, err := find(t.Context(), "/nowhere/tombolo", "/none", built)
	assert.Check(t, is.Error(err, "tombolo-lab, the lab's program, is neither in /nowhere nor in /none/bin; run `make build` in the checkout, which builds bin/tombolo-lab"))
}

// in is the lab of a project whose program is a script.
func in(t *testing.T, script string) Lab {
	t.Helper()
	root := t.TempDir()
	program(t, filepath.Join(root, "bin", Name), script)
	return Lab{Root: root}
}

func TestEnter(t *testing.T) {
	steps := 0
	count := func(control.Step) { steps++ }
	l := in(t, `echo '{"step":{"Name":"a"}}{"step":{"Name":"b"}}'; echo "{\"env\":{\"ARGS\":\"$*\"}}"`)
	env, err := l.Enter(t.Context(), count)
	assert.NilError(t, err)
	assert.DeepEqual(t, env, map[string]string{"ARGS": "lab enter --root " + l.Root})
	assert.Check(t, is.Equal(steps, 2))

	_, err = in(t, `echo '{"failed":"the lab did not start: no etcd","class":"precondition"}'; exit 1`).Enter(t.Context(), count)
	var own *fault.Error
	assert.Check(t, errors.As(err, &own) && own.Class == fault.Precondition, "%v", err)
	assert.Check(t, is.Error(err, "the lab did not start: no etcd"))

	_, err = in(t, `echo broken >&2; exit 3`).Enter(t.Context(), count)
	assert.Check(t, is.ErrorContains(err, "ended without an answer (exit status 3): broken"))
}

// TestInterruptedEntry: the program is interrupted too, and has time to end.
func TestInterruptedEntry(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	l := in(t, `trap 'echo ended >ended; exit 0' INT; echo '{"step":{"Name":"a"}}'; while :; do sleep 0.05; done`)
	t.Chdir(l.Root)
	_, err := l.Enter(ctx, func(control.Step) { cancel() })
	assert.Check(t, is.ErrorIs(err, context.Canceled))
	_, err = os.Stat(filepath.Join(l.Root, "ended"))
	assert.NilError(t, err)
}
