package kubeversion

import (
	"testing"

	"gotest.tools/v3/assert"
)

func TestMinor(t *testing.T) {
	for version, want := range map[string]string{"1.35.2": "1.35", "1.35": "1.35", "1": "1", "": "", "1.35.2-1.3": "1.35"} {
		assert.Equal(t, Minor(version), want)
	}
}
