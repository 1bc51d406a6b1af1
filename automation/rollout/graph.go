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

// begin queues what may start at once, and takes over what is done already.
func (s *Schedule) begin(jobs []Job, passed []int) {
	for i := range s.nodes {
		if s.nodes[i].waits == 0 {
			s.push(i)
		}
	}
	for i := range s.nodes {
		n := &s.nodes[i]
		done := i < len(jobs) && jobs[i].Done
		done = done || n.barrier && slices.Contains(passed, n.step.Wave)
		if done {
			n.step.Gate = nil
			s.settle(i)
		}
	}
}
