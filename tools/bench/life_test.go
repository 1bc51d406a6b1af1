package bench

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// clustersVariable is how many clusters BenchmarkLife has; the default is 30.
const clustersVariable = "TOMBOLO_BENCH_CLUSTERS"

// fleetDefaults are the settings that the fleet's clusters share. The version is what the upgrade changes.
const fleetDefaults = `kubernetes: {version: "` + fromVersion + `"}
gitops:
  branch: main
  auth: {type: basic, username: lab, password: {env: TOMBOLO_GIT_TOKEN}}
`

// Parts of a cluster file: one of the clouds, and one of the engines.
var (
	fleetClouds = []string{`cloud: {provider: aws, region: REGION, account: "111122223333"}
network: {cidr: 10.20.0.0/16, zones: [REGIONa, REGIONb], nat: single}
kubernetes:
  nodeGroups: [{name: system, instanceTypes: [m7i.large], size: {min: 2, max: 4}}]
addons: {metrics-server: {}, karpenter: {}}
`, `cloud: {provider: azure, region: germanywestcentral, account: 00000000-0000-4000-8000-000000000001, tenant: 00000000-0000-4000-8000-00000000000a}
network: {cidr: 10.30.0.0/16, outbound: nat-gateway}
kubernetes:
  endpoint: {private: false, public: true, allowedCidrs: [203.0.113.0/24]}
  admins: [{name: platform-team, group: 00000000-0000-4000-8000-0000000000a1}]
  nodeGroups: [{name: system, mode: system, vmSize: Standard_D4s_v5, size: {min: 2, max: 4}}]
addons: {reloader: {}}
`}
	fleetEngines = []string{`gitops:
  engine: flux
  url: http://git.lab.test/platform.git
  path: clusters/NAME
  distribution: {version: v2.9.3, path: ../.tools/share/flux-install.yaml}
`, `gitops:
  engine: argocd
  url: http://git.lab.test/platform-argocd.git
  path: clusters/NAME
  distribution: {version: v3.5.7, path: ../.tools/share/argocd-install.yaml}
`}
)

// BenchmarkLife has a fleet of both clouds and both engines live: it is made and killed on the way, made to its
// end, looked at, strayed, upgraded by its shared settings, and taken down.
func BenchmarkLife(b *testing.B) {
	ofThisCommit(b)
	n := 30
	if text := os.Getenv(clustersVariable); text != "" {
		var err error
		n, err = strconv.Atoi(text)
		assert.NilError(b, err)
	}
	b.Run(fmt.Sprintf("clusters=%d", n), func(b *testing.B) {
		c := fleetOf(b, n)
		step := func(name string, code int, args ...string) {
			u := c.exits(code, args...)
			u.report(b, name)
			b.Logf("%s: %+v", name, u) // -v shows it at once
		}
		step("validate", 0, "validate")
		step("check", 0, "check")
		// --no-gate: no controllers run that would make a wave ready.
		c.killed("killed", n, "up", "--all", "--yes", "--no-gate")
		step("resumed", 0, "up", "--all", "--yes", "--no-gate")
		step("unchanged", 0, "up", "--all", "--yes", "--no-gate")
		step("forced", 0, "up", "--all", "--yes", "--no-gate", "--force")
		step("list", 0, "list")
		step("status", 0, "status")
		step("doctor", 0, "doctor", "--all")
		step("preview", 0, "preview", "--all")
		c.stray(c.name(0))
		step("drift", 9, "drift", "--all")
		step("remediated", 0, "up", c.name(0), "--yes", "--refresh")
		c.defaults(toVersion)
		step("plan", 0, "preview", "--all", "--plan", "plan.json")
		step("upgraded", 0, "up", "--all", "--yes", "--no-gate", "--plan", "plan.json")
		// No controllers run that would delete Applications: their finalizers are removed.
		step("destroyed", 0, "destroy", "--all", "--yes", "--leftovers", "delete", "--drain-timeout", "30s")
	})
}

// fleetOf is a lab with the files of so many clusters.
func fleetOf(b *testing.B, n int) *checkout {
	b.Helper()
	files := map[string]string{}
	for i := range n {
		region := regions[i/2/perRegion%len(regions)]
		text := fmt.Sprintf("version: 1\nname: NAME\nenvironment: bench\nwave: %d\n", min(i/4, 2)) + fleetClouds[i%2] + fleetEngines[i/2%2]
		name := (&checkout{}).name(i)
		files[name] = strings.NewReplacer("NAME", name, "REGION", region).Replace(text)
	}
	c := fill(b, files)
	c.defaults(fromVersion)
	for engine, tree := range []string{"platform/flux", "platform/argocd"} {
		assert.NilError(b, os.RemoveAll(filepath.Join(c.dir, tree)))
		args := []string{"init", "platform", tree}
		for i := range n {
			if i/2%2 == engine {
				args = append(args, c.name(i))
			}
		}
		c.run(args...)
	}
	c.labUp(profile, share)
	return c
}

func (*checkout) name(i int) string { return fmt.Sprintf("fleet%02d", i+1) }

// defaults writes the settings that are shared, with a version of Kubernetes.
func (c *checkout) defaults(version string) {
	c.b.Helper()
	text := strings.Replace(fleetDefaults, fromVersion, version, 1)
	assert.NilError(c.b, os.WriteFile(filepath.Join(c.dir, "clusters", "_defaults.yaml"), []byte(text), 0o644))
}

// exits is what a run of tombolo takes that ends with the code.
func (c *checkout) exits(code int, args ...string) usage {
	c.b.Helper()
	u, err := measure(c.ctx, c.command(c.ctx, c.tombolo, args...))
	if exit := (&exec.ExitError{}); code != 0 && errors.As(err, &exit) && exit.ExitCode() == code {
		return u
	}
	assert.NilError(c.b, err)
	assert.Equal(c.b, code, 0, "tombolo %s has ended well", strings.Join(args, " "))
	return u
}

// killed kills tombolo when a third of the clusters have their second stack.
func (c *checkout) killed(name string, n int, args ...string) {
	c.b.Helper()
	cmd := c.command(c.ctx, c.tombolo, args...)
	start := time.Now()
	assert.NilError(c.b, cmd.Start())
	made := func() bool {
		found, err := filepath.Glob(filepath.Join(c.dir, ".lab", "state", ".pulumi", "stacks", "tombolo", "*-bootstrap.json"))
		return err != nil || len(found) >= max(n/3, 1)
	}
	for tick := time.Tick(time.Second); !made(); {
		select {
		case <-tick:
		case <-c.ctx.Done():
			c.b.Fatal(c.ctx.Err())
		}
	}
	assert.NilError(c.b, cmd.Process.Kill())
	exit := &exec.ExitError{}
	assert.Check(c.b, errors.As(cmd.Wait(), &exit), "it had ended before")
	c.b.ReportMetric(time.Since(start).Seconds(), name+"-sec")
}

// stray takes something from a cluster that its stack has made.
func (c *checkout) stray(cluster string) {
	c.b.Helper()
	kubeconfig := filepath.Join(c.dir, ".lab", "stray.kubeconfig")
	c.run("kubeconfig", cluster, "--file", kubeconfig)
	cmd := c.command(c.ctx, filepath.Join(c.dir, ".tools", "bin", "kubectl"), "--kubeconfig", kubeconfig,
		"-n", "flux-system", "delete", "configmap", "infra-config")
	cmd.Env = append(cmd.Env, "PATH="+filepath.Dir(c.tombolo)+":"+os.Getenv("PATH"))
	_, err := output(cmd)
	assert.NilError(c.b, err)
}
