package main

// graph has an edge from each file to each other one that it uses.
type graph struct {
	size  int
	edges [][]bool
}

func newGraph(size int) *graph {
	g := &graph{size: size, edges: make([][]bool, size)}
	for i := range g.edges {
		g.edges[i] = make([]bool, size)
	}
	return g
}

func (g *graph) add(from, to int) {
	if from != to {
		g.edges[from][to] = true
	}
}

func (g *graph) arrows() int {
	n := 0
	for _, row := range g.edges {
		for _, edge := range row {
			n += number(edge)
		}
	}
	return n
}

// edge goes from one file to another one.
type edge struct{ from, to int }

// back are the edges that point against the best order of the files that is found:
// the files that are used least by the rest come first, and then each file moves to
// where it has the fewest edges back, until none gains by moving. To find the very
// best order takes exponential time; there are at least as many edges here.
func (g *graph) back() []edge {
	order := g.greedy()
	for improved := true; improved; {
		improved = false
		for i := range order {
			improved = g.move(order, i) || improved
		}
	}
	var out []edge
	for i, later := range order {
		for _, earlier := range order[:i] {
			if g.edges[later][earlier] {
				out = append(out, edge{from: later, to: earlier})
			}
		}
	}
	return out
}

// greedy takes, again and again, the file with the most uses of the rest over the
// uses by the rest.
func (g *graph) greedy() []int {
	left := make([]int, g.size)
	for i := range left {
		left[i] = i
	}
	var order []int
	for len(left) > 0 {
		best, at := -g.size-1, 0
		for i, file := range left {
			balance := 0
			for _, other := range left {
				balance += number(g.edges[file][other]) - number(g.edges[other][file])
			}
			if balance > best {
				best, at = balance, i
			}
		}
		order = append(order, left[at])
		left = append(left[:at:at], left[at+1:]...)
	}
	return order
}

// move puts the file at i where it has the fewest edges back, and says whether
// that is fewer than before.
func (g *graph) move(order []int, i int) bool {
	file, best, to := order[i], 0, i
	for _, step := range []int{-1, 1} {
		change := 0
		for j := i + step; j >= 0 && j < len(order); j += step {
			// The file passes order[j]: their edges turn around.
			change += step * (number(g.edges[file][order[j]]) - number(g.edges[order[j]][file]))
			if change < best {
				best, to = change, j
			}
		}
	}
	if best == 0 {
		return false
	}
	copy(order[i:], order[i+1:])
	copy(order[to+1:], order[to:len(order)-1])
	order[to] = file
	return true
}

func number(is bool) int {
	if is {
		return 1
	}
	return 0
}
