package operation

import (
	"context"
	"sync"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

// Starts has the ups that make clusters start one after the other.
//
// Until the cloud makes the control plane, which takes minutes, an up is mostly work for this machine:
// the CLI, the program and the plugins start. Clusters that start together share the processors for it,
// and come to the cloud's long wait at the same time. Then the processors have nothing to do until all come
// back at the same time. One after the other they reach the wait no later, and the first ones earlier.
type Starts struct {
	free chan struct{}
	// longest is how long one up may take for its start, whatever it does.
	longest time.Duration
}

// longestStart is about what a machine with nothing else to do needs until the cloud is what it waits
// for: the last of many clusters should not wait for long.
const longestStart = 5 * time.Second

// NewStarts lets one up start at a time for two processors: so many it keeps busy.
func NewStarts(processors int) *Starts {
	return &Starts{free: make(chan struct{}, max(1, processors/2)), longest: longestStart}
}

// Wait until the up may start. The start ends with a call of done, which may be called more than once, or
// after the longest time.
func (s *Starts) Wait(ctx context.Context) (done func()) {
	select {
	case s.free <- struct{}{}:
	case <-ctx.Done(): // the operation finds out
		return func() {}
	}
	done = sync.OnceFunc(func() { <-s.free })
	time.AfterFunc(s.longest, done)
	return done
}

// OnCreate calls back when the engine begins to create something of a type.
func (s *Session) OnCreate(kind string, created func()) {
	next := s.OnStep
	s.OnStep = func(m apitype.StepEventMetadata) {
		if m.Op == apitype.OpCreate && m.Type == kind {
			created()
		}
		if next != nil {
			next(m)
		}
	}
}
