package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

func eksGroup() group {
	return group{name: "eks", needs: []string{"node", "npm"}, build: func(ctx context.Context, src, out, final string, p *progress) error {
		dir := filepath.Join(out, "eks")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		for _, name := range []string{"package.json", "package-lock.json", ".npmrc"} {
			content, err := os.ReadFile(filepath.Join(src, name))
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
				return err
			}
		}
		if err := p.run(ctx, dir, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-progress"); err != nil {
			return err
		}
		version, err := installedVersion(filepath.Join(dir, "node_modules", "@pulumi", "eks"))
		if err != nil {
			return err
		}
		plugin := filepath.Join(out, "plugins", "resource-eks-v"+version)
		if err := os.MkdirAll(plugin, 0o755); err != nil {
			return err
		}
		script := fmt.Sprintf("#!/bin/sh\nexec node '%s' \"$@\"\n",
			filepath.Join(final, "eks", "node_modules", "@pulumi", "eks", "cmd", "provider", "index.js"))
		return os.WriteFile(filepath.Join(plugin, "pulumi-resource-eks"), []byte(script), 0o755)
	}}
}

// installedVersion is the version of an installed npm package.
func installedVersion(dir string) (string, error) {
	content, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return "", err
	}
	var manifest struct{ Version string }
	err = json.Unmarshal(content, &manifest)
	return manifest.Version, err
}
