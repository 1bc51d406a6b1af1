package labprogram

import (
	"context"
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
	built := func(_ context.Context, checkout string) (string, error) { return "built of " + checkout, nil }
	installed, project, checkout := filepath.Join(dir, "installed"), filepath.Join(dir, "project"), filepath.Join(dir, "checkout")
	program(t, filepath.Join(installed, Name), "")
	program(t, filepath.Join(project, "bin", Name), "")
	assert.NilError(t, os.MkdirAll(filepath.Join(checkout, "cmd", Name), 0o755))
	byGoRun := filepath.Join(dir, "go-build7", "b001", "exe")
	for _, test := range []struct{ name, self, here, want string }{
		{"beside this program", installed, checkout, filepath.Join(installed, Name)},
		{"by go run", byGoRun, checkout, "built of " + checkout},
		{"by go run, below the checkout's root", byGoRun, filepath.Join(checkout, "cmd", Name), "built of " + checkout},
		{"made in a checkout, and alone", filepath.Join(checkout, "out"), project, "built of " + checkout},
		// What a project has may be others'.
		{"a project's bin", filepath.Join(dir, "other"), project, ""},
		{"a project with source", filepath.Join(dir, "other"), checkout, ""},
		{"by go run, elsewhere", byGoRun, project, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := find(t.Context(), filepath.Join(test.self, "tombolo"), test.here, built)
			assert.Check(t, is.Equal(got, test.want))
			if test.want == "" {
				assert.Check(t, is.Error(err, "tombolo-lab, the lab's program, is not in "+test.self+
					"; a release has both programs in its archive; in a checkout, `make build` builds both"))
			}
		})
	}
}

// in is the lab of a project whose program is a script.
func in(t *testing.T, script string) Lab {
	t.Helper()
	root := t.TempDir()
	file := filepath.Join(root, Name)
	program(t, file, script)
	return Lab{Root: root, program: file}
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
	assert.Check(t, fault.Is(err, fault.Precondition), "%v", err)
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
