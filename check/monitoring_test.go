package check

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/published"
	"tombolo/check/tree/treetest"
	"tombolo/config"
	"tombolo/internal/names"
	"tombolo/tests/files"
)

// spokesOf are a hub that follows the reference tree, and spokes in both clouds with labels, as their files have them.
func spokesOf(t *testing.T, labels map[string]string) []published.Set {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clusters")
	assert.NilError(t, os.Mkdir(dir, 0o700))
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "..", "Pulumi.yaml"), []byte("name: tombolo\n"), 0o600))
	for _, name := range []string{"mgmt", "spoke", "azure-spoke"} {
		text := files.Read(t, filepath.Join("..", "config", "testdata", "good", name+".yaml"))
		file := files.WithParts(strings.Replace(text, "clusters/dev", "clusters/prod", 1), "labels: "+labels[name]+"\n")
		assert.NilError(t, os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(file), 0o600))
	}
	clusters, err := config.LoadDir(dir)
	assert.NilError(t, err)
	hub := clusters[slices.IndexFunc(clusters, (*config.Cluster).IsHub)]
	var out []published.Set
	for _, c := range clusters {
		out = append(out, published.To(c, hub))
	}
	return out
}

// TestMonitoringByLabel: a spoke whose file has the label monitoring has all of what watches a cluster, in both shapes
// and on both clouds, with its own name and region in the values, and with the rules for events. One without the label has
// nothing of it.
func TestMonitoringByLabel(t *testing.T) {
	releases := []string{"alloy", "event-exporter", "kube-prometheus-stack", "loki", "prometheus-operator-crds"}
	on := spokesOf(t, map[string]string{"mgmt": "{}", "spoke": `{monitoring: "on"}`, "azure-spoke": `{monitoring: "on", shape: app-of-apps}`})
	off := spokesOf(t, map[string]string{"mgmt": "{}", "spoke": "{}", "azure-spoke": `{logging: "on", shape: app-of-apps}`})
	for i, spoke := range on {
		regions := map[string]string{"spoke": "eu-central-1", "azure-spoke": "germanywestcentral"}
		if regions[spoke.Cluster] == "" {
			continue // the hub
		}
		has := applicationsOf(t, on, i)
		for _, release := range releases {
			app, found := has[spoke.Cluster+"-"+release]
			assert.Assert(t, found, "%s has no %s", spoke.Cluster, release)
			assert.Check(t, is.Equal(app.Metadata.Labels[names.ClusterLabel], spoke.Cluster))
			if release == "event-exporter" || release == "prometheus-operator-crds" {
				continue // the same everywhere
			}
			helm := app.Sources()[0].Helm
			object, err := json.Marshal(helm.ValuesObject)
			assert.NilError(t, err)
			values := strings.ReplaceAll(helm.Values+string(object), " ", "")
			for _, want := range []string{`"cluster":"` + spoke.Cluster + `"`, `"region":"` + regions[spoke.Cluster] + `"`} {
				assert.Check(t, is.Contains(values, want), app.Metadata.Name)
			}
			if release == "loki" {
				assert.Check(t, is.Contains(strings.Join(rendered(t, app, app.Sources()[1]), ""), "alert: KubernetesLoadBalancerFails"))
			}
		}
		for name := range applicationsOf(t, off, i) {
			assert.Check(t, !slices.Contains(releases, strings.TrimPrefix(name, spoke.Cluster+"-")), name)
		}
	}
}

// TestCheckMissesWhatALabelTurnsOn: before the merge, at the line of the label.
func TestCheckMissesWhatALabelTurnsOn(t *testing.T) {
	clusters := spokesOf(t, map[string]string{"mgmt": "{}", "spoke": `{monitoring: "on"}`, "azure-spoke": "{}"})
	of := treetest.Copy(t, os.DirFS("../platform/argocd"))
	const want = "event-exporter is turned on, and no Application of the tree with the label tombolo/addon releases it to this cluster"
	assert.Check(t, !strings.Contains(check(t, of, clusters), want))
	seed(t, of, "clusters/prod/kustomization.yaml", "  - ../../addons/event-exporter\n", "")
	found := check(t, of, clusters)
	assert.Check(t, is.Contains(found, want))
	for line := range strings.Lines(found) {
		assert.Check(t, !strings.Contains(line, want) || strings.Contains(line, "spoke.yaml:4:"), line)
	}
}
