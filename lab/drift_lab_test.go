//go:build lab

package lab

import (
	"testing"

	"tombolo/tests/tier"
)

// TestDrift changes and deletes what a stack has made, through the daemon.
func TestDrift(t *testing.T) {
	tier.Short(t, "the daemon changes and deletes what a stack has made")
	d := start(t, checkout(t, map[string]string{"settings.yaml": settingsOf("plain")}))
	id := accountOf(t, d).make("aws:ec2/vpc:Vpc", map[string]any{"cidrBlock": "10.0.0.0/16", "tags": map[string]any{"Name": "net"}}).ID
	item, err := d.lab.Change(t.Context(), "Vpc", "net", map[string]any{"tags.Name": "other"})
	if err != nil || item.ID != id || item.Name != "other" {
		t.Fatalf("%+v, %v", item, err)
	}
	if _, err := d.lab.Delete(t.Context(), "Vpc", "net"); err == nil || err.Error() != "delete Vpc net: there is none; see `tombolo lab status`" {
		t.Errorf("error %v", err)
	}
	if item, err := d.lab.Delete(t.Context(), "Vpc", id); err != nil || item.ID != id {
		t.Fatalf("%+v, %v", item, err)
	}
	for _, left := range d.accounts.home().Inventory() {
		if left.ID == id {
			t.Errorf("%+v is left", left)
		}
	}
}
