package graph

import (
	"cmp"
	"slices"

	"tombolo/config"
	"tombolo/stacks"
)

// fleet is clusters as they are drawn: by wave.
type fleet []wave

// wave is the clusters of one wave.
type wave struct {
	number int
	nodes  []node
}

// arrange puts clusters into waves, hubs before those spokes that are in the
// same wave, and spokes of one hub together.
func arrange(clusters []*config.Cluster) fleet {
	hubs := map[string]bool{}
	for _, c := range clusters {
		if c.IsSpoke() {
			hubs[c.Hub()] = true
		}
	}
	byWave := map[int][]node{}
	var numbers []int
	for _, c := range clusters {
		if _, seen := byWave[c.Wave]; !seen {
			numbers = append(numbers, c.Wave)
		}
		byWave[c.Wave] = append(byWave[c.Wave], toNode(c, hubs[c.Name]))
	}
	slices.Sort(numbers)
	f := make(fleet, len(numbers))
	for i, number := range numbers {
		f[i] = wave{number: number, nodes: ordered(byWave[number])}
	}
	return f
}

func toNode(c *config.Cluster, spokes bool) node {
	n := node{
		Name: c.Name, Wave: c.Wave, Environment: c.Environment, Region: c.Cloud.Region,
		Engine: c.GitOps.Engine, Spokes: spokes,
	}
	if c.IsSpoke() {
		n.Hub = c.Hub()
	}
	for _, kind := range stacks.Kinds() {
		n.Stacks = append(n.Stacks, stacks.Name(c.Name, kind))
	}
	return n
}

func ordered(nodes []node) []node {
	slices.SortFunc(nodes, func(a, b node) int {
		return cmp.Or(cmp.Compare(a.Hub, b.Hub), cmp.Compare(a.Name, b.Name))
	})
	var own, spokes []node
	for _, n := range nodes {
		here := func(o node) bool { return o.Name == n.Hub }
		if n.Hub != "" && slices.ContainsFunc(nodes, here) {
			spokes = append(spokes, n)
		} else {
			own = append(own, n)
		}
	}
	return slices.Concat(own, spokes)
}

// runs says in words which engine a cluster has, and whose.
func (n node) runs() string {
	engine := string(n.Engine)
	switch {
	case n.Hub != "":
		return engine + " of " + n.Hub
	case n.Spokes:
		return engine + ", hub"
	}
	return engine
}
