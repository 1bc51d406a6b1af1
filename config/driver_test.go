package config

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/files"
)

// TestDriver: GPUs without a driver are warned of until the file says which image it wants.
func TestDriver(t *testing.T) {
	content := files.Read(t, baseFile)
	for _, test := range []struct {
		name, types string
		warned      bool
	}{
		{"GPUs", "[m7i.xlarge, g5.xlarge]", true},
		{"GPUs of AMD", "[g4ad.xlarge]", false},
		{"none", "[m7i.xlarge]", false},
		{"with the driver", "[g5.xlarge]\n      ami: al2023-nvidia", false},
		{"with one that the cluster installs", "[p5.48xlarge]\n      ami: al2023", false},
		{"an image of one's own", "[p5.48xlarge]\n      imageId: ami-0123456789abcdef0", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := loadText(t, strings.NewReplacer("instanceTypes: [m7i.large]", "instanceTypes: "+test.types, `"1.35"`, `"1.34"`).Replace(content))
			if !test.warned {
				assert.Assert(t, is.Len(c.Warnings, 0), "%v", c.Warnings)
				return
			}
			assert.Assert(t, is.Len(c.Warnings, 1))
			assert.Check(t, is.Contains(c.Warnings[0].Warning(), "kubernetes.nodeGroups[0].instanceTypes[1]: g5.xlarge has GPUs of NVIDIA, and the image al2023 no driver for them; "+
				"write ami: al2023-nvidia, which replaces the node group of a live cluster"))
		})
	}
}
