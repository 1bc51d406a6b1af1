package main

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/lab/control"
)

// TestCode: the codes are those that `tombolo lab aws` has for the same errors.
func TestCode(t *testing.T) {
	for _, test := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("other"), 1},
		{fault.NewUsage("a", "b"), 2},
		{fmt.Errorf("token: %w", control.ErrNotRunning), 4},
		{fmt.Errorf("token: %w", control.ErrHangs), 4},
		{fmt.Errorf("token: %w", context.Canceled), 130},
		{&fault.Exit{Code: 254}, 254},
	} {
		assert.Check(t, is.Equal(code(test.err), test.want), "%v", test.err)
	}
}
