package automation

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

// turns have the ups that make clusters begin one after the other.
//
// Until its first call to the cloud an up is work for this machine: the CLI, the program and the
// plugins start. Clusters that begin together share the processors for it, and come to the
// cloud's long waits at the same time. Then the processors have nothing to do until all come back at the
// same time. One after the other they reach the cloud no later, and the first ones earlier.
type turns struct {
	free chan struct{}
	// longest is how long one up has the turn, whatever it does.
	longest time.Duration
}

// longestTurn is a few times what a machine with nothing else to do needs to come to the cloud.
const longestTurn = 10 * time.Second

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

// onReach calls back when the engine begins to make the first thing outside of this machine.
func (s *session) onReach(reached func()) {
	if reached == nil {
		return
	}
	next := s.onStep
	s.onStep = func(m apitype.StepEventMetadata) {
		if m.Op == apitype.OpCreate && m.New != nil && m.New.Custom && !strings.HasPrefix(m.Type, "pulumi:") {
			reached()
		}
		if next != nil {
			next(m)
		}
	}
}
