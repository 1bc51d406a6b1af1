package automation

import (
	"context"
	"sync"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

// turns have the ups that make clusters begin one after the other.
//
// Until the cloud makes the control plane, which takes minutes, an up is mostly work for this machine:
// the CLI, the program and the plugins start. Clusters that begin together share the processors for it,
// and come to the cloud's long wait at the same time. Then the processors have nothing to do until all come
// back at the same time. One after the other they reach the wait no later, and the first ones earlier.
type turns struct {
	free chan struct{}
	// longest is how long one up has the turn, whatever it does.
	longest time.Duration
}

// longestTurn is about what a machine with nothing else to do needs until the cloud is what it waits
// for: of many clusters the last should not wait for long.
const longestTurn = 5 * time.Second

// newTurns lets one up begin at a time for two processors: so many it keeps busy.
func newTurns(processors int) *turns {
	return &turns{free: make(chan struct{}, max(1, processors/2)), longest: longestTurn}
}

// take waits for a turn. The turn ends with a call of done, which may be called more than once, or after the
// longest time.
func (t *turns) take(ctx context.Context) (done func()) {
	select {
	case t.free <- struct{}{}:
	case <-ctx.Done(): // the operation finds out
		return func() {}
	}
	done = sync.OnceFunc(func() { <-t.free })
	time.AfterFunc(t.longest, done)
	return done
}

// onMaking calls back when the engine begins to make something of a type.
func (s *session) onMaking(kind string, made func()) {
	next := s.onStep
	s.onStep = func(m apitype.StepEventMetadata) {
		if m.Op == apitype.OpCreate && m.Type == kind {
			made()
		}
		if next != nil {
			next(m)
		}
	}
}
