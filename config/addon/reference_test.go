package addon

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/golden"
)

const referenceIntro = `# The addons

<!-- Written by ` + "`go test ./config/addon -run TestReference -update`" + `; do not edit. -->

A cluster file turns an addon on under [addons](cluster-file.md#addons), with its options. This page lists what Tombolo then
makes for the addon: resources in the cloud, keys of [infra-config](infra-config.md), and Helm values in the ConfigMap
` + "`<addon>-values`" + ` of the addon's namespace. [The guide](../guide/addons.md) says how to add an addon.
`

// TestReference holds docs/reference/addons.md to the catalogue.
func TestReference(t *testing.T) {
	f := facts()
	for _, a := range All() {
		f.Enabled = append(f.Enabled, a.Name)
	}
	var b strings.Builder
	b.WriteString(referenceIntro)
	b.WriteString("\n| addon | stage | namespace | requires | in the cloud |\n|---|---|---|---|---|\n")
	for _, a := range All() {
		fmt.Fprintf(&b, "| `%s` | `%s` | `%s` | %s | %s |\n", a.Name, a.Stage, a.Namespace,
			code(a.Required(AWS)), strings.Join(inTheCloud(a.Needs(f, sampleOptions(t, a))), ", "))
	}
	b.WriteString("\n## On Azure\n\nOn Azure, these addons require others, need other things in the cloud, or have other values.\n\n| addon | requires | in the cloud | values |\n|---|---|---|---|\n")
	for _, a := range on(Azure) {
		f, options := azureFacts(), optionsOn(t, Azure, a)
		needs := a.Needs(f, options)
		if cloud := inTheCloud(needs); len(cloud) > 0 || len(a.RequiresOn) > 0 {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", a.Name, code(a.Required(Azure)), strings.Join(cloud, ", "), code(leaves(a.Values(f, options, sampleOutputs(needs)), "")))
		}
	}
	b.WriteString("\n## Not on Azure\n\nA cluster file for Azure with one of these addons is refused.\n\n| addon | why | what to do |\n|---|---|---|\n")
	for _, a := range All() {
		if instead, not := a.NotOn[Azure]; not {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", a.Name, instead.Reason, instead.Remedy)
		}
	}
	b.WriteString("\n## Keys of infra-config\n\n| key | of | meaning | example |\n|---|---|---|---|\n")
	for _, a := range All() {
		for _, k := range a.Keys() {
			fmt.Fprintf(&b, "| `%s` | `%s` | %s | `%s` |\n", k.Name, a.Name, k.Description, k.Example)
		}
	}
	b.WriteString("\n## Helm values\n\nA cluster with every addon has these values. Some depend on an option or on another addon.\n\n| ConfigMap | values |\n|---|---|\n")
	for _, a := range All() {
		if a.HasValues() {
			options := sampleOptions(t, a)
			values := a.Values(f, options, sampleOutputs(a.Needs(f, options)))
			fmt.Fprintf(&b, "| `%s` | %s |\n", a.ValuesName(), code(leaves(values, "")))
		}
	}
	golden.Assert(t, b.String(), "../../../docs/reference/addons.md")
}

func code(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = "`" + w + "`"
	}
	return strings.Join(out, ", ")
}

// inTheCloud names the needs.
func inTheCloud(n Needs) []string {
	var out []string
	for _, i := range n.Identities {
		what := "role"
		if len(i.Roles) > 0 {
			what = "identity"
		}
		out = append(out, what+" of `"+i.ServiceAccount+"`")
	}
	for _, need := range []struct {
		there bool
		name  string
	}{
		{n.NodeRole != nil, "node role with instance profile and access entry"},
		{n.Queue != nil, "queue of events"},
		{n.Certificate != nil, "certificate"},
		{n.Bucket != nil, "bucket"},
		{n.Vault != nil, "key vault"},
		{n.Container != nil, "blob container in a storage account"},
		{n.FileSystem != nil, "file system"},
		{len(n.DiscoveryTags) > 0, "discovery tags"},
	} {
		if need.there {
			out = append(out, need.name)
		}
	}
	return out
}

// leaves are the paths of values; a list counts as one.
func leaves(values map[string]any, below string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		path := strings.TrimPrefix(below+"."+name, ".")
		if deeper, ok := values[name].(map[string]any); ok && len(deeper) > 0 {
			out = append(out, leaves(deeper, path)...)
			continue
		}
		out = append(out, path)
	}
	return out
}
