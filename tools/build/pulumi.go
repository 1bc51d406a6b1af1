package main

import (
	"context"
	"path/filepath"
)

func pulumiGroup() group {
	return group{name: "pulumi", build: func(ctx context.Context, src, out, _ string, p *progress) error {
		version, err := pinned(ctx, src, "github.com/pulumi/pulumi/sdk/v3")
		if err != nil {
			return err
		}
		// Without it the Automation API cannot parse `pulumi version`.
		flags := "-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=" + version.Version
		return goBuild(ctx, src, filepath.Join(out, "bin"), flags, p,
			"github.com/pulumi/pulumi/pkg/v3/cmd/pulumi", "./cmd/pulumi-language-go")
	}}
}
