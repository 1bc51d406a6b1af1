package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

func pluginsGroup() group {
	const provider = "github.com/pulumi/pulumi-kubernetes/provider/v4"
	const version = "4.25.0" // the release tagged on the pinned commit
	return group{name: "plugins", build: func(ctx context.Context, src, out, _ string, p *progress) error {
		module, err := pinned(ctx, src, provider)
		if err != nil {
			return err
		}
		dir := filepath.Join(out, "plugins", "resource-kubernetes-v"+version)
		err = goBuildChanged(ctx, src, module, copyWithoutComponents, dir, "-X main.version="+version, p, "./cmd/pulumi-resource-kubernetes")
		if err != nil {
			return err
		}
		return providerSchema(filepath.Join(module.Dir, "cmd", "pulumi-resource-kubernetes"), dir, version)
	}}
}

// components are the lines of the provider's source that bring in its components: charts,
// directories of Kustomize and files of manifests as Pulumi's resources. They need the
// provider's own SDK with all of Kubernetes' types, which is a third of what there is to
// compile. The lab's programs use none of them.
var components = regexp.MustCompile(`(?m)^.*\bprovider(helm|kustomize|yaml)v\d\b.*\n`)

// copyWithoutComponents copies the provider's module without its components.
func copyWithoutComponents(provider module, to string) error {
	if err := os.CopyFS(to, os.DirFS(provider.Dir)); err != nil {
		return err
	}
	file := filepath.Join(to, "pkg", "provider", "provider_construct.go")
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	// Three imports, and the four components that they are for.
	if found := len(components.FindAll(content, -1)); found != 7 {
		return fmt.Errorf("%s of %s names components in %d lines, not in 7: its layout has changed", filepath.Base(file), provider.Version, found)
	}
	return os.WriteFile(file, components.ReplaceAll(content, nil), 0o644)
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
