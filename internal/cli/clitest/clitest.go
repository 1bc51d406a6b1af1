// Package clitest runs commands in tests, in projects of their own.
package clitest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"gotest.tools/v3/assert"
)

// Execute runs a command with arguments, and returns its error.
func Execute(t *testing.T, cmd *cobra.Command, args ...string) error {
	t.Helper()
	cmd.SetArgs(append([]string{}, args...)) // cobra takes nil for the process's own
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	return cmd.ExecuteContext(t.Context())
}

// Project is the directory of a project with cluster files, by the clusters' names.
func Project(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	assert.NilError(t, os.Mkdir(filepath.Join(root, "clusters"), 0o755))
	for name, text := range files {
		assert.NilError(t, os.WriteFile(filepath.Join(root, "clusters", name+".yaml"), []byte(text), 0o644))
	}
	assert.NilError(t, os.WriteFile(filepath.Join(root, "Pulumi.yaml"), []byte("name: tombolo\n"), 0o644))
	return root
}

// ClusterFile is a cluster file of little but what it must have.
func ClusterFile(name, environment string, wave int) string {
	return fmt.Sprintf(`version: 1
name: %s
environment: %s
wave: %d
cloud: {provider: aws, region: eu-central-1, account: "111122223333"}
network: {cidr: 10.0.0.0/16, zones: [eu-central-1a, eu-central-1b]}
kubernetes:
  version: "1.35"
  nodeGroups: [{name: default, instanceTypes: [t3.large], size: {min: 1, max: 2, desired: 1}}]
gitops:
  engine: flux
  url: https://git.example.com/platform.git
  path: clusters/%s
  distribution: {version: v2.7.5, sha256: "%064d"}
`, name, environment, wave, name, 0)
}
