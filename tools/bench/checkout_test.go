package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"tombolo/config"
	"tombolo/lab"
)

// profile of the lab for fleets: an API server for each cluster, all on one etcd, and no
// engine's controllers, which are the cluster's work and not the driver's.
const profile = lab.Light

// downTimeout bounds the end of a lab.
const downTimeout = 3 * time.Minute

// share of AWS's typical durations that the stand-in takes, where it is not measured.
const share = 0.02

// checkout is a project of its own, with a lab of its own.
type checkout struct {
	b *testing.B
	// ctx ends by an interrupt, so that the lab is removed.
	ctx          context.Context
	dir, tombolo string
	env          []string
}

// newCheckout makes a project with measured clusters of these names, and starts its
// lab.
func newCheckout(b *testing.B, latency float64, names ...string) *checkout {
	b.Helper()
	clusters := map[string]string{}
	for i, name := range names {
		region := regions[i/perRegion%len(regions)]
		clusters[name] = strings.NewReplacer("NAME", name, "REGION", region).Replace(clusterFile)
	}
	c := fill(b, clusters)
	c.labUp(profile, latency)
	return c
}

// fill makes a project with cluster files, by name. It is removed at the end, and its lab.
func fill(b *testing.B, clusters map[string]string) *checkout {
	b.Helper()
	dir, err := os.MkdirTemp("", "tombolo-bench-") //nolint:usetesting // it stays where its lab does not end
	assert.NilError(b, err)
	root := measuredRoot(b)
	ctx, stop := signal.NotifyContext(b.Context(), os.Interrupt)
	c := &checkout{
		b: b, ctx: ctx, dir: dir, tombolo: filepath.Join(root, "bin", "tombolo"),
		env: append(os.Environ(), "TOMBOLO_LAB=1", "NO_COLOR=1", config.SecretDirs+"="+filepath.Join(root, ".tools")),
	}
	b.Cleanup(func() { c.remove(); stop() })
	for _, dir := range []string{"platform", "lab/charts", "lab/systems"} {
		assert.NilError(b, os.CopyFS(filepath.Join(c.dir, dir), os.DirFS(filepath.Join(root, dir))))
	}
	for _, name := range []string{".tools", "bin"} {
		assert.NilError(b, os.Symlink(filepath.Join(root, name), filepath.Join(c.dir, name)))
	}
	assert.NilError(b, os.WriteFile(filepath.Join(c.dir, "Pulumi.yaml"), []byte(project), 0o644))
	assert.NilError(b, os.Mkdir(filepath.Join(c.dir, "clusters"), 0o755))
	for name, text := range clusters {
		assert.NilError(b, os.WriteFile(c.clusterFile(name), []byte(text), 0o644))
	}
	return c
}

func (c *checkout) clusterFile(name string) string {
	return filepath.Join(c.dir, "clusters", name+".yaml")
}

// labUp starts the lab, or brings a stopped one back, where AWS takes a share of its
// typical durations.
func (c *checkout) labUp(profile lab.Profile, latency float64) {
	c.b.Helper()
	c.env = append(c.env, "TOMBOLO_LAB_LATENCY="+strconv.FormatFloat(latency, 'g', -1, 64))
	c.run("lab", "up", "--profile", string(profile))
}

// project is the project's file with a program that is built already: what is
// measured is Pulumi, and not the Go compiler.
const project = `name: tombolo
runtime: {name: go, options: {binary: ./bin/program}}
stackConfigDir: clusters
`

// perRegion is how many networks AWS allows in a region by default:
// https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html
const perRegion = 5

// regions that the clusters are spread over, as the quota has it.
var regions = []string{"eu-central-1", "eu-west-1", "us-east-1", "us-west-2"}

// clusterFile of a measured cluster: both stacks with what every cluster has, and
// two addons.
const clusterFile = `version: 1
name: NAME
environment: bench
cloud: {provider: aws, region: REGION, account: "111122223333"}
network: {cidr: 10.20.0.0/16, zones: [REGIONa, REGIONb], nat: single}
kubernetes:
  version: "1.36"
  nodeGroups:
    - {name: system, instanceTypes: [m7i.large], size: {min: 2, max: 4}}
addons:
  karpenter: {}
  metrics-server: {}
gitops:
  engine: flux
  url: http://git.lab.test/platform.git
  branch: main
  path: clusters/demo
  auth: {type: basic, username: lab, password: {env: TOMBOLO_GIT_TOKEN}}
  distribution: {version: v2.9.3, path: ../.tools/share/flux-install.yaml}
`

// command of the project.
func (c *checkout) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = downTimeout
	return cmd
}

// run runs tombolo, and returns what it says on stdout.
func (c *checkout) run(args ...string) []byte {
	c.b.Helper()
	out, err := output(c.command(c.ctx, c.tombolo, args...))
	assert.NilError(c.b, err)
	return out
}

func output(cmd *exec.Cmd) ([]byte, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, stderr.Bytes())
	}
	return out, nil
}

// measured is what a run of tombolo takes.
func (c *checkout) measured(args ...string) usage {
	c.b.Helper()
	return c.measure(c.command(c.ctx, c.tombolo, args...))
}

func (c *checkout) measure(cmd *exec.Cmd) usage {
	c.b.Helper()
	u, err := measure(c.ctx, cmd)
	assert.NilError(c.b, err)
	return u
}

// pulumi is the plain CLI in the lab's environment.
func (c *checkout) pulumi(args ...string) *exec.Cmd {
	c.b.Helper()
	cmd := c.command(c.ctx, filepath.Join(c.dir, ".tools", "bin", "pulumi"), args...)
	for name, value := range c.labEnv() {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return cmd
}

// labEnv is the lab's environment.
func (c *checkout) labEnv() (env map[string]string) {
	c.b.Helper()
	assert.NilError(c.b, json.Unmarshal(c.run("lab", "env", "--output", "json"), &env))
	return env
}

// labCPU is what the lab has taken so far, in seconds.
func (c *checkout) labCPU() float64 {
	c.b.Helper()
	return cpu(c.labStatus().PID)
}

func (c *checkout) labStatus() (status lab.Status) {
	c.b.Helper()
	assert.NilError(c.b, json.Unmarshal(c.run("lab", "status", "--output", "json"), &status))
	return status
}

// remove ends the lab and removes the project.
func (c *checkout) remove() {
	ctx, cancel := context.WithTimeout(context.Background(), downTimeout)
	defer cancel()
	if _, err := output(c.command(ctx, c.tombolo, "lab", "down")); err != nil {
		c.b.Logf("%s stays: %v", c.dir, err)
		return
	}
	os.RemoveAll(c.dir)
}
