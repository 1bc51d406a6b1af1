package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// eksGroup is the EKS plugin with the SDKs that the program has.
func eksGroup() group {
	return group{name: "eks", needs: []string{"node", "npm"}, build: func(ctx context.Context, src, out, _ string, p *progress) error {
		return eksPlugin(ctx, src, out, p)
	}}
}

// onUse is the script that keeps the plugin from loading what it does not use.
const onUse = "onuse.cjs"

// eksPlugin installs the npm packages of src below out, and writes a plugin that runs them into the
// directory of plugins there. It finds them from where it is itself: a release is unpacked anywhere.
func eksPlugin(ctx context.Context, src, out string, p *progress) error {
	room := filepath.Base(src)
	dir := filepath.Join(out, room)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"package.json", "package-lock.json", ".npmrc", onUse} {
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
	packages := filepath.Join(dir, "node_modules", "@pulumi")
	version, err := installedVersion(filepath.Join(packages, "eks"))
	if err != nil {
		return err
	}
	plugin := filepath.Join(out, "plugins", "resource-eks-v"+version)
	if err := os.MkdirAll(plugin, 0o755); err != nil {
		return err
	}
	kubernetes, err := installedVersion(filepath.Join(packages, "kubernetes"))
	if err != nil {
		return err
	}
	asks, err := json.Marshal(map[string]string{"kubernetes": kubernetes})
	if err != nil {
		return err
	}
	// What a build of the plugin asks the engine for is said beside it: see
	// automation/plugins.
	if err := os.WriteFile(filepath.Join(plugin, "asks.json"), asks, 0o644); err != nil {
		return err
	}
	script := fmt.Sprintf("#!/bin/sh\nhere=$(readlink -f \"$0\")\nroom=${here%%/*/*/*}/%s\n"+
		"exec node -r \"$room/%s\" \"$room/node_modules/@pulumi/eks/cmd/provider/index.js\" \"$@\"\n", room, onUse)
	return os.WriteFile(filepath.Join(plugin, "pulumi-resource-eks"), []byte(script), 0o755)
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
