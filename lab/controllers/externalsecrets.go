package controllers

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"tombolo/lab/process"
)

// externalSecrets is the family of the controller of External Secrets. Its webhook and its
// certificate controller are Deployments of their own, which the lab does without.
type externalSecrets struct{}

// externalSecretsImage is the base name of its image and of its binary.
const externalSecretsImage = "external-secrets"

func (f externalSecrets) plan(cluster string, w workload) (plan, bool) {
	for _, c := range w.template.Spec.Containers {
		if w.kind != deployment || imageName(c.Image) != externalSecretsImage {
			continue
		}
		p := newPlan(f, cluster, "external-secrets", w)
		p.tool, p.args = externalSecretsImage, slices.Clone(c.Args)
		p.read(c, w)
		return p, true
	}
	return plan{}, false
}

func (externalSecrets) spec(o Options, p plan, dir string, env []string) (process.Spec, error) {
	var port int
	if err := o.Ports.Fill(map[string]*int{p.process + "-live": &port}); err != nil {
		return process.Spec{}, err
	}
	s := process.Spec{
		Name: p.process, Path: filepath.Join(o.Tools, p.tool), Dir: dir, Restart: true,
		Args: append(slices.Clone(p.args), "--live-addr="+address(port)), // the last of two wins
		Env: slices.Concat(env, o.way(env), []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + o.Home, "TMPDIR=" + filepath.Join(dir, "tmp"),
			"KUBECONFIG=" + filepath.Join(dir, "kubeconfig"), "POD_NAMESPACE=" + p.namespace,
		}),
		Ports:   []int{port},
		Healthy: process.HTTPHealthy(fmt.Sprintf("http://%s/healthz", address(port)), nil),
	}
	if _, err := os.Stat(s.Path); err != nil {
		return s, fmt.Errorf("%s is missing (%s); run `make tools`", p.tool, s.Path)
	}
	return s, nil
}
