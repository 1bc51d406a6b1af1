package main

import (
	"context"
	"path/filepath"
)

func lintGroup() group {
	return group{name: "lint", build: func(ctx context.Context, src, out, _ string, p *progress) error {
		return goBuild(ctx, src, filepath.Join(out, "bin"), "", p, "github.com/golangci/golangci-lint/v2/cmd/golangci-lint")
	}}
}
