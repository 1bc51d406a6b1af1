package graph

import (
	"fmt"
	"strings"
)

// mermaid draws the graph as a Mermaid flowchart.
func (f fleet) mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	drawn := map[string]bool{}
	for _, w := range f {
		fmt.Fprintf(&b, "  subgraph wave%d [\"wave %d\"]\n", w.number, w.number)
		for _, n := range w.nodes {
			drawn[n.Name] = true
			n.mermaid(&b)
		}
		b.WriteString("  end\n")
	}
	for i := 1; i < len(f); i++ {
		fmt.Fprintf(&b, "  wave%d -. then .-> wave%d\n", f[i-1].number, f[i].number)
	}
	for _, w := range f {
		for _, n := range w.nodes {
			if drawn[n.Hub] {
				fmt.Fprintf(&b, "  %s -->|runs| %s\n", id(n.Hub), id(n.Name))
			}
		}
	}
	return b.String()
}

// mermaid draws one cluster: a box around its stacks.
func (n node) mermaid(b *strings.Builder) {
	label := strings.Join([]string{n.Name, n.Environment + ", " + n.Region, n.runs()}, "<br/>")
	fmt.Fprintf(b, "    subgraph %s [\"%s\"]\n      direction LR\n", id(n.Name), label)
	for i, stack := range n.Stacks {
		fmt.Fprintf(b, "      %s_%d[\"%s\"]\n", id(n.Name), i, strings.TrimPrefix(stack, n.Name+"-"))
	}
	for i := 1; i < len(n.Stacks); i++ {
		fmt.Fprintf(b, "      %s_%d --> %s_%d\n", id(n.Name), i-1, id(n.Name), i)
	}
	b.WriteString("    end\n")
}

// id is a cluster's name as Mermaid takes it: names may hold its own words, such
// as end, and dashes.
func id(name string) string { return "c_" + strings.ReplaceAll(name, "-", "_") }
