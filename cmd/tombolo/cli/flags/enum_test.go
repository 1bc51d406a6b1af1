package flags

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

type colour string

func TestEnum(t *testing.T) {
	value := colour("red")
	e := NewEnum(&value, "red", "green")
	assert.Check(t, is.Equal(e.Type(), "red|green"))
	if err := e.Set("green"); err != nil || value != "green" || e.String() != "green" {
		t.Errorf("setting green: %v, value %q", err, value)
	}
	err := e.Set("blue")
	assert.Check(t, is.Error(err, "must be one of: red, green"))
	assert.Check(t, is.Equal(value, colour("green")))
}
