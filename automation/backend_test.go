package automation

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/clouds"
	"tombolo/config"
	"tombolo/stacks/programs"
)

func TestBackend(t *testing.T) {
	home, root := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("PULUMI_HOME", "")
	t.Setenv("PULUMI_BACKEND_URL", "")
	t.Setenv("PULUMI_CREDENTIALS_PATH", home)
	write := func(file, text string) {
		t.Helper()
		assert.NilError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	check := func(o Options, want string) {
		t.Helper()
		o.Root = root
		if got, err := o.Backend(); err != nil || got != want {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
	const project = "name: tombolo\n"
	write(filepath.Join(root, "Pulumi.yaml"), project)
	check(Options{}, "")
	write(filepath.Join(home, "credentials.json"), `{"current":"https://api.pulumi.com"}`)
	check(Options{}, "https://api.pulumi.com")
	write(filepath.Join(root, "Pulumi.yaml"), project+"backend:\n  url: s3://state?region=eu-central-1\n")
	check(Options{}, "s3://state?region=eu-central-1")
	t.Setenv("PULUMI_BACKEND_URL", "file://state/")
	_, err := Options{Root: root}.Backend()
	assert.Error(t, err, "Pulumi.yaml pins the state backend s3://state, and PULUMI_BACKEND_URL is file://"+filepath.Join(root, "state")+
		"; nothing was started: unset the variable, correct Pulumi.yaml, or say which one with --backend")
	check(Options{BackendURL: "gs://other"}, "gs://other")
	t.Setenv("PULUMI_BACKEND_URL", "s3://state?region=eu-central-1")
	check(Options{}, "s3://state?region=eu-central-1")
	t.Setenv("PULUMI_BACKEND_URL", "file://state/")
	write(filepath.Join(root, "Pulumi.yaml"), project)
	check(Options{}, "file://"+filepath.Join(root, "state"))
	check(Options{WorkDir: home}, "file://"+filepath.Join(home, "state"))
	check(Options{Env: map[string]string{"PULUMI_BACKEND_URL": "file://~"}}, "file://"+home)
	check(Options{BackendURL: "postgres://ada:secret@db/state"}, "postgres://ada@db/state")
	check(Options{BackendURL: "postgres://ada@db/state?password=secret&sslmode=require"}, "postgres://ada@db/state?password=&sslmode=require")
}

// TestLoggedInToADirectory: the directory that `pulumi login` has chosen is a local
// backend for the driver too, and stays the driver's.
func TestLoggedInToADirectory(t *testing.T) {
	t.Setenv("PULUMI_BACKEND_URL", "")
	t.Setenv("PULUMI_CREDENTIALS_PATH", "")
	home, root := t.TempDir(), t.TempDir()
	for file, text := range map[string]string{
		filepath.Join(home, "credentials.json"): `{"current":"file://./some%20state?no_tmp_dir=true"}`,
		filepath.Join(root, "Pulumi.yaml"):      "name: tombolo\n",
	} {
		assert.NilError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	d, err := New(Options{Programs: programs.All(), Clouds: clouds.All(), Root: root, PulumiHome: home, Command: newFakeCLI()})
	assert.NilError(t, err)
	dir, local := d.backend.Directory()
	assert.Check(t, local && dir == filepath.Join(root, "some state"), "the backend is %q, a directory: %t", dir, local)
	if got := d.env["PULUMI_BACKEND_URL"]; got != "file://"+root+"/some%20state?no_tmp_dir=true&metadata=skip" || !d.backend.OwnCopies {
		t.Errorf("the CLI is to use %q, and to keep copies: %t", got, d.backend.OwnCopies)
	}
}

func TestBackendCannotBeFound(t *testing.T) {
	t.Setenv("PULUMI_BACKEND_URL", "")
	root := t.TempDir()
	assert.NilError(t, os.WriteFile(filepath.Join(root, "Pulumi.yaml"), []byte("name: [\n"), 0o600))
	got, err := (Options{Root: root}).Backend()
	assert.Check(t, err != nil && got == "", "got %q, %v, from a project that cannot be read", got, err)
}

// TestDiskAlmostFull: nothing starts that may fill it up.
func TestDiskAlmostFull(t *testing.T) {
	b := newBench(t)
	b.backend.FreeSpace = func(string) (uint64, error) { return 5 << 20, nil }
	want := "the disk of the state backend " + b.stateDir + " has 5 MiB free, and 64 are needed; nothing was started"
	_, up := b.Up(t.Context(), demo(), UpOptions{})
	_, destroy := b.Destroy(t.Context(), demo(), DestroyOptions{})
	for operation, err := range map[string]error{"up": up, "destroy": destroy} {
		assert.Check(t, err != nil && strings.HasPrefix(err.Error(), want), "%s: %v", operation, err)
	}
	assert.Check(t, is.Len(b.cli.operations(), 0), "the CLI was asked")
	reports, err := b.Doctor(t.Context(), []*config.Cluster{demo()})
	assert.Check(t, err == nil && strings.Contains(strings.Join(said(reports[0].Findings), "\n"), "fail state backend: the disk of the state backend "+b.stateDir+" has 5 MiB free"),
		"the doctor finds %v, error %v", reports, err)
}

// TestNoHome: without a home the Pulumi CLI has nowhere to run, and the remedy is said.
func TestNoHome(t *testing.T) {
	t.Setenv("HOME", "")
	_, err := New(Options{Programs: programs.All(), Clouds: clouds.All(), Root: t.TempDir(), Command: newFakeCLI(), Env: map[string]string{"PULUMI_HOME": ""}})
	assert.Error(t, err, "the Pulumi CLI has no directory to run in: $HOME is not defined; set HOME, or PULUMI_HOME")
}
