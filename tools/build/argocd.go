package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The modules that Argo CD and what it calls are built from.
const (
	argocdModule    = "github.com/argoproj/argo-cd/v3"
	helmModule      = "helm.sh/helm/v4"
	kustomizeModule = "sigs.k8s.io/kustomize/kustomize/v5"
)

// verifyScript is a program of Argo CD's image.
const verifyScript = "git-verify-wrapper.sh"

// argocdNames are what Argo CD's one binary is called as: it does what its
// name says, and it calls the last one itself.
func argocdNames() []string {
	return []string{
		"argocd-application-controller", "argocd-applicationset-controller",
		"argocd-repo-server", "argocd-server", "argocd-notifications", "argocd-k8s-auth",
	}
}

func argocdGroup() group {
	return group{name: "argocd", build: func(ctx context.Context, src, out, _ string, p *progress) error {
		argocd, err := pinned(ctx, src, argocdModule)
		if err != nil {
			return err
		}
		flags, err := argocdFlags(ctx, src, argocd)
		if err != nil {
			return err
		}
		bin := filepath.Join(out, "bin")
		if err := goBuild(ctx, src, bin, flags, p,
			argocdModule+"/cmd", helmModule+"/cmd/helm", kustomizeModule, "./cmd/argocd-redis"); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(bin, "cmd"), filepath.Join(bin, "argocd")); err != nil {
			return err
		}
		for _, name := range argocdNames() {
			if err := os.Symlink("argocd", filepath.Join(bin, name)); err != nil {
				return err
			}
		}
		// repo-server calls it for every commit, whether signatures are asked for or not.
		script, err := os.ReadFile(filepath.Join(argocd.Dir, "hack", verifyScript))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(bin, verifyScript), script, 0o755); err != nil {
			return err
		}
		before, err := pinned(ctx, filepath.Join(src, beforeModule), argocdModule)
		if err != nil {
			return err
		}
		return argocdManifests(argocd, before, filepath.Join(out, "share"))
	}}
}

// argocdFlags are linker flags by which each binary reports its version as its
// release does.
func argocdFlags(ctx context.Context, src string, argocd module) (string, error) {
	helm, err := pinned(ctx, src, helmModule)
	if err != nil {
		return "", err
	}
	kustomize, err := pinned(ctx, src, kustomizeModule)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("-X %s/common.version=%s -X %s/internal/version.version=%s -X sigs.k8s.io/kustomize/api/provenance.version=%s",
		argocdModule, strings.TrimPrefix(argocd.Version, "v"), helmModule, helm.Version, kustomize.Version), nil
}

// argocdManifests keeps the install manifests of the pinned release, of one
// replica each and of more, and that of the release before.
func argocdManifests(current, before module, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for name, from := range map[string]string{
		"argocd-install.yaml":        filepath.Join(current.Dir, "manifests", "install.yaml"),
		"argocd-install-ha.yaml":     filepath.Join(current.Dir, "manifests", "ha", "install.yaml"),
		"argocd-install-before.yaml": filepath.Join(before.Dir, "manifests", "install.yaml"),
	} {
		content, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
