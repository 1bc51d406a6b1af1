package step

import (
	"context"
	"errors"
	"testing"

	"gotest.tools/v3/assert"
)

func TestRun(t *testing.T) {
	var done, began []string
	failed := errors.New("no")
	do := func(name string, err error) func(context.Context) error {
		return func(context.Context) error { done = append(done, name); return err }
	}
	steps := []Step{
		{Name: "check", Do: do("check", nil)},
		{Name: "core", Part: true, Do: do("core", nil)},
		{Name: "bootstrap", Part: true, Do: do("bootstrap", failed)},
		{Name: "record", Do: do("record", nil)},
	}
	err := Run(t.Context(), steps, func(name string) { began = append(began, name) })
	assert.ErrorIs(t, err, failed)
	assert.DeepEqual(t, done, []string{"check", "core", "bootstrap"})
	assert.DeepEqual(t, began, []string{"core", "bootstrap"})
	assert.NilError(t, Run(t.Context(), steps[:2], nil))
}
