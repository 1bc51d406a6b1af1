package main

import (
	"context"
	"path/filepath"
)

// kubeloginModule is what kubelogin, which gets the tokens for AKS clusters, is built from.
const kubeloginModule = "github.com/Azure/kubelogin"

func kubeloginGroup() group {
	return group{name: "kubelogin", build: func(ctx context.Context, src, out, _ string, p *progress) error {
		kubelogin, err := pinned(ctx, src, kubeloginModule)
		if err != nil {
			return err
		}
		return goBuild(ctx, src, filepath.Join(out, "bin"), "-X main.gitTag="+kubelogin.Version, p, kubeloginModule)
	}}
}
