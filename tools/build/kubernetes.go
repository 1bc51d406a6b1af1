package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func kubernetesGroup() group {
	return group{name: "kubernetes", build: func(ctx context.Context, src, out, _ string, p *progress) error {
		version, err := pinned(ctx, src, "k8s.io/kubernetes")
		if err != nil {
			return err
		}
		parts := strings.Split(strings.TrimPrefix(version.Version, "v"), ".")
		const pkg = "k8s.io/component-base/version."
		flags := fmt.Sprintf("-X %sgitVersion=%s -X %sgitMajor=%s -X %sgitMinor=%s",
			pkg, version.Version, pkg, parts[0], pkg, parts[1])
		if err := goBuild(ctx, src, filepath.Join(out, "bin"), flags, p, "./cmd/controlplane", "./cmd/fluxinstall",
			"github.com/fluxcd/source-controller", "github.com/fluxcd/kustomize-controller",
			"github.com/fluxcd/helm-controller"); err != nil {
			return err
		}
		for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"} {
			if err := os.Symlink("controlplane", filepath.Join(out, "bin", name)); err != nil {
				return err
			}
		}
		if err := os.MkdirAll(filepath.Join(out, "share"), 0o755); err != nil {
			return err
		}
		return p.run(ctx, src, filepath.Join(out, "bin", "fluxinstall"), filepath.Join(out, "share", "flux-install.yaml"))
	}}
}
