package controllers

import (
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
	return o.ofOnePort(p, dir, "live", slices.Concat(env, o.way(env)))
}
