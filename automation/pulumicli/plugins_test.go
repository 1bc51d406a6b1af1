package pulumicli

import (
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"

	"gotest.tools/v3/assert"
)

func TestRequiredPlugins(t *testing.T) {
	got := requiredPlugins(&debug.BuildInfo{Deps: []*debug.Module{
		{Path: "github.com/pulumi/pulumi-aws/sdk/v6", Version: "v6.83.2"},
		{Path: "github.com/pulumi/pulumi-azure-native/sdk", Version: "v1.2.3"},
		{Path: "github.com/pulumi/pulumi/sdk/v3", Version: "v3.250.0"},
		{Path: "github.com/pulumi/esc", Version: "v0.24.0"},
	}})
	if want := map[string]string{"aws": "v6.83.2", "azure-native": "v1.2.3"}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := requiredPlugins(nil); len(got) > 0 {
		t.Errorf("without build information: %v", got)
	}
}

func TestMissingPlugins(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"resource-eks-v2.8.1", "resource-kubernetes-v4.24.0"} {
		assert.NilError(t, os.Mkdir(filepath.Join(dir, name), 0o755))
	}
	required := map[string]string{"aws": "v6.83.2", "eks": "v2.8.1", "kubernetes": "v4.25.0"}
	if got, want := missingPlugins(required, dir, ""), []string{"aws", "kubernetes"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v: one is of another version", got, want)
	}
	if got, want := missingPlugins(required, dir, "aws:40123,other:5"), []string{"kubernetes"}; !slices.Equal(got, want) {
		t.Errorf("with a provider that runs: got %v, want %v", got, want)
	}
	if got := missingPlugins(required, "", ""); got != nil {
		t.Errorf("without a directory: got %v", got)
	}
}
