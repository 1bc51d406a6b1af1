package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config/strict"
	"tombolo/tests/files"
)

func TestSetVersions(t *testing.T) {
	base := files.Read(t, baseFile)
	const line = "  version: \"1.35\"\n"
	for name, tt := range map[string]struct{ before, version, nodes, after string }{
		"nodes are held":         {line, "1.35", "1.34", line + "  nodeVersion: \"1.34\"\n"},
		"both are the same":      {line, "1.34", "1.34", "  version: \"1.34\"\n"},
		"nodes follow":           {"  version: \"1.34\"\n  nodeVersion: \"1.33\"\n", "1.34", "1.34", "  version: \"1.34\"\n"},
		"in the other order":     {"  nodeVersion: \"1.33\" # for now\n  version: \"1.34\"\n", "1.34", "1.34", "  version: \"1.34\"\n"},
		"nodes go on":            {"  version: \"1.35\"\n  nodeVersion: '1.33'\n", "1.35", "1.34", line + "  nodeVersion: \"1.34\"\n"},
		"a comment stays":        {"  version: '1.34' # see ADR 7\n", "1.35", "1.35", "  version: \"1.35\" # see ADR 7\n"},
		"a comment with nodes":   {"  version: '1.34' # see ADR 7\n", "1.35", "1.34", "  version: \"1.35\" # see ADR 7\n  nodeVersion: \"1.34\"\n"},
		"Windows' ends of lines": {"  version: \"1.34\"\r\n", "1.35", "1.34", "  version: \"1.35\"\r\n  nodeVersion: \"1.34\"\r\n"},
		"nothing to do":          {line, "1.35", "1.35", line},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "demo.yaml")
			assert.NilError(t, os.WriteFile(file, []byte(strings.Replace(base, line, tt.before, 1)), 0o640))
			assert.NilError(t, SetVersions(file, tt.version, tt.nodes))
			assert.Equal(t, files.Read(t, file), strings.Replace(base, line, tt.after, 1))
			info, err := os.Stat(file)
			assert.NilError(t, err)
			assert.Equal(t, info.Mode().Perm(), os.FileMode(0o640))
		})
	}
}

// flow is a file whose mapping is on one line.
const flow = `version: 1
name: demo
environment: dev
cloud: {provider: aws, region: eu-central-1, account: "111122223333"}
network: {cidr: 10.0.0.0/16, zones: [eu-central-1a, eu-central-1b]}
kubernetes: {version: "1.34", nodeGroups: [{name: system, instanceTypes: [m7i.large], size: {min: 1, max: 3}}]}
gitops:
  engine: flux
  url: https://git.example.com/platform.git
  path: clusters/dev
  distribution: {version: v2.7.5, sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08}
`

func TestSetVersionsOnOneLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "demo.yaml")
	assert.NilError(t, os.WriteFile(file, []byte(flow), 0o600))
	text := func() string {
		return files.Read(t, file)
	}
	assert.NilError(t, SetVersions(file, "1.35", "1.34"))
	assert.Check(t, is.Contains(text(), `kubernetes: {version: "1.35", nodeVersion: "1.34", nodeGroups:`))
	assert.NilError(t, SetVersions(file, "1.35", "1.35"))
	assert.Equal(t, text(), strings.Replace(flow, "1.34", "1.35", 1))
}

// TestSetVersionsRefuses: what cannot be edited is left as it is, with its place.
func TestSetVersionsRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "demo.yaml")
	content := strings.Replace(strings.Replace(flow, `version: "1.34"`, `version: *v`, 1), "name: demo", "name: &v demo", 1)
	content = strings.Replace(content, "&v demo", "demo", 1)
	content = strings.Replace(content, "environment: dev", "environment: dev\ntags: {v: &v \"1.34\"}", 1)
	assert.NilError(t, os.WriteFile(file, []byte(content), 0o600))
	err := SetVersions(file, "1.35", "1.34")
	var problems strict.Problems
	assert.Assert(t, errors.As(err, &problems), "%v", err)
	assert.Equal(t, files.Read(t, file), content)
}

// TestAtVersion reads a cluster as it would be, and leaves its file alone.
func TestAtVersion(t *testing.T) {
	held := strings.Replace(files.Read(t, baseFile), "version: \"1.35\"\n", "version: \"1.35\"\n  nodeVersion: \"1.34\"\n", 1)
	file := filepath.Join(t.TempDir(), "demo.yaml")
	assert.NilError(t, os.WriteFile(file, []byte(held), 0o600))
	for _, version := range []string{"1.36", "1.34"} {
		c, err := AtVersion(file, version)
		assert.NilError(t, err)
		assert.Equal(t, c.Kubernetes.Version+" "+c.Kubernetes.NodeVersion, version+" ")
	}
	assert.Equal(t, files.Read(t, file), held)

	for version, want := range map[string]string{"1.99": "kubernetes.version", "latest": "kubernetes.version"} {
		_, err := AtVersion(file, version)
		var problems strict.Problems
		assert.Assert(t, errors.As(err, &problems), "%v", err)
		assert.Equal(t, fmt.Sprintf("%s:%d", problems[0].Path, problems[0].Line), want+":12")
	}
}
