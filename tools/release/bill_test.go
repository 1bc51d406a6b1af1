package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/santhosh-tekuri/jsonschema/v5"
	"gotest.tools/v3/assert"
)

// TestBill: the bill names the program, Go's library and each module, or what replaces it, and
// is what CycloneDX's own schema allows.
func TestBill(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tombolo")
	assert.NilError(t, os.WriteFile(file, []byte("the program"), 0o755))
	p := program{
		platform: "linux/amd64", file: file, version: "1.2.3", commit: "0123456789abcdef",
		committed: time.Date(2026, 11, 25, 20, 0, 0, 0, time.UTC),
		build: &debug.BuildInfo{
			GoVersion: "go1.26.8", Main: debug.Module{Path: "tombolo", Version: "v1.2.3"},
			Deps: []*debug.Module{
				{Path: "github.com/blang/semver", Version: "v3.5.1+incompatible", Sum: "h1:cQNTCjp13qL8KC3Nbxr/y2Bqb63oX6wdnnjpJbkM4JQ="},
				{Path: "example.com/old", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/new", Version: "v1.1.0"}},
			},
		},
	}
	r := &release{to: t.TempDir()}
	assert.NilError(t, r.bill(p))
	text, err := os.ReadFile(filepath.Join(r.to, "tombolo_1.2.3_linux_amd64.cdx.json"))
	assert.NilError(t, err)
	valid(t, text)
	var bom cyclonedx.BOM
	assert.NilError(t, cyclonedx.NewBOMDecoder(bytes.NewReader(text), cyclonedx.BOMFileFormatJSON).Decode(&bom))
	assert.Equal(t, bom.Metadata.Timestamp, "2026-11-25T20:00:00Z")
	assert.Equal(t, (*bom.Metadata.Component.Hashes)[0].Value, "50fda23bf0a5115d4f893dc10d122c10a4705f47688f5620e80611c092d4053e")
	var urls []string
	for _, c := range *bom.Components {
		urls = append(urls, c.PackageURL)
	}
	want := []string{"pkg:golang/stdlib@1.26.8", "pkg:golang/github.com/blang/semver@v3.5.1%2Bincompatible", "pkg:golang/example.com/new@v1.1.0"}
	assert.DeepEqual(t, urls, want)
	assert.DeepEqual(t, *(*bom.Dependencies)[0].Dependencies, want)
}

// valid asserts that a bill of materials is what the schema allows that the module has which
// wrote it.
func valid(t *testing.T, text []byte) {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go").Output()
	assert.NilError(t, err)
	compiler := jsonschema.NewCompiler()
	for _, name := range []string{"bom-1.6.schema.json", "spdx.schema.json", "jsf-0.82.schemax.json"} {
		schema, err := os.Open(filepath.Join(strings.TrimSpace(string(dir)), "schema", name))
		assert.NilError(t, err)
		defer schema.Close()
		assert.NilError(t, compiler.AddResource("http://cyclonedx.org/schema/"+strings.Replace(name, "schemax", "schema", 1), schema))
	}
	schema, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	assert.NilError(t, err)
	var document any
	assert.NilError(t, json.Unmarshal(text, &document))
	assert.NilError(t, schema.Validate(document))
	delete(document.(map[string]any), "bomFormat")
	assert.Check(t, schema.Validate(document) != nil, "the schema allows everything")
}
