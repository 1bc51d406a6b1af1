package upgrade

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestSteps(t *testing.T) {
	for _, tt := range []struct {
		name            string
		has             Versions
		to              string
		hold, karpenter bool
		want            string
	}{
		{"nothing to do", Versions{"1.35", "1.35"}, "1.35", false, true, ""},
		{"one minor", Versions{"1.34", "1.34"}, "1.35", false, false, "control plane 1.34-1.35 (1.35/1.34), node groups 1.34-1.35 (1.35/1.35)"},
		{
			"two minors with Karpenter",
			Versions{"1.33", "1.33"},
			"1.35", false, true,
			"control plane 1.33-1.34 (1.34/1.33), node groups 1.33-1.34 (1.34/1.34), Karpenter's nodes 1.33-1.34 (1.34/1.34), " +
				"control plane 1.34-1.35 (1.35/1.34), node groups 1.34-1.35 (1.35/1.35), Karpenter's nodes 1.34-1.35 (1.35/1.35)",
		},
		{"killed between control plane and nodes", Versions{"1.34", "1.33"}, "1.34", false, false, "node groups 1.33-1.34 (1.34/1.34)"},
		{
			"nodes far behind",
			Versions{"1.35", "1.32"},
			"1.36", false, false,
			"node groups 1.32-1.35 (1.35/1.35), control plane 1.35-1.36 (1.36/1.35), node groups 1.35-1.36 (1.36/1.36)",
		},
		{
			"held",
			Versions{"1.33", "1.33"},
			"1.35", true, true,
			"control plane 1.33-1.34 (1.34/1.33), node groups 1.33-1.34 (1.34/1.34), Karpenter's nodes 1.33-1.34 (1.34/1.34), control plane 1.34-1.35 (1.35/1.34)",
		},
		{"held already", Versions{"1.35", "1.34"}, "1.35", true, true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, listed(Steps(tt.has, tt.to, Ways{Hold: tt.hold, Karpenter: tt.karpenter})), tt.want)
		})
	}
}

// TestStepsTogether: a control plane that does not go alone takes its nodes along, and nodes that
// are behind go first.
func TestStepsTogether(t *testing.T) {
	together := Ways{Together: true}
	assert.Equal(t, listed(Steps(Versions{"1.33", "1.33"}, "1.35", together)),
		"control plane and node groups 1.33-1.34 (1.34/1.34), control plane and node groups 1.34-1.35 (1.35/1.35)")
	assert.Equal(t, listed(Steps(Versions{"1.34", "1.33"}, "1.35", together)), "node groups 1.33-1.34 (1.34/1.34), control plane and node groups 1.34-1.35 (1.35/1.35)")
	assert.Equal(t, listed(Steps(Versions{"1.35", "1.35"}, "1.35", together)), "")
}

func TestBack(t *testing.T) {
	assert.Equal(t, listed(Back(Versions{"1.35", "1.34"})), "control plane 1.35-1.34 (1.34/1.34)")
	assert.Equal(t, listed(Back(Versions{"1.35", "1.33"})), "control plane 1.35-1.34 (1.34/1.33)")
	assert.Equal(t, listed(Back(Versions{"1.35", "1.35"})), "node groups 1.35-1.34 (1.35/1.34), control plane 1.35-1.34 (1.34/1.34)")
}

func listed(steps []Step) string {
	var out []string
	for _, s := range steps {
		out = append(out, string(s.Phase)+" "+s.From+"-"+s.To+" ("+s.File.ControlPlane+"/"+s.File.Nodes+")")
	}
	return strings.Join(out, ", ")
}
