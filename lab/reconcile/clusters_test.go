package reconcile

import (
	"errors"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestClusters(t *testing.T) {
	var c Clusters[int]
	refused := errors.New("refused")
	_, started, err := c.Open("demo", func() (int, error) { return 0, refused })
	assert.Check(t, is.ErrorIs(err, refused))
	assert.Check(t, !started)
	for n, first := range []bool{true, false} {
		w, started, err := c.Open("demo", func() (int, error) { return n + 1, nil })
		assert.NilError(t, err)
		assert.Check(t, is.Equal(w, 1))
		assert.Check(t, is.Equal(started, first))
	}
	w, found := c.Take("demo")
	assert.Check(t, found && w == 1)
	_, found = c.Take("demo")
	assert.Check(t, !found)
}
