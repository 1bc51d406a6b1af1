package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
)

const kubernetesProvider = "github.com/pulumi/pulumi-kubernetes/provider/v4"

func pluginsGroup() group {
	const version = "4.25.0" // the release tagged on the pinned commit
	return group{name: "plugins", build: func(ctx context.Context, src, out, _ string, p *progress) error {
		module, err := pinned(ctx, src, kubernetesProvider)
		if err != nil {
			return err
		}
		dir := filepath.Join(out, "plugins", "resource-kubernetes-v"+version)
		err = goBuildChanged(ctx, src, []changed{providerCut().change()}, dir, "-X main.version="+version, p, "./cmd/pulumi-resource-kubernetes")
		if err != nil {
			return err
		}
		return providerSchema(filepath.Join(module.Dir, "cmd", "pulumi-resource-kubernetes"), dir, version)
	}}
}

// providerCut leaves out the provider's components: charts, directories of Kustomize and files of
// manifests as Pulumi's resources. They need the provider's own SDK with all of Kubernetes'
// types, which is a third of what there is to compile. The lab's programs use none of them.
//
// It also has the provider compile with the versions that the program has of Kubernetes'
// and of Pulumi's libraries, so that both are compiled once (ADR 11): one library is imported
// under the name of its next release, and one field has become a pointer.
func providerCut() cut {
	return cut{module: kubernetesProvider, edits: []edit{
		// Three imports, and the four components that they are for.
		{"pkg/provider/provider_construct.go", regexp.MustCompile(`(?m)^.*\bprovider(helm|kustomize|yaml)v\d\b.*\n`), "", 7},
		{"pkg/await/await.go", regexp.MustCompile(`structured-merge-diff/v4/`), "structured-merge-diff/v6/", 1},
		{"pkg/gen/schema.go", regexp.MustCompile(`Provider: pschema\.`), "Provider: &pschema.", 1},
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
