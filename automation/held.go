package automation

import (
	"sync"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
)

// held keeps what an observer is told until it is known whether it matters.
type held struct {
	to Observer

	mu       sync.Mutex
	released bool
	waiting  []func()
}

// release tells what was kept, and from now on everything at once.
func (h *held) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, tell := range h.waiting {
		tell()
	}
	h.released, h.waiting = true, nil
}

func (h *held) tell(what func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.released {
		what()
		return
	}
	h.waiting = append(h.waiting, what)
}

func (h *held) StackPlanned(stack string, changes int) {
	h.tell(func() { h.to.StackPlanned(stack, changes) })
}

func (h *held) StackStarted(stack, operation string) {
	h.tell(func() { h.to.StackStarted(stack, operation) })
}

func (h *held) EngineEvent(stack string, e events.EngineEvent) {
	h.tell(func() { h.to.EngineEvent(stack, e) })
}

func (h *held) StackFinished(stack string, counts map[string]int, err error) {
	h.tell(func() { h.to.StackFinished(stack, counts, err) })
}

func (h *held) Waiting(cluster, what string) { h.tell(func() { h.to.Waiting(cluster, what) }) }

func (h *held) Note(stack, message string) { h.tell(func() { h.to.Note(stack, message) }) }
