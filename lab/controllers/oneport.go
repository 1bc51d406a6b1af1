package controllers

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"tombolo/lab/process"
)

// onePort is the family of a controller that is one Deployment, and serves its health on its one
// port. The port has the name of the flag in the lab's book.
type onePort struct {
	// image is the base name of its image, and tool its binary.
	image, tool string
	// namespace is its usual one; empty for any.
	namespace string
	// server is the flag --<server>-addr, which sets the port.
	server string
	// out says that it asks others than its cluster.
	out bool
}

// Of External Secrets this is the controller alone. Its webhook and its certificate controller
// are Deployments of their own, which the lab does without.
var (
	sealedSecrets   = onePort{image: "sealed-secrets-controller", tool: "sealed-secrets", server: "listen"}
	externalSecrets = onePort{image: "external-secrets", tool: "external-secrets", namespace: "external-secrets", server: "live", out: true}
)

func (f onePort) plan(cluster string, w workload) (plan, bool) {
	for _, c := range w.template.Spec.Containers {
		if w.kind != deployment || imageName(c.Image) != f.image {
			continue
		}
		p := newPlan(f, cluster, cmp.Or(f.namespace, w.namespace), w)
		p.tool, p.args = f.tool, slices.Clone(c.Args)
		p.read(c, w)
		return p, true
	}
	return plan{}, false
}

func (f onePort) spec(o Options, p plan, dir string, env []string) (process.Spec, error) {
	var port int
	if err := o.Ports.Fill(map[string]*int{p.process + "-" + f.server: &port}); err != nil {
		return process.Spec{}, err
	}
	if f.out {
		env = slices.Concat(env, o.way(env))
	}
	s := process.Spec{
		Name: p.process, Path: filepath.Join(o.Tools, p.tool), Dir: dir, Restart: true,
		Args: append(slices.Clone(p.args), "--"+f.server+"-addr="+address(port)), // the last of two wins
		Env: slices.Concat(env, []string{
			o.search(env, os.Getenv(searched)), "HOME=" + o.Home, "TMPDIR=" + filepath.Join(dir, "tmp"),
			"KUBECONFIG=" + filepath.Join(dir, "kubeconfig"), "POD_NAMESPACE=" + p.namespace,
		}),
		Ports:   []int{port},
		Healthy: process.HTTPHealthy(fmt.Sprintf("http://%s/healthz", address(port)), nil),
	}
	if _, err := os.Stat(s.Path); err != nil {
		return s, fmt.Errorf("%s is missing (%s)", p.tool, s.Path)
	}
	return s, nil
}
