package config

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/files"
)

// TestRoom: node groups on which Karpenter would not start are warned of, at their place.
func TestRoom(t *testing.T) {
	content := files.Read(t, baseFile)
	for _, test := range []struct{ name, group, addons, want string }{
		{"room for all", "[t3.medium]\n      size: {min: 2}", "{karpenter: {}, cert-manager: {}}", ""},
		{"no Karpenter", "[t3.micro]\n      size: {min: 1}", "{metrics-server: {}}", ""},
		{"another family", "[g5.xlarge]\n      ami: al2023-nvidia\n      size: {min: 2}", "{karpenter: {}}", ""},
		{
			"one node", "[m7i.4xlarge]\n      size: {min: 1}", "{karpenter: {}}",
			"kubernetes.nodeGroups[0].size: starts with 1 node, and the 2 pods of Karpenter run on different nodes, which Karpenter does not make itself; give min: 2 or more",
		},
		{
			"too few pods", "[t3.micro]\n      size: {min: 3}", "{karpenter: {}}",
			"kubernetes.nodeGroups[0].instanceTypes: what runs before Karpenter makes nodes asks for 17 pods, 1500m of CPU and 1420 MiB of memory, and the 3 nodes at the start have 12, 5790m and 1644 MiB for pods; use a larger instance type, or a larger size.min",
		},
		{"just enough", "[c6g.medium]\n      size: {min: 2}", "{karpenter: {}}", ""},
		{"with one addon more", "[c6g.medium]\n      size: {min: 2}", "{karpenter: {}, cert-manager: {}}", "asks for 23 pods, 1350m of CPU and 1420 MiB of memory, and the 2 nodes at the start have 16, "},
		{"with more pods on each", "[c6g.medium]\n      size: {min: 2}\n      maxPods: 30", "{karpenter: {}, cert-manager: {}}", ""},
		{"the smallest of the types", "[m7i.large, t3.nano]\n      size: {min: 2}", "{karpenter: {}}", "the 2 nodes at the start have 8, 3860m and 148 MiB for pods"},
		{"nodes that pods may not run on", "[m7i.large]\n      size: {min: 2}\n      taints: [{key: gpu, effect: NoSchedule}]", "{karpenter: {}}", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := strings.NewReplacer("[m7i.large]\n      size: {min: 1, max: 3}", test.group, `"1.35"`, `"1.34"`).Replace(content) + "addons: " + test.addons + "\n"
			c := loadText(t, text)
			if test.want == "" {
				assert.Check(t, is.Len(c.Warnings, 0), "%v", c.Warnings)
				return
			}
			assert.Assert(t, is.Len(c.Warnings, 1))
			assert.Check(t, is.Contains(c.Warnings[0].Warning(), test.want))
			assert.Check(t, is.Regexp(`base\.yaml:[0-9]+:[0-9]+: warning: kubernetes\.nodeGroups\[0\]`, c.Warnings[0].Warning()))
		})
	}
}
