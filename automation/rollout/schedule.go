package rollout

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"time"
)

// Outcome is how a step of a schedule ended.
type Outcome string

// The outcomes.
const (
	// Succeeded: what waits for it may go on.
	Succeeded Outcome = "succeeded"
	// Failed: what waits for it is skipped.
	Failed Outcome = "failed"
	// Interrupted: it was cut short; what waits for it does not start.
	Interrupted Outcome = "interrupted"
	// Skipped: it was not started, because what it waits for did not succeed.
	Skipped Outcome = "skipped"
	// Unstarted: it was not started, because no more was to start.
	Unstarted Outcome = "not started"
	// Pending: its turn came, and it was not to start yet; what waits for it is
	// skipped.
	Pending Outcome = "pending"
)

// Outcomes are all, in the order in which they are counted.
func Outcomes() []Outcome {
	return []Outcome{Succeeded, Failed, Interrupted, Pending, Skipped, Unstarted}
}

// Step is what a schedule hands out: the work on a cluster, or a gate.
type Step struct {
	// ID of the step, to finish it by.
	ID int
	// Cluster to work on; "" for a gate.
	Cluster string
	// Wave of the cluster, or the wave that the gate comes after.
	Wave int
	// Gate has the clusters of the wave whose health it asks for.
	Gate []string
	// Expected duration; 0 when it is not known.
	Expected time.Duration
}

// ScheduleOptions say how jobs become steps.
type ScheduleOptions struct {
	// Waves has each wave wait for the one before it.
	Waves bool
	// Reverse reaches waves from the highest on.
	Reverse bool
	// Gates makes a step of what is between two waves. Without, the next wave
	// starts when the wave before has succeeded.
	Gates bool
	// Passed are waves whose gate an earlier run has passed.
	Passed []int
	// GateExpected is how long a gate is expected to take.
	GateExpected time.Duration
	// FailFast starts nothing more after the first failure.
	FailFast bool
	// MaxFailures is how many clusters may fail. As long as no more have, a failure
	// skips what waits for the cluster itself, and the next wave starts all the same.
	// Then nothing more starts. Of clusters that may still fail no more run at a time
	// than would take the failures to MaxFailures+1: more than that never fail.
	// Default nil: a failure skips the next wave, and nothing else limits failures.
	MaxFailures *int
}

// Schedule says which steps may start. The one that the longest chain
// of expected work begins with goes first: that keeps the end of the whole close
// to what the work allows. It takes O(log n) for a step, and has neither
// goroutines nor a clock. It is not safe for concurrent use.
type Schedule struct {
	nodes    []node
	ready    queue
	running  int
	left     int // steps that may still start, or run
	stopped  bool
	failFast bool
	index    map[string]int
	// most is MaxFailures. failures are clusters that failed, working those that run.
	most              *int
	failures, working int
}

// node is a step with its place in the graph.
type node struct {
	step Step
	// barrier marks what is between two waves; it is a step only with Gates.
	barrier bool
	state   nodeState
	// by names what a skipped step waited for in vain.
	by string
	// waits counts the nodes that have yet to succeed.
	waits int
	next  []int
	// path is the expected duration from the start of this step to the end of
	// the longest chain that it begins.
	path time.Duration
}

type nodeState int

const (
	waiting nodeState = iota
	queued
	running
	succeeded
	failed
	interrupted
	skipped
	pending
)

// settle marks what needs no start as succeeded. What an earlier run has
// finished may come before what it did not: so it need not be waited for.
func (s *Schedule) settle(i int) {
	n := &s.nodes[i]
	if n.state == succeeded || n.barrier && n.waits > 0 {
		return // a barrier settles when its wave has
	}
	n.state = succeeded
	s.left--
	s.release(i)
}

// push queues a step that waits for nothing more; what is between waves and asks
// for nothing is over at once.
func (s *Schedule) push(i int) {
	n := &s.nodes[i]
	if n.state != waiting {
		return
	}
	if n.barrier {
		n.step.Gate = slices.DeleteFunc(n.step.Gate, func(cluster string) bool {
			return s.nodes[s.index[cluster]].state != succeeded
		})
	}
	if n.barrier && len(n.step.Gate) == 0 {
		s.settle(i)
		return
	}
	n.state = queued
	heap.Push(&s.ready, i)
}

// release queues the steps that waited only for one that has succeeded.
func (s *Schedule) release(i int) {
	for _, next := range s.nodes[i].next {
		s.arrive(next)
	}
}

// arrive says that one of those that a step waits for is over.
func (s *Schedule) arrive(i int) {
	if n := &s.nodes[i]; n.waits > 0 {
		if n.waits--; n.waits == 0 {
			s.push(i)
		}
	}
}

