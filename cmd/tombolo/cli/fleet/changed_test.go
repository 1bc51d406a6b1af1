package fleet

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	driverfault "tombolo/automation/fault"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/render"
	"tombolo/tests/files"
)

// committed puts the project into Git as it is.
func (fx *fixture) committed(t *testing.T) {
	t.Helper()
	fx.write(t, ".gitignore", ".tombolo/\n")
	for _, args := range [][]string{{"init", "-q", "--initial-branch=main"}, {"add", "-A"}, {"commit", "-q", "-m", "as it was"}} {
		files.Git(t, fx.root, args...)
	}
}

func TestChangedSince(t *testing.T) {
	fx := newFixture(t)
	fx.committed(t)
	if err := fx.run(t, "--changed-since", "main"); err != nil || len(fx.worked) > 0 {
		t.Errorf("nothing has changed, and it worked on %v, error %v", fx.worked, err)
	}
	assert.Check(t, is.Equal(fx.errOut.String(), "✔ unchanged since main: canary, east, west, last\n"))
	fx.write(t, "clusters/west.yaml", fileOf("west", 1, "test"))
	assert.NilError(t, os.Remove(fx.root+"/clusters/last.yaml"))
	if err := fx.run(t, "--changed-since", "main"); err != nil || !slices.Equal(fx.worked, []string{"west"}) {
		t.Errorf("it worked on %v, error %v", fx.worked, err)
	}
	for _, want := range []string{
		"► west: cluster file: clusters/west.yaml changed\n", "✔ unchanged since main: canary, east\n",
		"✗ clusters/last.yaml was removed since main: ",
	} {
		assert.Check(t, strings.Contains(fx.errOut.String(), want), "people do not read %q:\n%s", want, fx.errOut)
	}
	if err := fx.run(t, "canary", "--changed-since", "main"); err != nil || len(fx.worked) > 0 {
		t.Errorf("another cluster has changed, and it worked on %v, error %v", fx.worked, err)
	}
}

// TestChangedSinceByShared: a change of what clusters share is of those that have it.
func TestChangedSinceByShared(t *testing.T) {
	fx := newFixture(t)
	fx.committed(t)
	fx.write(t, "clusters/_defaults.yaml", "tags: {owner: us}\n")
	assert.NilError(t, fx.run(t, "--changed-since", "main"))
	for _, want := range []string{"► west: shared settings: clusters/_defaults.yaml added\n", "\nclusters/_defaults.yaml added: 4 clusters\n"} {
		assert.Check(t, is.Contains(fx.errOut.String(), want))
	}
	fx.factory.Globals.Output = render.JSON
	fx.out.Reset()
	assert.NilError(t, fx.run(t, "west", "--changed-since", "main"))
	assert.Check(t, is.Contains(fx.out.String(), `"shared":[{"name":"clusters/_defaults.yaml","how":"added","clusters":["west"]}]`))
}

func TestChangedSinceForPrograms(t *testing.T) {
	fx := newFixture(t)
	fx.committed(t)
	fx.factory.Globals.Output = render.JSON
	fx.write(t, "clusters/west.yaml", fileOf("west", 1, "test"))
	assert.NilError(t, fx.run(t, "west", "last", "--changed-since", "HEAD"))
	want := `{"type":"changed-since","since":"HEAD","clusters":[{"cluster":"west","reasons":[{"input":"cluster file",` +
		`"changes":[{"name":"clusters/west.yaml","how":"changed"}]}]}],"unchanged":["last"]}` + "\n"
	if got := fx.out.String(); !strings.HasPrefix(got, want) {
		t.Errorf("got  %swant %s", got, want)
	}
}

func TestChangedSinceRefusals(t *testing.T) {
	fx := newFixture(t)
	for _, test := range []struct {
		args  []string
		class fault.Class
		want  string
	}{
		{[]string{"--tree", "tree"}, fault.Usage, "--tree is used only with --changed-since; "},
		{[]string{"--resume", "--changed-since", "main"}, fault.Usage, "--resume and --changed-since: a resumed run has its own clusters; "},
	} {
		err := fx.run(t, test.args...)
		if !fault.Is(err, test.class) || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%v: got %v, want %s", test.args, err, test.want)
		}
	}
	err := fx.run(t, "--changed-since", "main")
	want := "--changed-since main: " + fx.root + " cannot be read as a Git repository: "
	if f := new(driverfault.Error); !errors.As(err, &f) || f.Class != driverfault.Precondition || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}
