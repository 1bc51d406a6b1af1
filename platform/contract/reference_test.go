package contract_test

import (
	"maps"
	"slices"
	"testing"

	"tombolo/config"
	"tombolo/platform"
	"tombolo/platform/contract"
)

// TestReferenceTree checks each overlay of the reference tree against a cluster
// that turns on the overlay's addons.
func TestReferenceTree(t *testing.T) {
	for overlay, off := range map[string][]string{
		"demo": nil,
		"full": nil,
		"prod": {},
		"dev": {
			"authentik", "aws-efs-csi-driver", "certificate", "event-exporter", "istio", "loki", "promtail",
		},
	} {
		t.Run(overlay, func(t *testing.T) {
			c := load(t, overlay, off)
			findings, err := contract.Check(contract.Tree{FS: platform.Flux(), Name: "platform/flux"}, []contract.Published{contract.Publish(c)})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range findings {
				if f.Severity != contract.Note {
					t.Error(f)
				}
			}
		})
	}
}

// load returns the cluster of an overlay: one of the lab's, or for an overlay
// outside of it the lab's full one without some addons, and without what is the
// lab's alone.
func load(t *testing.T, overlay string, off []string) *config.Cluster {
	t.Helper()
	file := overlay
	if off != nil {
		file = "full"
	}
	c, err := config.Load("../../clusters/" + file + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	if off == nil {
		return c
	}
	for _, name := range off {
		if _, on := c.Addons[name]; !on {
			t.Errorf("%s is no addon of the full cluster, which has %v", name, slices.Sorted(maps.Keys(c.Addons)))
		}
		delete(c.Addons, name)
	}
	delete(c.Values, "chart_repository")
	c.GitOps.Path = "clusters/" + overlay
	return c
}