// Next hands out the step to start now. There is none when every other waits, the
// clusters that run may fail as often as is allowed, or the schedule was stopped.
func (s *Schedule) Next() (Step, bool) {
	for !s.stopped && s.ready.Len() > 0 && s.mayFail() {
		i := heap.Pop(&s.ready).(int)
		if n := &s.nodes[i]; n.state == queued {
			n.state = running
			s.running++
			if !n.barrier {
				s.working++
			}
			return n.step, true
		}
	}
	return Step{}, false
}

// mayFail says that one more cluster may run: if all that run failed, and it too, one
// more than MaxFailures would have failed.
func (s *Schedule) mayFail() bool { return s.most == nil || s.failures+s.working <= *s.most }

// Exceeded is how many clusters failed when they are more than MaxFailures; 0 otherwise.
func (s *Schedule) Exceeded() int {
	if s.most == nil || s.failures <= *s.most {
		return 0
	}
	return s.failures
}

// Finish says how a step that Next handed out has ended. It returns the clusters
// that are skipped for it. The steps must be running: another one is a mistake
// of the caller's, and changes nothing.
func (s *Schedule) Finish(id int, o Outcome) []string {
	if id < 0 || id >= len(s.nodes) || s.nodes[id].state != running {
		return nil
	}
	n := &s.nodes[id]
	s.running--
	s.left--
	if !n.barrier {
		s.working--
	}
	switch o {
	case Succeeded:
		n.state = succeeded
		s.release(id)
		return nil
	case Interrupted:
		n.state = interrupted
		s.Stop()
		return nil
	case Pending:
		n.state = pending
		return s.skip(id, false)
	}
	n.state = failed
	if !n.barrier {
		s.failures++
	}
	if s.failFast || s.Exceeded() > 0 {
		s.Stop()
	}
	return s.skip(id, s.most != nil && !n.barrier)
}

// skip marks everything that waits for a step, and returns the clusters. A failure that
// is tolerated ends at the end of its wave, which is over for a cluster that will not
// start.
func (s *Schedule) skip(failedID int, tolerated bool) []string {
	var out, over []int // over has a wave's end once for each cluster of the wave
	failed := s.nodes[failedID].step
	by := cmp.Or(failed.Cluster, fmt.Sprintf("the gate after wave %d", failed.Wave))
	stack := slices.Clone(s.nodes[failedID].next)
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		n := &s.nodes[i]
		if n.state != waiting {
			continue
		}
		if n.barrier && tolerated {
			over = append(over, i)
			continue
		}
		n.state, n.by = skipped, by
		s.left--
		stack = append(stack, n.next...)
		if !n.barrier {
			out = append(out, i)
		}
	}
	for _, i := range over {
		s.arrive(i)
	}
	names := make([]string, len(out))
	for at, i := range out {
		names[at] = s.nodes[i].step.Cluster
	}
	slices.Sort(names)
	return names
}

// Stop starts nothing more. What runs may go on.
func (s *Schedule) Stop() { s.stopped = true }

// Running is how many steps were handed out and have not finished.
func (s *Schedule) Running() int { return s.running }

// Over says that nothing runs, and nothing will start.
func (s *Schedule) Over() bool { return s.running == 0 && (s.stopped || s.left == 0) }

// Cluster says what became of a cluster, and for a skipped one for what.
func (s *Schedule) Cluster(name string) (o Outcome, by string) {
	i, ok := s.index[name]
	if !ok {
		return Unstarted, ""
	}
	switch n := &s.nodes[i]; n.state {
	case succeeded:
		return Succeeded, ""
	case failed:
		return Failed, ""
	case interrupted:
		return Interrupted, ""
	case skipped:
		return Skipped, n.by
	case pending:
		return Pending, ""
	default:
		return Unstarted, ""
	}
}

// queue is a heap of ready steps: the longest chain first, then by the order of
// the jobs.
type queue struct {
	nodes []node
	ids   []int
}

func (q *queue) Len() int { return len(q.ids) }

func (q *queue) Less(a, b int) bool {
	x, y := &q.nodes[q.ids[a]], &q.nodes[q.ids[b]]
	if x.path != y.path {
		return x.path > y.path
	}
	return x.step.ID < y.step.ID
}

func (q *queue) Swap(a, b int) { q.ids[a], q.ids[b] = q.ids[b], q.ids[a] }

// Push is for container/heap.
func (q *queue) Push(id any) { q.ids = append(q.ids, id.(int)) }

// Pop is for container/heap.
func (q *queue) Pop() any {
	last := q.ids[len(q.ids)-1]
	q.ids = q.ids[:len(q.ids)-1]
	return last
}
