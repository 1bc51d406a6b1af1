package controllers

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"tombolo/lab/process"
)

// ofOnePort is the process of a controller that serves its health on its one port, which the
// flag --<server>-addr sets. The port has the name of the flag in the lab's book.
func (o Options) ofOnePort(p plan, dir, server string, env []string) (process.Spec, error) {
	var port int
	if err := o.Ports.Fill(map[string]*int{p.process + "-" + server: &port}); err != nil {
		return process.Spec{}, err
	}
	s := process.Spec{
		Name: p.process, Path: filepath.Join(o.Tools, p.tool), Dir: dir, Restart: true,
		Args: append(slices.Clone(p.args), "--"+server+"-addr="+address(port)), // the last of two wins
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
