// Package clitest runs commands in tests, in projects of their own.
package clitest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"gotest.tools/v3/assert"

	"tombolo/automation/cloud"
	"tombolo/automation/plan"
	"tombolo/automation/pulumicli"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/streams"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

// Console is the factory of commands in tests, with the buffers that they read and write: no
// terminal, and no colours.
type Console struct {
	*factory.Factory
	In, Out, ErrOut *bytes.Buffer
}

// New returns one whose commands write in a format, in a project without clusters.
func New(t *testing.T, format render.Format) Console {
	t.Helper()
	return At(Project(t, nil), format)
}

// At is New in the project of a directory.
func At(root string, format render.Format) Console {
	s, in, out, errOut := streams.Test()
	f := &factory.Factory{
		Streams: s, Globals: &factory.Globals{Output: format, NoColor: true, Root: root}, Dir: root,
		Lookup: Env(nil), Clouds: Clouds(),
	}
	return Console{f, in, out, errOut}
}

// Answer has a person at a terminal answer. Without a text nobody is there.
func (c Console) Answer(text string) {
	if text != "" {
		c.Streams.SetTerminal(120)
		c.In.WriteString(text + "\n")
	}
}

// Env looks variables up in a map.
func Env(variables map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := variables[name]
		return value, ok
	}
}

// Clusters loads the same clusters, whatever is named.
func Clusters(all ...*config.Cluster) func([]string) ([]*config.Cluster, error) {
	return func([]string) ([]*config.Cluster, error) { return all, nil }
}

// Named loads a cluster for each name.
func Named(one func(name string) *config.Cluster) func([]string) ([]*config.Cluster, error) {
	return func(names []string) (all []*config.Cluster, _ error) {
		for _, name := range names {
			all = append(all, one(name))
		}
		return all, nil
	}
}

// Execute runs a command with arguments, and returns its error.
func Execute(t *testing.T, cmd *cobra.Command, args ...string) error {
	t.Helper()
	cmd.SetArgs(append([]string{}, args...)) // cobra takes nil for the process's own
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	return cmd.ExecuteContext(t.Context())
}

// Run executes a command of the console, and returns what it wrote.
func (c Console) Run(t *testing.T, cmd *cobra.Command, args ...string) (out, errOut string, err error) {
	t.Helper()
	err = Execute(t, cmd, args...)
	return c.Out.String(), c.ErrOut.String(), err
}

// Serve answers at a URL until the test ends.
func Serve(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server
}

// Channel is one of notices, and what it was told.
func Channel(t *testing.T) (server *httptest.Server, told *[]string) {
	t.Helper()
	told = new([]string)
	return Serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.Check(t, err)
		*told = append(*told, string(body))
	})), told
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

// Clouds are for commands that judge what is taken away.
func Clouds() cloud.Set {
	return cloud.Set{Of: func(*config.Cluster, *pulumicli.CLI) cloud.Cloud { return judge{} }}
}

// judge is a cloud that knows dangers, and nothing else.
type judge struct{ cloud.Cloud }

func (judge) Danger(token, _ string) plan.Danger {
	return map[string]plan.Danger{
		"aws:ec2/vpc:Vpc": plan.NetworkDanger, "aws:ec2/subnet:Subnet": plan.NetworkDanger,
		"aws:eks/nodeGroup:NodeGroup": plan.NodeGroupDanger, "aws:s3/bucket:Bucket": plan.DataDanger,
	}[token]
}
