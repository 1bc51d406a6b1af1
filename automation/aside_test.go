package automation

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// A preview of what does not exist leaves nothing in the backend.
func TestPreviewMakesNoStack(t *testing.T) {
	b := newBench(t)
	if _, err := b.Preview(t.Context(), demo(), PreviewOptions{}); err != nil {
		t.Fatal(err)
	}
	if len(b.cli.states) > 0 || !slices.Contains(b.cli.calls, "preview demo-bootstrap") {
		t.Errorf("a preview has made %v, by %v", b.cli.states, b.cli.calls)
	}
	// Bootstrap asks core for its outputs: it is previewed beside it.
	b.cli.states["demo-core"] = deployed("demo-core")
	if _, err := b.Preview(t.Context(), demo(), PreviewOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, made := b.cli.states["demo-bootstrap"]; !made {
		t.Error("bootstrap was previewed where core is not")
	}
}

// What is encrypted in a stack's settings is read as ever; without any, nobody
// needs a passphrase.
func TestAside(t *testing.T) {
	for name, tt := range map[string]struct {
		settings            string
		secrets, passphrase string
	}{
		"no settings":            {"", "passphrase", "nothing is stored"},
		"settings, no secrets":   {"config: {}\n", "passphrase", "nothing is stored"},
		"encrypted by a phrase":  {"encryptionsalt: v1:abc\n", "passphrase", "theirs"},
		"encrypted by a key":     {"secretsprovider: awskms://alias/a\nencryptedkey: abc\n", "awskms://alias/a", "theirs"},
		"a salt that is not one": {"encryptionsalt: \"\"\n", "passphrase", "nothing is stored"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.env["PULUMI_CONFIG_PASSPHRASE"] = "theirs"
			if err := b.prepareWorkDir(); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(stackConfigDir, "Pulumi.demo-core.yaml")
			if tt.settings != "" {
				if err := os.WriteFile(filepath.Join(b.opts.WorkDir, file), []byte(tt.settings), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			dir := t.TempDir()
			at, err := b.aside(dir, "demo-core")
			if err != nil {
				t.Fatal(err)
			}
			got := []string{at.dir, at.secrets, at.env["PULUMI_CONFIG_PASSPHRASE"], at.env["PULUMI_BACKEND_URL"], b.env["PULUMI_BACKEND_URL"]}
			want := []string{dir, tt.secrets, tt.passphrase, "file://" + filepath.Join(dir, "state"), "file://" + b.stateDir}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("place (-want +got):\n%s", diff)
			}
			copied, err := os.ReadFile(filepath.Join(dir, file))
			if string(copied) != tt.settings || err != nil && tt.settings != "" {
				t.Errorf("settings are %q, error %v, want %q", copied, err, tt.settings)
			}
		})
	}
}

// The program's directory is not copied, and the engine refuses a "main" that is
// not there.
func TestProjectAsideHasNoMain(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "Pulumi.yaml"), filepath.Join(t.TempDir(), "Pulumi.yaml")
	project := "name: tombolo\nmain: ./cmd/program\nruntime:\n  name: go\nstackConfigDir: clusters\n"
	if err := os.WriteFile(from, []byte(project), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := copyProject(from, to); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	var copied map[string]any
	if err := yaml.Unmarshal(got, &copied); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"name": "tombolo", "runtime": map[string]any{"name": "go"}, "stackConfigDir": "clusters"}
	if diff := cmp.Diff(want, copied); diff != "" {
		t.Errorf("project (-want +got):\n%s", diff)
	}
}
