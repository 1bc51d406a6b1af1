//go:build lab

package lab

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/tier"
)

// labCaller is whoever runs tombolo in the lab, and so makes its clusters.
const labCaller = "arn:aws:iam::111122223333:user/tombolo"

// TestCreator makes two clusters, of which one has the identity that makes it among the
// admins of its file: it has one access entry on each, which core has made. What the
// control plane gets by a transform is there, and an up changes nothing of it.
func TestCreator(t *testing.T) {
	tier.Long(t, "access entries of who makes a cluster; unit tests hold the entries themselves")
	p := newProject(t)
	another(t, p, "demo", "second", "10.21.0.0/16")
	p.edit(t, "clusters/second.yaml", "arn:aws:iam::111122223333:role/platform-team", labCaller)
	p.edit(t, "clusters/second.yaml", "\n  admins:\n", "\n  support: extended\n  zonalShift: true\n  admins:\n")
	p.must(t, "lab", "up", "--profile", "light")
	for cluster, want := range map[string]access{
		"demo":   {Support: "STANDARD", Entries: []string{"arn:aws:iam::111122223333:role/platform-team", labCaller}},
		"second": {Support: "EXTENDED", Shift: true, Entries: []string{labCaller}},
	} {
		p.up(t, cluster)
		assert.Check(t, is.DeepEqual(p.access(t, cluster), want))
		p.unchanged(t, cluster)
	}
	// A file that says it changes a live cluster in place.
	p.edit(t, "clusters/demo.yaml", "\n  admins:\n", "\n  support: extended\n  admins:\n")
	core := p.up(t, "demo").Stacks[0].Changes
	assert.Check(t, is.Equal(core["update"], 1))
	assert.Check(t, is.Equal(core["replace"]+core["create"]+core["delete"], 0))
	assert.Check(t, is.Equal(p.access(t, "demo").Support, "EXTENDED"))
}

// access is what a state has of who may do what on a control plane, and of its options.
type access struct {
	Creator, Shift bool
	Support        string
	Entries        []string
}

func (p project) access(t *testing.T, cluster string) access {
	t.Helper()
	var state struct {
		Deployment struct {
			Resources []struct {
				Type    string
				Outputs struct {
					PrincipalARN string `json:"principalArn"`
					Kind         string `json:"type"`
					AccessConfig struct {
						Creator bool `json:"bootstrapClusterCreatorAdminPermissions"`
					} `json:"accessConfig"`
					UpgradePolicy struct {
						Support string `json:"supportType"`
					} `json:"upgradePolicy"`
					ZonalShift struct{ Enabled bool } `json:"zonalShiftConfig"`
				}
			}
		}
	}
	decode(t, p.mustTool(t, "pulumi", "stack", "export", "--stack", cluster+"-core"), &state)
	var out access
	for _, r := range state.Deployment.Resources {
		switch {
		case r.Type == "aws:eks/cluster:Cluster":
			out.Creator, out.Support, out.Shift = r.Outputs.AccessConfig.Creator, r.Outputs.UpgradePolicy.Support, r.Outputs.ZonalShift.Enabled
		case r.Type == "aws:eks/accessEntry:AccessEntry" && r.Outputs.Kind == "STANDARD":
			out.Entries = append(out.Entries, r.Outputs.PrincipalARN)
		}
	}
	slices.Sort(out.Entries)
	return out
}
