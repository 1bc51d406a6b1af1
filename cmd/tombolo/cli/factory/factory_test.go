package factory

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/cmd/tombolo/cli/streams"
	"tombolo/cmd/tombolo/render"
	"tombolo/lab/control"
)

// checkout makes a directory with a Pulumi.yaml and returns it.
func checkout(t *testing.T, yaml string) string {
	t.Helper()
	dir := t.TempDir()
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte(yaml), 0o644))
	return dir
}

func TestRoot(t *testing.T) {
	ours := checkout(t, "name: tombolo\nruntime: go\n")
	below := filepath.Join(ours, "a", "b")
	assert.NilError(t, os.MkdirAll(below, 0o755))
	assert.NilError(t, os.WriteFile(filepath.Join(below, "Pulumi.yaml"), []byte("name: other\n"), 0o644))
	broken := checkout(t, "name: [tombolo\n")
	for _, test := range []struct {
		name, dir, flag string
		want, err       string
	}{
		{name: "here", dir: ours, want: ours},
		{name: "above, past another project", dir: below, want: ours},
		{name: "given", dir: "/", flag: ours, want: ours},
		{name: "given relative", dir: below, flag: "../..", want: ours},
		{
			name: "given, another project", dir: ours, flag: "a/b",
			err: "--root a/b is no project: it has no Pulumi.yaml with name tombolo; name the directory of a checkout",
		},
		{
			name: "given, a file", dir: ours, flag: "Pulumi.yaml",
			err: "--root Pulumi.yaml is no project: it has no Pulumi.yaml with name tombolo; name the directory of a checkout",
		},
		{
			name: "not readable as YAML", dir: broken,
			err: "no project found: neither " + broken + " nor a directory above it has a Pulumi.yaml with name tombolo; change into a project, name one with --root, or begin one with `tombolo init project`",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &Factory{Globals: &Globals{Root: test.flag}, Dir: test.dir}
			got, err := f.Root()
			if test.err != "" {
				assert.Check(t, is.Error(err, test.err))
				return
			}
			if err != nil || got != test.want {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
		})
	}
}

func TestStyle(t *testing.T) {
	s, _, _, _ := streams.Test()
	for _, test := range []struct {
		name     string
		globals  Globals
		noColor  bool
		terminal bool
		want     bool
	}{
		{"terminal", Globals{Output: render.Text}, false, true, true},
		{"no terminal", Globals{Output: render.Text}, false, false, false},
		{"plain", Globals{Output: render.Plain}, false, true, false},
		{"--no-color", Globals{Output: render.Text, NoColor: true}, false, true, false},
		{"NO_COLOR", Globals{Output: render.Text}, true, true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s.NoColor = test.noColor
			f := &Factory{Streams: s, Globals: &test.globals}
			if got := f.Style(test.terminal); got.Color != test.want || !got.Unicode {
				t.Errorf("got %+v, want colours %v", got, test.want)
			}
		})
	}
}

func TestLabSteps(t *testing.T) {
	s, _, _, errOut := streams.Test()
	f := &Factory{Streams: s, Globals: &Globals{Output: render.Text}}
	show := f.LabSteps()
	for _, step := range []control.Step{
		{Name: "start the lab", State: control.StepDoing},
		{Name: "start the lab", State: control.StepDone, Detail: "4 processes", Elapsed: 1234 * time.Millisecond},
		{Name: "ended what an earlier lab left", State: control.StepNote},
		{Name: "check the tools", State: control.StepFailed},
	} {
		show(step)
	}
	want := "► lab: start the lab\n✔ lab: start the lab: 4 processes (1.2s)\n" +
		"  lab: ended what an earlier lab left\n✗ lab: check the tools\n"
	assert.Check(t, is.Equal(errOut.String(), want))
}

func TestLabStepsAreNoDocuments(t *testing.T) {
	s, _, out, errOut := streams.Test()
	f := &Factory{Streams: s, Globals: &Globals{Output: render.JSON}}
	f.LabSteps()(control.Step{Name: "start the lab", State: control.StepDoing})
	if out.Len()+errOut.Len() > 0 {
		t.Errorf("got %q and %q", out, errOut)
	}
}

func TestAnnounce(t *testing.T) {
	s, _, _, errOut := streams.Test()
	f := &Factory{Streams: s, Globals: &Globals{Output: render.Text}}
	f.Announce("before")
	progress := f.Progress()
	f.Announce("during")
	progress.Close()
	f.Announce("after")
	assert.Check(t, is.Equal(errOut.String(), "► before\n► during\n► after\n"))
}

// TestBackend is named without what opens it.
func TestBackend(t *testing.T) {
	f := &Factory{Globals: &Globals{Backend: "postgres://ada:secret@db:5432/state?password=secret"}, Dir: checkout(t, "name: tombolo\n")}
	if got, err := f.Backend(); err != nil || got != "postgres://db:5432/state" {
		t.Errorf("people read %q, error %v", got, err)
	}
}

// TestAgain: a remedy's command works on the same stacks as the one that failed.
func TestAgain(t *testing.T) {
	for want, g := range map[string]Globals{
		"":      {},
		"--lab": {Lab: true},
		"--lab --backend 's3://b?a=1&b=it'\\''s'":                   {Lab: true, Backend: "s3://b?a=1&b=it's"},
		"--backend 'postgres://ada:xxxxx@db/state?sslmode=require'": {Backend: "postgres://ada:secret@db/state?sslmode=require"},
		"--backend 'postgres://db/state?password=xxxxx'":            {Backend: "postgres://db/state?password=secret"},
	} {
		assert.Check(t, is.Equal(strings.Join(g.again(), " "), want))
	}
}

// noLab cannot be entered.
type noLab struct{}

func (noLab) Enter(context.Context, func(control.Step)) (map[string]string, error) {
	return map[string]string{"PATH": "/lab"}, errors.New("no etcd")
}

// TestALabThatDoesNotStart changes nothing of this process.
func TestALabThatDoesNotStart(t *testing.T) {
	s, _, _, _ := streams.Test()
	f := &Factory{
		Streams: s, Globals: &Globals{Lab: true}, Dir: checkout(t, "name: tombolo\n"),
		Setenv:  func(string, string) error { return errors.New("the environment is changed") },
		OpenLab: func(string) Lab { return noLab{} },
	}
	_, err := f.Driver(t.Context(), nil)
	assert.Check(t, is.Error(err, "no etcd"))
}
