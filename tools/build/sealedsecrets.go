package main

import (
	"context"
	"path/filepath"
)

// sealedSecretsModule is what the controller of Sealed Secrets, and the command that seals,
// are built from.
const sealedSecretsModule = "github.com/bitnami/sealed-secrets"

func sealedSecretsGroup() group {
	return group{name: "sealedsecrets", build: func(ctx context.Context, src, out, _ string, p *progress) error {
		return goBuild(ctx, src, filepath.Join(out, "bin"), "", p, "./cmd/sealed-secrets", sealedSecretsModule+"/cmd/kubeseal")
	}}
}
