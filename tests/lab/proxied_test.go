//go:build lab

package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/tier"
)

// TestClusterBehindAProxy is the way of a cluster whose network leads nowhere but to a
// company's proxy, which refuses what it does not know and opens TLS: nothing starts without
// egress in the file, and with it everything does, by what the proxy lists and no more.
func TestClusterBehindAProxy(t *testing.T) {
	tier.Long(t, "a network that leads nowhere but to a company's proxy")
	p := newProject(t)
	p.must(t, "lab", "up", "--network", "proxied")
	const file = "clusters/demo.yaml"
	p.edit(t, file, "  nat: single\n  endpoints: [s3]\n", "  nat: none\n  endpoints: [s3, ec2, eks-auth, sts]\n")
	p.edit(t, file, "chart_repository: http://charts.lab.test", "chart_repository: https://charts.corp.example")
	egress := p.egress(t)
	trusted := regexp.MustCompile(`(?m)^  certificateAuthority: \|\n(    .*\n)+`).FindString(egress)
	assert.Assert(t, trusted != "")

	// Without the certificates, the images are not found, and the reason is on the pods.
	text := p.read(t, file)
	p.write(t, file, text+strings.Replace(egress, trusted, "", 1))
	cmd, out := p.start(t, "up", "demo", "--yes")
	eventually(t, 4*time.Minute, func() string {
		waiting := p.waiting(t)
		for _, want := range []string{"ImagePullBackOff", `"mirror.corp.example/ghcr/fluxcd/source-controller`, "x509: certificate signed by unknown authority"} {
			if !strings.Contains(waiting, want) {
				return fmt.Sprintf("pods wait, but not by %s:\n%s\n%s", want, waiting, out)
			}
		}
		return ""
	})
	killAll(t, cmd, p)

	p.write(t, file, text+egress)
	p.must(t, "up", "demo", "--yes", "--verify")
	p.unchanged(t, "demo")
	assert.DeepEqual(t, p.asked(t), []string{"allowed charts.corp.example", "allowed git.lab.test", "allowed mirror.corp.example"})

	// What is not at the mirror is asked for, and refused.
	p.kubectl(t, "demo", "-n", "default", "run", "stranger", "--image=registry.example.com/stranger:1")
	eventually(t, time.Minute, func() string {
		if slices.Contains(p.asked(t), "refused registry.example.com") {
			return ""
		}
		return "the proxy was asked for " + strings.Join(p.asked(t), ", ")
	})
	p.kubectl(t, "demo", "-n", "default", "delete", "pod", "stranger")
	p.must(t, "destroy", "demo", "--yes")
	p.nothingExists(t)
}

// waiting says what pods of Flux wait for; "" while there are none to be seen.
func (p project) waiting(t *testing.T) string {
	t.Helper()
	file := filepath.Join(p.dir, ".lab", "clusters", "demo", "admin.kubeconfig")
	return p.tool(t, "kubectl", "--kubeconfig", file, "-n", "flux-system", "get", "pods", "-o",
		`jsonpath={range .items[*].status.containerStatuses[*]}{.state.waiting.reason} {.state.waiting.message}{"\n"}{end}`).stdout
}

// egress of the cluster file, by the company's proxy and mirror.
func (p project) egress(t *testing.T) string {
	t.Helper()
	found := regexp.MustCompile(`TOMBOLO_LAB_COMPANY_CA='?([^'\s]+)`).FindStringSubmatch(p.must(t, "lab", "env"))
	assert.Assert(t, is.Len(found, 2))
	pem, err := os.ReadFile(found[1])
	assert.NilError(t, err)
	return `
egress:
  proxy:
    url: http://proxy.corp.example:3128
  certificateAuthority: |
    ` + strings.ReplaceAll(strings.TrimSpace(string(pem)), "\n", "\n    ") + `
  images:
    mirrors:
      ghcr.io: mirror.corp.example/ghcr
      docker.io: mirror.corp.example/docker-hub
    pullSecret:
      username: robot
      password: {env: TOMBOLO_MIRROR_PASSWORD}
`
}

// asked are the hosts that the company's proxy was asked for, each with its verdict, sorted.
func (p project) asked(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, ".lab", "logs", "company-proxy.log"))
	assert.NilError(t, err)
	return slices.Compact(slices.Sorted(strings.SplitSeq(strings.TrimSpace(string(text)), "\n")))
}
