package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// kubectlGroup is kubectl alone, which the EKS component starts (see
// automation/preflight): of the release that the lab's control planes have, and
// without them.
func kubectlGroup() group {
	return group{name: "kubectl", module: "kubernetes", build: func(ctx context.Context, src, out, _ string, p *progress) error {
		release, err := pinned(ctx, src, "k8s.io/kubernetes")
		if err != nil {
			return err
		}
		// The EKS component reads gitVersion of `kubectl version`.
		number := strings.Split(strings.TrimPrefix(release.Version, "v"), ".")
		flags := fmt.Sprintf("-X %[1]s.gitVersion=%[2]s -X %[1]s.gitMajor=%[3]s -X %[1]s.gitMinor=%[4]s",
			"k8s.io/component-base/version", release.Version, number[0], number[1])
		return goBuild(ctx, src, filepath.Join(out, "bin"), flags, p, "k8s.io/kubernetes/cmd/kubectl")
	}}
}
