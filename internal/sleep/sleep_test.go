package sleep_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"tombolo/internal/sleep"
)

func TestForEndsWithTheContext(t *testing.T) {
	if err := sleep.For(t.Context(), time.Nanosecond); err != nil {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sleep.For(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
