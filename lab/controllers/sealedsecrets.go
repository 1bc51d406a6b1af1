package controllers

import (
	"slices"

	"tombolo/lab/process"
)

// sealedSecrets is the family of the controller of Sealed Secrets, which is one Deployment.
type sealedSecrets struct{}

// sealedSecretsImage is the base name of its image, sealedSecretsTool of its binary.
const (
	sealedSecretsImage = "sealed-secrets-controller"
	sealedSecretsTool  = "sealed-secrets"
)

func (f sealedSecrets) plan(cluster string, w workload) (plan, bool) {
	for _, c := range w.template.Spec.Containers {
		if w.kind != deployment || imageName(c.Image) != sealedSecretsImage {
			continue
		}
		p := newPlan(f, cluster, w.namespace, w)
		p.tool, p.args = sealedSecretsTool, slices.Clone(c.Args)
		p.read(c, w)
		return p, true
	}
	return plan{}, false
}

func (sealedSecrets) spec(o Options, p plan, dir string, env []string) (process.Spec, error) {
	return o.ofOnePort(p, dir, "listen", env)
}
