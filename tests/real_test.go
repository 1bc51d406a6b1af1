package tests

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// played is the page that says what is real, what is played, and what was never run.
const played = "../docs/guide/real.md"

// TestEverythingPlayedIsInTheTable holds the page to the checkout: each service of the stand-ins
// and each process of the lab that plays something is in it, and each path in it is there.
func TestEverythingPlayedIsInTheTable(t *testing.T) {
	text, err := os.ReadFile(played)
	assert.NilError(t, err)
	page := string(text)
	named := map[string]bool{}
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		for _, m := range regexp.MustCompile("`((?:automation|cmd|lab|tests|tools)/[^` ]+)`").FindAllStringSubmatch(line, -1) {
			named[m[1]] = true
			_, err := os.Stat(filepath.Join("..", m[1]))
			assert.Check(t, err, "%s names %s", played, m[1])
		}
	}
	for _, cloud := range []string{"lab/aws", "lab/azure"} {
		services, err := os.ReadDir(filepath.Join("..", cloud))
		assert.NilError(t, err)
		for _, s := range services {
			dir := cloud + "/" + s.Name()
			assert.Check(t, !s.IsDir() || s.Name() == "testdata" || named[dir], "%s does not name %s", played, dir)
		}
	}
	charts, err := filepath.Glob("../lab/charts/*/Chart.yaml")
	assert.NilError(t, err)
	assert.Check(t, len(charts) > 20 && named["lab/charts"])
}

// TestVersionsInTheTable holds the versions in the page to the modules that are built.
func TestVersionsInTheTable(t *testing.T) {
	page, err := os.ReadFile(played)
	assert.NilError(t, err)
	for _, v := range []struct{ part, file, version string }{
		{"Pulumi's engine and CLI", "tools/pulumi/go.mod", `pulumi/pkg/v3 v(\S+)`},
		{"Pulumi's EKS component", "tools/eks/package.json", `"@pulumi/eks": "([^"]+)"`},
		{"Pulumi's Kubernetes provider", "tools/build/plugins.go", `const version = "([^"]+)"`},
		{"Pulumi's AWS provider", "go.mod", `pulumi-aws/sdk/v\d+ v(\S+)`},
		{"Pulumi's Azure Native provider", "go.mod", `pulumi-azure-native-sdk/network/v\d+ v(\S+)`},
		{"Kubernetes API server", "tools/kubernetes/go.mod", `k8s.io/kubernetes v(\S+)`},
		{"etcd", "tools/kubernetes/go.mod", `go.etcd.io/etcd/server/v3 v(\S+)`},
		{"kubelet, nodes and pods", "tools/kubernetes/go.mod", `sigs.k8s.io/kwok v(\S+)`},
		{"Flux's controllers", "tools/kubernetes/go.mod", `flux2/v2 v(\S+)`},
		{"Argo CD's controllers", "tools/argocd/go.mod", `argo-cd/v3 v(\S+)`},
		{"kubectl, kubelogin", "tools/kubelogin/go.mod", `Azure/kubelogin v(\S+)`},
		{"Sealed Secrets", "tools/sealedsecrets/go.mod", `sealed-secrets v(\S+)`},
		{"External Secrets", "tools/externalsecrets/go.mod", `external-secrets/external-secrets v(\S+)`},
	} {
		file, err := os.ReadFile(filepath.Join("..", v.file))
		assert.NilError(t, err)
		m := regexp.MustCompile(v.version).FindStringSubmatch(string(file))
		assert.Assert(t, m != nil, "%s has no version of %s", v.file, v.part)
		row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(v.part) + `.*$`).FindString(string(page))
		assert.Check(t, strings.Contains(row, m[1]), "%s is %s in %s, and the row of %s says: %s", v.part, m[1], v.file, played, row)
	}
}
