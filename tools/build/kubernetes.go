package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// beforeModule is the directory of the module that pins the release before, whose manifest
// tests upgrade from.
const beforeModule = "before"

func kubernetesGroup() group {
	return group{name: "kubernetes", code: []string{"kubernetes", "flux"}, build: func(ctx context.Context, src, out, _ string, p *progress) error {
		version, err := pinned(ctx, src, "k8s.io/kubernetes")
		if err != nil {
			return err
		}
		parts := strings.Split(strings.TrimPrefix(version.Version, "v"), ".")
		const pkg = "k8s.io/component-base/version."
		flags := fmt.Sprintf("-X %sgitVersion=%s -X %sgitMajor=%s -X %sgitMinor=%s",
			pkg, version.Version, pkg, parts[0], pkg, parts[1])
		cuts := append(fluxCuts(), controllersCut())
		if err := goBuildChanged(ctx, src, changes(cuts), filepath.Join(out, "bin"), flags, p, "./cmd/controlplane", "./cmd/fluxinstall",
			"github.com/fluxcd/source-controller", "github.com/fluxcd/kustomize-controller",
			"github.com/fluxcd/helm-controller", "github.com/fluxcd/notification-controller",
			"sigs.k8s.io/kwok/cmd/kwok"); err != nil {
			return err
		}
		for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"} {
			if err := os.Symlink("controlplane", filepath.Join(out, "bin", name)); err != nil {
				return err
			}
		}
		share := filepath.Join(out, "share")
		if err := os.MkdirAll(share, 0o755); err != nil {
			return err
		}
		if err := kwokStages(ctx, src, share); err != nil {
			return err
		}
		install := filepath.Join(out, "bin", "fluxinstall")
		if err := p.run(ctx, src, install, filepath.Join(share, "flux-install.yaml")); err != nil {
			return err
		}
		return p.run(ctx, filepath.Join(src, beforeModule), install, filepath.Join(share, "flux-install-before.yaml"))
	}}
}

// controllersCut leaves out of the controller manager the drivers of CSI, whose volumes no lab
// attaches, and a function of one line for which it has all of the kubelet in it.
func controllersCut() cut {
	const (
		core    = "cmd/kube-controller-manager/app/core.go"
		plugins = "cmd/kube-controller-manager/app/plugins.go"
		pods    = "pkg/controller/podgc/gc_controller.go"
	)
	return cut{module: "k8s.io/kubernetes", edits: []edit{
		lines(pods, `"k8s\.io/kubernetes/pkg/kubelet/eviction"`, 1),
		{pods, regexp.MustCompile(`eviction\.PodIsEvicted\((.*?\.Status)\)`), `($1.Phase == v1.PodFailed && $1.Reason == "Evicted")`, 2},
		lines(core, `"k8s\.io/kubernetes/pkg/controller/volume/(attachdetach|selinuxwarning)"`, 2),
		{
			core, regexp.MustCompile(`(?ms)^(func new(PersistentVolumeAttachDetach|SELinuxWarning)Controller\(.*?\{\n).*?^}\n`),
			"$1\treturn nil, fmt.Errorf(\"the lab's build has no %s\", controllerName)\n}\n", 2,
		},
		lines(plugins, `"k8s\.io/kubernetes/pkg/volume/csi"|\bcsi\.ProbeVolumePlugins\(`, 2),
	}}
}

// kwokModule is the module that plays nodes and pods.
const kwokModule = "sigs.k8s.io/kwok"

// kwokStages keeps what has kwok make nodes ready, and pods: kwok itself has no such stages
// since v0.8.0.
func kwokStages(ctx context.Context, src, share string) error {
	kwok, err := pinned(ctx, src, kwokModule)
	if err != nil {
		return err
	}
	for file, dirs := range map[string][]string{
		"kwok-nodes.yaml": {"node/fast", "node/heartbeat-with-lease"},
		"kwok-pods.yaml":  {"pod/fast"},
	} {
		var all [][]byte
		for _, dir := range dirs {
			stages, err := filepath.Glob(filepath.Join(kwok.Dir, "kustomize", "stage", filepath.FromSlash(dir), filepath.Base(filepath.Dir(dir))+"-*.yaml"))
			if err != nil {
				return err
			}
			if len(stages) == 0 {
				return fmt.Errorf("%s %s has no stages in %s: its layout has changed", kwokModule, kwok.Version, dir)
			}
			for _, stage := range stages {
				content, err := os.ReadFile(stage)
				if err != nil {
					return err
				}
				all = append(all, content)
			}
		}
		if err := os.WriteFile(filepath.Join(share, file), bytes.Join(all, []byte("\n---\n")), 0o644); err != nil {
			return err
		}
	}
	return nil
}
