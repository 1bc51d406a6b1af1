package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config/addon"
	"tombolo/tests/files"
)

// TestMonitoringLabel: one label turns on what watches a cluster in each cloud, and leaves what the file says.
func TestMonitoringLabel(t *testing.T) {
	const all = "alloy event-exporter kube-prometheus-stack loki"
	dir := filepath.Join(t.TempDir(), "clusters")
	assert.NilError(t, os.Mkdir(dir, 0o700))
	write(t, filepath.Dir(dir), "Pulumi.yaml", "name: tombolo\n")
	for _, base := range []string{baseFile, azureBaseFile} {
		text := files.Read(t, base)
		for _, c := range []struct{ with, addons, logging string }{
			{"labels: {monitoring: \"on\"}\n", all, "on"},
			{"labels: {monitoring: \"off\", logging: \"on\"}\n", "", "on"},
			{"labels: {team: monitoring}\n", "", ""},
			{"labels: {monitoring: \"on\", logging: \"off\"}\n", "kube-prometheus-stack", "off"},
			{"labels: {monitoring: \"on\"}\naddons: {loki: {retentionDays: 7}, reloader: {}}\n", all + " reloader", "on"},
			{"labels: {monitoring: \"on\"}\naddons: {promtail: {}}\n", "event-exporter kube-prometheus-stack loki promtail", "on"},
		} {
			write(t, dir, "demo.yaml", text+c.with)
			got, err := Load(filepath.Join(dir, "demo.yaml"))
			assert.NilError(t, err, c.with)
			assert.Check(t, is.Equal(strings.Join(got.Addons.Names(), " "), c.addons), c.with)
			registered := got.RegistrationLabels()
			assert.Check(t, is.Equal(registered["logging"], c.logging), c.with)
			for _, name := range got.Addons.Names() {
				assert.Check(t, is.Equal(registered["addon-"+name], "on"), c.with)
			}
			if loki, on := got.Addons["loki"].(*addon.LokiOptions); on {
				want := 30
				if strings.Contains(c.with, "retentionDays") {
					want = 7
				}
				assert.Check(t, is.Equal(loki.RetentionDays, want), c.with)
			}
		}
	}
}

// TestMonitoringIsExplained by the line of the label, which may be in a file of shared settings.
func TestMonitoringIsExplained(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "clusters")
	assert.NilError(t, os.Mkdir(dir, 0o700))
	write(t, filepath.Dir(dir), "Pulumi.yaml", "name: tombolo\n")
	write(t, dir, "demo.yaml", files.Read(t, baseFile))
	write(t, dir, "_dev.yaml", "# of all\nlabels:\n  monitoring: \"on\"\n")
	explained, err := Explain(filepath.Join(dir, "demo.yaml"))
	assert.NilError(t, err)
	for _, want := range []string{"  event-exporter: {} # _dev.yaml:3\n", "  alloy: {} # _dev.yaml:3\n", "  logging: \"on\" # _dev.yaml:3\n", "    retentionDays: 30 # default of the addon\n"} {
		assert.Check(t, is.Contains(string(explained), want))
	}
	write(t, dir, "_dev.yaml", "# nothing\nwave: 1\n")
	write(t, dir, "demo.yaml", string(explained))
	again := loadFile(t, filepath.Join(dir, "demo.yaml"))
	assert.Check(t, is.Len(again.Monitoring(), 4))
}
