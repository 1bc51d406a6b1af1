package config

import (
	"slices"
	"testing"

	"tombolo/config/addon"
)

// TestFullClusterHasEveryAddon holds the lab's cluster file to the catalogue.
func TestFullClusterHasEveryAddon(t *testing.T) {
	c, err := Load("../clusters/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addon.All() {
		if !slices.Contains(c.Addons.Names(), a.Name) {
			t.Errorf("%s is off; turn it on in clusters/full.yaml", a.Name)
		}
	}
}
