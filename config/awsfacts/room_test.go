package awsfacts

import (
	"testing"

	"gotest.tools/v3/assert"
)

func TestRoomOf(t *testing.T) {
	for instance, want := range map[string]Room{
		"t3.small":       {11, 1930, 2048*925/1000 - 376 - 100},
		"t4g.medium":     {17, 1930, 3788 - 442 - 100},
		"m7i.large":      {29, 1930, 7577 - 574 - 100},
		"c6g.medium":     {8, 940, 1894 - 343 - 100},
		"r6i.xlarge":     {58, 3920, 30310 - 893 - 100},
		"m7i-flex.large": {29, 1930, 7577 - 574 - 100},
		"c5.2xlarge":     {58, 7910, 15155 - 893 - 100},
		"t3.2xlarge":     {58, 7910, 30310 - 893 - 100},
	} {
		got, ok := RoomOf(instance)
		assert.Assert(t, ok, instance)
		assert.Equal(t, got, want, instance)
	}
	for _, unknown := range []string{"m4.large", "g5.xlarge", "m7i.small", "x2gd.medium", "m7i.metal-24xl", ""} {
		_, ok := RoomOf(unknown)
		assert.Check(t, !ok, unknown)
	}
}
