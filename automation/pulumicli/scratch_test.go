package pulumicli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

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
			p := New(Options{Root: t.TempDir(), WorkDir: t.TempDir(), Env: map[string]string{
				"PULUMI_BACKEND_URL": "s3://theirs", "PULUMI_CONFIG_PASSPHRASE": "theirs",
			}})
			if err := p.prepareWorkDir(); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(stackConfigDir, "Pulumi.demo-core.yaml")
			if tt.settings != "" {
				if err := os.WriteFile(filepath.Join(p.WorkDir, file), []byte(tt.settings), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			dir := t.TempDir()
			at, err := p.Aside(dir, "demo-core")
			if err != nil {
				t.Fatal(err)
			}
			got := []string{at.dir, at.secrets, at.env["PULUMI_CONFIG_PASSPHRASE"], at.env["PULUMI_BACKEND_URL"], p.Env["PULUMI_BACKEND_URL"]}
			want := []string{dir, tt.secrets, tt.passphrase, "file://" + filepath.Join(dir, "state"), "s3://theirs"}
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
