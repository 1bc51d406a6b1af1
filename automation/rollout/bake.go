package rollout

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tombolo/internal/sleep"
)

// bakeEvery is the time between two looks at the health of a wave that bakes: short
// against a bake of minutes, and next to no work for the clusters' APIs.
const bakeEvery = 30 * time.Second

// Bake watches a wave whose gate was passed for a time before the next wave starts.
type Bake struct {
	// For is how long.
	For time.Duration
	// Check asks for the health of the clusters, as Gate makes it.
	Check func(ctx context.Context, wave int, clusters []string) error
	// Began, if not nil, is called when a wave begins to bake, with when it ends.
	Began func(wave int, clusters []string, until time.Time)
	// Every is the time between two looks. Default 30s.
	Every time.Duration
	// Now is the clock, and Sleep waits by it. Default: those of the machine.
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
}

// BakeError says that a wave did not stay healthy.
type BakeError struct {
	Wave  int
	After time.Duration
	Err   error
}

func (e *BakeError) Error() string {
	return fmt.Sprintf("bake after wave %d: not healthy %s after the gate: %v", e.Wave, e.After.Round(time.Second), e.Err)
}

// Unwrap returns what was found.
func (e *BakeError) Unwrap() error { return e.Err }

// After is a gate that is passed when the first gate is, and the clusters are healthy
// each time that they are looked at until the bake ends; the last look is at its end.
func (b Bake) After(gate func(context.Context, int, []string) error) func(context.Context, int, []string) error {
	b.setDefaults()
	return func(ctx context.Context, wave int, clusters []string) error {
		if err := gate(ctx, wave, clusters); err != nil {
			return err
		}
		return b.watch(ctx, wave, clusters)
	}
}

func (b *Bake) setDefaults() {
	if b.Every <= 0 {
		b.Every = bakeEvery
	}
	if b.Now == nil {
		b.Now = time.Now
	}
	if b.Sleep == nil {
		b.Sleep = sleep.For
	}
}

func (b Bake) watch(ctx context.Context, wave int, clusters []string) error {
	began := b.Now()
	if b.Began != nil {
		b.Began(wave, clusters, began.Add(b.For))
	}
	for {
		left := b.For - b.Now().Sub(began)
		if left > 0 {
			if err := b.Sleep(ctx, min(b.Every, left)); err != nil {
				return fmt.Errorf("bake after wave %d: %w", wave, err)
			}
		}
		if err := b.Check(ctx, wave, clusters); err != nil {
			var gate *GateError
			if errors.As(err, &gate) {
				err = gate.unhealthy()
			}
			return &BakeError{Wave: wave, After: b.Now().Sub(began), Err: err}
		}
		if left <= 0 || b.Now().Sub(began) >= b.For {
			return nil
		}
	}
}
