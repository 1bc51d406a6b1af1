package preview

import (
	"sync"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"

	"tombolo/automation/operation"
)

// held keeps what an observer is notified of until it is known whether it matters.
type held struct {
	to operation.Observer

	mu       sync.Mutex
	released bool
	waiting  []func()
}

// release passes on what was kept, and from now on everything at once.
func (h *held) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, pass := range h.waiting {
		pass()
	}
	h.released, h.waiting = true, nil
}

func (h *held) hold(pass func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.released {
		pass()
		return
	}
	h.waiting = append(h.waiting, pass)
}

func (h *held) StackPlanned(stack string, changes int) {
	h.hold(func() { h.to.StackPlanned(stack, changes) })
}

func (h *held) StackStarted(stack, operation string) {
	h.hold(func() { h.to.StackStarted(stack, operation) })
}

func (h *held) EngineEvent(stack string, e events.EngineEvent) {
	h.hold(func() { h.to.EngineEvent(stack, e) })
}

func (h *held) StackFinished(stack string, counts map[string]int, err error) {
	h.hold(func() { h.to.StackFinished(stack, counts, err) })
}

func (h *held) Waiting(cluster, what string) { h.hold(func() { h.to.Waiting(cluster, what) }) }

func (h *held) Note(stack, message string) { h.hold(func() { h.to.Note(stack, message) }) }
