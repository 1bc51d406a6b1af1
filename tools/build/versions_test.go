package main

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/mod/modfile"
	"gotest.tools/v3/assert"
)

// otherVersions are the libraries of which a tool needs another version than the program,
// with the reason. Few packages stand on each.
var otherVersions = map[string]string{
	"go.yaml.in/yaml/v4":            "the linter of workflows, which tests of the program call, wants an older one",
	"github.com/mattn/go-runewidth": "kwok's and kubectl's tables want an older one",
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc": "the API server wants an older one",
	"github.com/robfig/cron/v3":                                       "Argo CD wants what came after its last release",
}

// TestVersionsAreShared: what the program and its tools share has one version, or two
// cores compile most packages twice (ADR 11).
func TestVersionsAreShared(t *testing.T) {
	ours, met := required(t, "."), map[string]bool{}
	for _, tool := range []string{"kubernetes", "plugins", "pulumi", "rules", "externalsecrets", "kubelogin", "argocd", "sealedsecrets", "logrules", "lint"} {
		shared := 0
		for module, theirs := range required(t, filepath.Join("tools", tool)) {
			version, both := ours[module]
			if !both {
				continue
			}
			shared++
			if version == theirs {
				continue
			}
			if _, excepted := otherVersions[module]; !excepted {
				t.Errorf("%s is %s in go.mod and %s in tools/%s/go.mod; give both the newer one", module, version, theirs, tool)
			}
			met[module] = true
		}
		assert.Check(t, shared != 0, "tools/%s shares no library with the program", tool)
	}
	for module := range otherVersions {
		assert.Check(t, met[module], "%s has one version everywhere, and needs no exception", module)
	}
}

// required are the versions that the go.mod of a directory of the checkout asks for. What it
// replaces does not count: with -trimpath the compiler is told the version that was asked for,
// and so compiles anew what is replaced with the version that others ask for.
func required(t *testing.T, dir string) map[string]string {
	t.Helper()
	path := filepath.Join("..", "..", dir, "go.mod")
	text, err := os.ReadFile(path)
	assert.NilError(t, err)
	file, err := modfile.ParseLax(path, text, nil)
	assert.NilError(t, err)
	versions := map[string]string{}
	for _, r := range file.Require {
		versions[r.Mod.Path] = r.Mod.Version
	}
	return versions
}
