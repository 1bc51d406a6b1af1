package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
)

// sharingClusters have most of their settings from two files that they share.
const sharingClusters = 100

// The files of a project whose clusters share settings.
const (
	sharedByAll = `version: 1
cloud: {provider: aws, region: eu-central-1, account: "111122223333"}
network: {zones: [eu-central-1a, eu-central-1b]}
kubernetes:
  version: "1.35"
  nodeGroups: [{name: system, instanceTypes: [m7i.large], size: {min: 1, max: 3}}]
addons: {metrics-server: {}, cert-manager: {}}
gitops:
  engine: flux
  url: https://git.example.com/platform.git
  distribution: {version: v2.9.0, sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08}
`
	sharedInProduction = "protect: true\ntags: {cost-center: \"4711\"}\n"
	sharingCluster     = "name: %[1]s\nenvironment: prod\nnetwork: {cidr: 10.%[2]d.0.0/16}\ngitops: {path: clusters/%[1]s}\n"
)

// BenchmarkValidate is what `tombolo validate` costs for clusters that share settings, with the start
// of the program.
func BenchmarkValidate(b *testing.B) {
	ofThisCommit(b)
	root := b.TempDir()
	write := func(name, text string) {
		assert.NilError(b, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	assert.NilError(b, os.Mkdir(filepath.Join(root, "clusters"), 0o700))
	write("Pulumi.yaml", "name: tombolo\nruntime: go\n")
	write("clusters/_defaults.yaml", sharedByAll)
	write("clusters/_prod.yaml", sharedInProduction)
	for i := range sharingClusters {
		name := fmt.Sprintf("edge-%02d", i)
		write("clusters/"+name+".yaml", fmt.Sprintf(sharingCluster, name, i))
	}
	program := filepath.Join(measuredRoot(b), "bin", "tombolo")
	var work float64
	for b.Loop() {
		cmd := exec.CommandContext(context.Background(), program, "validate")
		cmd.Dir = root
		text, err := cmd.CombinedOutput()
		assert.NilError(b, err, "%s", text)
		work += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	}
	b.ReportMetric(work/float64(b.N), "cpu-sec")
}
