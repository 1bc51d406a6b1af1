package finding

import (
	"cmp"
	"maps"
	"slices"
)

// OfCluster is a finding of one cluster.
type OfCluster struct {
	Finding
	// General findings are one whatever their place: each cluster has it in
	// its own file.
	General bool
	// Unused is what is published and not used by this cluster. If another
	// cluster uses it, the tree is right.
	Unused string
}

// Collector puts the findings of all clusters together. The zero value is ready.
type Collector struct {
	findings []OfCluster
	used     []string
}

// same says whether two findings are one that concerns two clusters.
func (f OfCluster) same(o OfCluster) bool {
	if f.General != o.General || f.Severity != o.Severity || f.Message != o.Message || f.Remedy != o.Remedy {
		return false
	}
	return f.General || (f.File == o.File && f.Line == o.Line && f.Column == o.Column)
}

// Add takes the findings of a cluster, and what it uses of what is published.
func (c *Collector) Add(cluster string, found []OfCluster, used map[string]bool) {
	c.used = slices.AppendSeq(c.used, maps.Keys(used))
	for _, f := range found {
		at := slices.IndexFunc(c.findings, f.same)
		if at < 0 {
			f.Clusters = []string{cluster}
			f.Places = max(f.Places, 1)
			c.findings = append(c.findings, f)
			continue
		}
		known := &c.findings[at]
		known.Places = max(known.Places, f.Places)
		if !slices.Contains(known.Clusters, cluster) {
			known.Clusters = append(known.Clusters, cluster)
		}
	}
}

// All returns the findings in order: the gravest first, then by place.
func (c *Collector) All() List {
	out := make(List, 0, len(c.findings))
	for _, f := range c.findings {
		if f.Unused != "" && slices.Contains(c.used, f.Unused) {
			continue
		}
		slices.Sort(f.Clusters)
		out = append(out, f.Finding)
	}
	gravity := []Severity{Error, Warning, Note}
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(slices.Index(gravity, a.Severity), slices.Index(gravity, b.Severity)),
			cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Message, b.Message),
		)
	})
	return out
}
