package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"tombolo/components/argocd"
	"tombolo/components/distribution"
	"tombolo/components/flux"
	"tombolo/config"
)

// Preflight checks what the program will need besides the cluster file: the
// engine's distribution, with its checksum, and the secrets in files and in the
// environment. Core takes a quarter of an hour in a cloud; what is missing is
// better said before it. All problems are reported together. A spoke
// needs no engine, for its hub has it, but the token of a hub that others run.
func Preflight(ctx context.Context, c *config.Cluster, env map[string]string) error {
	s := secrets{cluster: c, env: env}
	problems := []error{s.checkSealing(), s.checkChannel()}
	if h := c.GitOps.ExternalHub; c.HasExternalHub() {
		return errors.Join(append(problems, s.check(hubTokenPath, h.Token))...)
	}
	if c.IsSpoke() {
		return errors.Join(problems...)
	}
	if _, err := manifestOf(ctx, product(c), c); err != nil {
		problems = append(problems, fmt.Errorf("gitops.distribution: %w", err))
	}
	if pull := c.Egress.Images.PullSecret; pull != nil {
		problems = append(problems, s.check(pullPasswordPath, pull.Password))
	}
	if a := c.GitOps.Auth; a != nil {
		problems = append(problems, s.check("gitops.auth.password", a.Password), s.check("gitops.auth.privateKey", a.PrivateKey))
	}
	return errors.Join(problems...)
}

// check reads a secret that is asked for and not in Pulumi's own keeping.
func (s secrets) check(path string, ref *config.SecretRef) error {
	if ref == nil || ref.Config != "" {
		return nil
	}
	_, err := s.read(path, ref)
	return err
}

// product is the engine that is installed on the cluster.
func product(c *config.Cluster) distribution.Product {
	if c.GitOps.Engine == config.ArgoCD {
		return argocd.Product()
	}
	return flux.Product()
}

// source is where the engine's install manifest or chart is.
func source(c *config.Cluster) distribution.Source {
	d := c.GitOps.Distribution
	s := distribution.Source{SHA256: d.SHA256, Values: d.Values, KubernetesVersion: c.Kubernetes.Version}
	if d.Path != "" {
		s.Path = besideFile(c, d.Path)
	} else {
		s.URL = d.URL
	}
	return s
}

// besideFile is a path of the cluster file, which is relative to it.
func besideFile(c *config.Cluster, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(c.File), path)
}
