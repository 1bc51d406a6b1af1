package main

import (
	"fmt"
	"os"
	"path/filepath"

	"gopkg.in/yaml.v3"

	"tombolo/internal/wording"
)

// asking is what of a cluster file decides about tools. The file as a whole is judged by
// tombolo, which has to be built first.
type asking struct {
	Cloud struct {
		Provider string `yaml:"provider"`
	} `yaml:"cloud"`
	GitOps struct {
		Engine string `yaml:"engine"`
	} `yaml:"gitops"`
	Addons map[string]any `yaml:"addons"`
}

// optional are the groups that a cluster file asks for, with what in it does.
func optional() []struct {
	group  group
	reason string
	asked  func(a asking) bool
} {
	addon := func(name string) func(asking) bool {
		return func(a asking) bool { _, on := a.Addons[name]; return on }
	}
	return []struct {
		group  group
		reason string
		asked  func(a asking) bool
	}{
		{eksGroup(), "a cluster in AWS", func(a asking) bool { return a.Cloud.Provider == "aws" }},
		{kubeloginGroup(), "a cluster in Azure", func(a asking) bool { return a.Cloud.Provider == "azure" }},
		{argocdGroup(), "Argo CD", func(a asking) bool { return a.GitOps.Engine == "argocd" }},
		{sealedSecretsGroup(), "the addon sealed-secrets", addon("sealed-secrets")},
		{externalSecretsGroup(), "the addon external-secrets", addon("external-secrets")},
	}
}

// forCluster are the groups that a lab needs for the cluster of a file, and a line that says
// why some of them are among them.
func forCluster(root, name string) ([]group, string, error) {
	text, err := os.ReadFile(filepath.Join(root, "clusters", name+".yaml"))
	if err != nil {
		return nil, "", fmt.Errorf("reading which tools the cluster %s asks for: %w", name, err)
	}
	var a asking
	if err := yaml.Unmarshal(text, &a); err != nil {
		return nil, "", fmt.Errorf("reading which tools clusters/%s.yaml asks for: %w", name, err)
	}
	groups, reasons := everyLab(), []string{}
	for _, o := range optional() {
		if o.asked(a) {
			groups = append(groups, o.group)
			reasons = append(reasons, fmt.Sprintf("%s (%s)", o.group.name, o.reason))
		}
	}
	line := ""
	if len(reasons) > 0 {
		line = fmt.Sprintf("► clusters/%s.yaml asks for %s", name, wording.And(reasons))
	}
	return groups, line, nil
}
