package rollout

import (
	"fmt"
	"slices"
)

// This file makes a schedule's graph of its jobs.

func (s *Schedule) add(n node) int {
	n.step.ID = len(s.nodes)
	s.nodes = append(s.nodes, n)
	return n.step.ID
}

func (s *Schedule) edge(from, to int) {
	s.nodes[from].next = append(s.nodes[from].next, to)
	s.nodes[to].waits++
}

// addBarriers puts a node between each wave and the next.
func (s *Schedule) addBarriers(jobs []Job, o ScheduleOptions) {
	members := map[int][]int{}
	var waves []int
	for i, j := range jobs {
		if _, seen := members[j.Wave]; !seen {
			waves = append(waves, j.Wave)
		}
		members[j.Wave] = append(members[j.Wave], i)
	}
	slices.Sort(waves)
	if o.Reverse {
		slices.Reverse(waves)
	}
	for w := range len(waves) - 1 {
		step := Step{Wave: waves[w]}
		if o.Gates {
			step.Expected = o.GateExpected
			for _, i := range members[waves[w]] {
				step.Gate = append(step.Gate, jobs[i].Cluster)
			}
		}
		barrier := s.add(node{step: step, barrier: true})
		for _, i := range members[waves[w]] {
			s.edge(i, barrier)
		}
		for _, i := range members[waves[w+1]] {
			s.edge(barrier, i)
		}
	}
}

// measure finds each step's chain, from the last to the first.
func (s *Schedule) measure() error {
	waits := make([]int, len(s.nodes))
	var order []int
	for i := range s.nodes {
		if waits[i] = s.nodes[i].waits; waits[i] == 0 {
			order = append(order, i)
		}
	}
	for at := 0; at < len(order); at++ {
		for _, n := range s.nodes[order[at]].next {
			if waits[n]--; waits[n] == 0 {
				order = append(order, n)
			}
		}
	}
	for _, i := range slices.Backward(order) {
		n := &s.nodes[i]
		for _, next := range n.next {
			n.path = max(n.path, s.nodes[next].path)
		}
		n.path += n.step.Expected
	}
	if len(order) == len(s.nodes) {
		return nil
	}
	return fmt.Errorf("schedule: clusters wait for each other, %s among them", s.circular(waits))
}

// circular names a cluster that waits for itself by way of others.
func (s *Schedule) circular(waits []int) string {
	for i, n := range waits {
		if n > 0 && s.nodes[i].step.Cluster != "" {
			return s.nodes[i].step.Cluster
		}
	}
	return "a gate"
}

// begin queues what may start at once, and takes over what is done already. A gate that
// an earlier run has passed is asked again where a cluster of its wave is worked on again.
func (s *Schedule) begin(jobs []Job, passed []int) {
	again := map[int]bool{}
	for _, j := range jobs {
		again[j.Wave] = again[j.Wave] || !j.Done
	}
	for i := range s.nodes {
		if s.nodes[i].waits == 0 {
			s.push(i)
		}
	}
	for i := range s.nodes {
		n := &s.nodes[i]
		done := i < len(jobs) && jobs[i].Done
		done = done || n.barrier && slices.Contains(passed, n.step.Wave) && !again[n.step.Wave]
		if done {
			n.step.Gate = nil
			s.settle(i)
		}
	}
}

// NewSchedule makes a schedule of jobs. It fails when two are for one cluster,
// or when they wait for each other.
func NewSchedule(jobs []Job, o ScheduleOptions) (*Schedule, error) {
	s := &Schedule{failFast: o.FailFast, most: o.MaxFailures, index: make(map[string]int, len(jobs))}
	for _, j := range jobs {
		if _, twice := s.index[j.Cluster]; twice {
			return nil, fmt.Errorf("schedule: cluster %s has two jobs", j.Cluster)
		}
		s.index[j.Cluster] = len(s.nodes)
		n := node{step: Step{Cluster: j.Cluster, Wave: j.Wave, Expected: j.Expected}}
		if j.Done {
			n.step.Expected = 0
		}
		s.add(n)
	}
	for i, j := range jobs {
		for _, name := range j.After {
			if before, ok := s.index[name]; ok && before != i {
				s.edge(before, i)
			}
		}
	}
	if o.Waves {
		s.addBarriers(jobs, o)
	}
	if err := s.measure(); err != nil {
		return nil, err
	}
	s.ready.nodes = s.nodes
	s.left = len(s.nodes)
	s.begin(jobs, o.Passed)
	return s, nil
}
