package plugins

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"testing"

	"golang.org/x/mod/modfile"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/files"
)

func TestPinned(t *testing.T) {
	got := Pinned(&debug.BuildInfo{Deps: []*debug.Module{
		{Path: "github.com/pulumi/pulumi-azure-native-sdk/containerservice/v2", Version: "v2.82.0"},
		{Path: "github.com/pulumi/pulumi-azure-native-sdk/v2", Version: "v2.90.0"},
		{Path: "github.com/pulumi/pulumi-aws/sdk/v6", Version: "v6.83.2"},
		{Path: "github.com/pulumi/pulumi/sdk/v3", Version: "v3.250.0"},
		{Path: "github.com/pulumi/esc", Version: "v0.24.0"},
	}})
	assert.DeepEqual(t, got, []Plugin{{Name: "aws", Version: "6.83.2"}, {Name: "azure-native", Version: "2.90.0"}})
	assert.Check(t, is.Len(Pinned(nil), 0), "without build information")
}

// TestNeededByNobody: what no cluster uses is not needed, nor what that asks for.
func TestNeededByNobody(t *testing.T) {
	got, err := Needed(eks(), "", func(name string) bool { return name != "eks" })
	assert.NilError(t, err)
	assert.DeepEqual(t, got, []Plugin{{Name: "kubernetes", Version: "4.25.0"}})
}

// eks is a program with the EKS component, as this one is.
func eks() *debug.BuildInfo {
	return &debug.BuildInfo{Deps: []*debug.Module{
		{Path: "github.com/pulumi/pulumi-eks/sdk/v2", Version: "v2.8.1"},
		{Path: "github.com/pulumi/pulumi-kubernetes/sdk/v4", Version: "v4.25.0"},
	}}
}

func TestNeeded(t *testing.T) {
	pinned := []Plugin{{Name: "eks", Version: "2.8.1"}, {Name: "kubernetes", Version: "4.25.0"}}
	home := t.TempDir()
	released := append(pinned, Plugin{Name: "kubernetes", Version: "4.15.0", For: "eks 2.8.1"})
	for _, home := range []string{"", home} {
		got, err := Needed(eks(), home, nil)
		assert.NilError(t, err)
		assert.DeepEqual(t, got, released)
	}
	asks := filepath.Join(home, "plugins", "resource-eks-v2.8.1", "asks.json")
	files.Write(t, asks, `{"kubernetes":"4.25.0"}`)
	got, err := Needed(eks(), home, nil)
	assert.NilError(t, err)
	assert.DeepEqual(t, got, pinned) // a build of one's own asks for what the program has
	files.Write(t, asks, `{`)
	_, err = Needed(eks(), home, nil)
	assert.Check(t, is.ErrorContains(err, "reading what the plugin eks 2.8.1 asks for: "))
}

func TestMissing(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"resource-eks-v2.8.1", "resource-kubernetes-v4.24.0", "resource-tls-v1.0.0"} {
		assert.NilError(t, os.MkdirAll(filepath.Join(home, "plugins", name), 0o755))
	}
	files.Write(t, filepath.Join(home, "plugins", "resource-tls-v1.0.0.partial"), "")
	aws, eks, kubernetes, tls := Plugin{Name: "aws", Version: "6.83.2"}, Plugin{Name: "eks", Version: "2.8.1"},
		Plugin{Name: "kubernetes", Version: "4.25.0"}, Plugin{Name: "tls", Version: "1.0.0"}
	all := []Plugin{aws, eks, kubernetes, tls}
	assert.DeepEqual(t, Missing(all, home, ""), []Plugin{aws, kubernetes, tls})             // one of another version, one half unpacked
	assert.DeepEqual(t, Missing(all, home, "aws:40123,other:5"), []Plugin{kubernetes, tls}) // with a provider that runs
}

// TestLock: every digest of the lock is one, and is known once.
func TestLock(t *testing.T) {
	seen := map[string]bool{}
	hex := regexp.MustCompile(`^[0-9a-f]{64}$`)
	for _, d := range Locked() {
		p := Plugin{Name: d.Name, Version: d.Version}
		if key := p.archive(d.Platform); seen[key] || !hex.MatchString(d.SHA256) || d.Source == "" {
			t.Errorf("%s is there twice, or its digest %q or source %q is none", key, d.SHA256, d.Source)
		} else {
			seen[key] = true
		}
	}
	for _, platform := range Platforms() {
		_, known := Locked().Of(Plugin{Name: "kubernetes", Version: "4.25.0"}, platform)
		assert.Check(t, known, "no digest of kubernetes 4.25.0 for %s is known", platform)
	}
}

// TestReleases: the released EKS plugin whose versions are written down is the one of go.mod,
// and the one that the lab builds.
func TestReleases(t *testing.T) {
	var lock struct {
		Packages map[string]struct{ Version string }
	}
	data, err := os.ReadFile(filepath.FromSlash("../../tools/eks/package-lock.json"))
	assert.NilError(t, err)
	assert.NilError(t, json.Unmarshal(data, &lock))
	data, err = os.ReadFile("../../go.mod")
	assert.NilError(t, err)
	mod, err := modfile.Parse("go.mod", data, nil)
	assert.NilError(t, err)
	pinned := ""
	for _, r := range mod.Require {
		if r.Mod.Path == "github.com/pulumi/pulumi-eks/sdk/v2" {
			pinned = r.Mod.Version
		}
	}
	all := releases()
	assert.Assert(t, is.Len(all, 1))
	r := all[0]
	assert.Check(t, is.Equal("v"+r.Version, pinned), "read the versions of the pinned release at its source")
	assert.Check(t, is.Equal(lock.Packages["node_modules/@pulumi/eks"].Version, r.Version))
	for _, name := range r.Asks {
		assert.Check(t, r.SDKs[name] != "", name)
	}
}
