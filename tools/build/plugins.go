package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
)

func pluginsGroup() group {
	const provider = "github.com/pulumi/pulumi-kubernetes/provider/v4"
	const version = "4.25.0" // the release tagged on the pinned commit
	return group{name: "plugins", build: func(ctx context.Context, src, out, _ string, p *progress) error {
		dir := filepath.Join(out, "plugins", "resource-kubernetes-v"+version)
		if err := goBuild(ctx, src, dir, "-X main.version="+version, p, "./cmd/pulumi-resource-kubernetes"); err != nil {
			return err
		}
		module, err := pinned(ctx, src, provider)
		if err != nil {
			return err
		}
		return providerSchema(filepath.Join(module.Dir, "cmd", "pulumi-resource-kubernetes"),
			dir, version)
	}}
}

// providerSchema puts the provider's schema, with the version that its release
// would have put in, and its Terraform mapping where the binary reads them.
func providerSchema(from, to, version string) error {
	content, err := os.ReadFile(filepath.Join(from, "schema.json"))
	if err != nil {
		return err
	}
	var schema map[string]json.RawMessage
	if err := json.Unmarshal(content, &schema); err != nil {
		return err
	}
	schema["version"] = json.RawMessage(`"` + version + `"`)
	if content, err = json.Marshal(schema); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(to, "schema.json"), content, 0o644); err != nil {
		return err
	}
	mapping, err := os.ReadFile(filepath.Join(from, "terraform-mapping.json"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, "terraform-mapping.json"), mapping, 0o644)
}
