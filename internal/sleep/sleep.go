// Package sleep waits for a time that can be cut short.
package sleep

import (
	"context"
	"time"
)

// For waits for d. It returns the context's error when that ends before.
func For(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
