package sleep

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestForEndsWithTheContext(t *testing.T) {
	if err := For(t.Context(), time.Nanosecond); err != nil {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := For(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
