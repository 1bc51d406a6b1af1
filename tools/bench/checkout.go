package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tombolo/config"
	"tombolo/lab"
)

// profile of the lab for fleets: an API server for each cluster, all on one etcd, and no
// engine's controllers, which are the cluster's work and not the driver's.
const profile = lab.Light

// downTimeout bounds the end of a lab.
const downTimeout = 3 * time.Minute

// checkout is a project of its own, with a lab of its own.
type checkout struct {
	dir, tombolo string
	env          []string
}

// newCheckout makes a project with measured clusters of these names, and starts its
// lab.
func newCheckout(ctx context.Context, o options, names ...string) (*checkout, error) {
	clusters := map[string]string{}
	for i, name := range names {
		region := regions[i/perRegion%len(regions)]
		clusters[name] = strings.NewReplacer("NAME", name, "REGION", region).Replace(clusterFile)
	}
	c, err := fill(o, clusters)
	if err != nil {
		return nil, err
	}
	if err := c.labUp(ctx, profile, o.latency); err != nil {
		c.remove()
		return nil, err
	}
	return c, nil
}

// fill makes a project with cluster files, by name.
func fill(o options, clusters map[string]string) (*checkout, error) {
	dir, err := os.MkdirTemp("", "tombolo-bench-")
	if err != nil {
		return nil, err
	}
	c := &checkout{dir: dir, tombolo: o.program(), env: append(os.Environ(), "TOMBOLO_LAB=1", "NO_COLOR=1", config.SecretDirs+"="+filepath.Join(o.root, ".tools"))}
	if err := c.fill(o.root, clusters); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return c, nil
}

// labUp starts the lab, or brings a stopped one back, where AWS takes a share of its
// typical durations.
func (c *checkout) labUp(ctx context.Context, profile lab.Profile, latency float64) error {
	c.env = append(c.env, "TOMBOLO_LAB_LATENCY="+strconv.FormatFloat(latency, 'g', -1, 64))
	_, err := c.run(ctx, c.tombolo, "lab", "up", "--profile", string(profile))
	return err
}

func (c *checkout) fill(root string, clusters map[string]string) error {
	for _, dir := range []string{"platform", "lab/charts", "lab/systems"} {
		if err := os.CopyFS(filepath.Join(c.dir, dir), os.DirFS(filepath.Join(root, dir))); err != nil {
			return err
		}
	}
	for _, name := range []string{".tools", "bin"} {
		if err := os.Symlink(filepath.Join(root, name), filepath.Join(c.dir, name)); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(c.dir, "Pulumi.yaml"), []byte(project), 0o644); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(c.dir, "clusters"), 0o755); err != nil {
		return err
	}
	for name, text := range clusters {
		if err := os.WriteFile(filepath.Join(c.dir, "clusters", name+".yaml"), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
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

func (c *checkout) run(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := c.command(ctx, name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, stderr.Bytes())
	}
	return out, nil
}

// pulumi is the plain CLI in the lab's environment.
func (c *checkout) pulumi(ctx context.Context, args ...string) (*exec.Cmd, error) {
	env, err := c.labEnv(ctx)
	if err != nil {
		return nil, err
	}
	cmd := c.command(ctx, filepath.Join(c.dir, ".tools", "bin", "pulumi"), args...)
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return cmd, nil
}

// labEnv is the lab's environment.
func (c *checkout) labEnv(ctx context.Context) (map[string]string, error) {
	out, err := c.run(ctx, c.tombolo, "lab", "env", "--output", "json")
	if err != nil {
		return nil, err
	}
	env := map[string]string{}
	if err := json.Unmarshal(out, &env); err != nil {
		return nil, fmt.Errorf("read the lab's environment: %w", err)
	}
	return env, nil
}

// labCPU is what the lab has taken so far, in seconds.
func (c *checkout) labCPU(ctx context.Context) (float64, error) {
	status, err := c.labStatus(ctx)
	return cpu(status.PID), err
}

func (c *checkout) labStatus(ctx context.Context) (lab.Status, error) {
	var status lab.Status
	out, err := c.run(ctx, c.tombolo, "lab", "status", "--output", "json")
	if err != nil {
		return status, err
	}
	if err := json.Unmarshal(out, &status); err != nil {
		return status, fmt.Errorf("read the lab's status: %w", err)
	}
	return status, nil
}

// remove ends the lab and removes the project.
func (c *checkout) remove() {
	ctx, cancel := context.WithTimeout(context.Background(), downTimeout)
	defer cancel()
	if _, err := c.run(ctx, c.tombolo, "lab", "down"); err == nil {
		os.RemoveAll(c.dir)
	}
}
