package graph

import (
	"encoding/xml"
	"fmt"
	"strings"

	"tombolo/internal/wording"
)

// The measures of the drawing, in pixels. Text is set in a font of one width, so
// that boxes can be made to fit it without asking for its measures.
const (
	letterWidth  = 8.4 // of the name, at 14 pixels
	smallWidth   = 7.2 // of the rest, at 12 pixels
	padding      = 14
	leastBox     = 210
	boxHeight    = 104
	rowGap       = 18
	columnGap    = 56
	waveGap      = 48
	waveHead     = 34
	margin       = 20
	stackHeight  = 26
	stackTop     = 64
	betweenStack = 22
)

// style suits light and dark pages alike.
const style = `
    svg { background: #ffffff; }
    text { font: 12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #475569; }
    .name { font-size: 14px; font-weight: bold; fill: #0f172a; }
    .wave { fill: #f1f5f9; }
    .cluster { fill: #ffffff; stroke: #94a3b8; }
    .hub { stroke: #2563eb; stroke-width: 2; }
    .stack { fill: #e2e8f0; }
    .runs, .then { fill: none; stroke: #2563eb; stroke-width: 1.5; }
    .then { stroke: #64748b; }
    marker path { fill: #2563eb; }
    marker.after path { fill: #64748b; }
    @media (prefers-color-scheme: dark) {
      svg { background: #0f172a; }
      text { fill: #cbd5e1; }
      .name { fill: #f8fafc; }
      .wave { fill: #1e293b; }
      .cluster { fill: #0f172a; stroke: #64748b; }
      .hub { stroke: #60a5fa; }
      .stack { fill: #334155; }
      .runs { stroke: #60a5fa; }
      marker path { fill: #60a5fa; }
    }
`

// box is a cluster with its place.
type box struct {
	node
	x, y float64
}

// drawing is a fleet with the places of all that is drawn.
type drawing struct {
	boxWidth      float64
	width, height float64
	waves         []band
	boxes         []box
}

// band is a wave's background.
type band struct {
	number   int
	x, width float64
}

// svg draws the graph as a picture that needs nothing from elsewhere.
func (f fleet) svg() string {
	d := f.place()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img" aria-labelledby="title">
  <title id="title">%s in %s</title>
  <style>%s  </style>
  <defs>
    <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0,0 L8,4 L0,8 z"/></marker>
    <marker id="after" class="after" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0,0 L8,4 L0,8 z"/></marker>
  </defs>
`, d.width, d.height, d.width, d.height, wording.Count(len(d.boxes), "cluster"), wording.Count(len(d.waves), "wave"), style)
	d.drawWaves(&b)
	d.drawHubs(&b)
	for _, c := range d.boxes {
		d.drawCluster(&b, c)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// place gives everything its place: waves from left to right, each as wide as
// its columns.
func (f fleet) place() drawing {
	d := drawing{boxWidth: f.boxWidth()}
	rows := 0
	x := float64(margin)
	for _, w := range f {
		start := x
		x += padding
		for i, column := range w.columns {
			if i > 0 {
				x += columnGap
			}
			for row, n := range column {
				d.boxes = append(d.boxes, box{node: n, x: x, y: margin + waveHead + float64(row)*(boxHeight+rowGap)})
			}
			rows = max(rows, len(column))
			x += d.boxWidth
		}
		x += padding
		d.waves = append(d.waves, band{number: w.number, x: start, width: x - start})
		x += waveGap
	}
	d.width = x - waveGap + margin
	d.height = 2*margin + waveHead + float64(rows)*(boxHeight+rowGap) - rowGap + padding
	return d
}

func (f fleet) boxWidth() float64 {
	width := float64(leastBox)
	for _, w := range f {
		for _, column := range w.columns {
			for _, n := range column {
				small := max(len(n.place()), len(n.runs()))
				width = max(width, float64(len(n.Name))*letterWidth+2*padding, float64(small)*smallWidth+2*padding)
			}
		}
	}
	return width
}

func (n node) place() string { return n.Environment + ", " + n.Region }

func (d drawing) drawWaves(b *strings.Builder) {
	for i, w := range d.waves {
		fmt.Fprintf(b, `  <rect class="wave" x="%.1f" y="%d" width="%.1f" height="%.1f" rx="10"/>
  <text x="%.1f" y="%d">wave %d</text>
`, w.x, margin, w.width, d.height-2*margin, w.x+padding, margin+22, w.number)
		if i > 0 {
			before := d.waves[i-1]
			fmt.Fprintf(b, `  <path class="then" marker-end="url(#after)" d="M%.1f,%d H%.1f"/>
`, before.x+before.width, margin+17, w.x)
		}
	}
}

// drawHubs draws an arrow from each hub that is drawn to each of its spokes.
func (d drawing) drawHubs(b *strings.Builder) {
	byName := map[string]box{}
	for _, c := range d.boxes {
		byName[c.Name] = c
	}
	for _, c := range d.boxes {
		hub, ok := byName[c.Hub]
		if !ok {
			continue
		}
		x1, y1 := hub.x+d.boxWidth, hub.y+boxHeight/2
		x2, y2 := c.x, c.y+boxHeight/2
		bend := min(x2-x1, waveGap+2*padding) / 2
		fmt.Fprintf(b, `  <path class="runs" marker-end="url(#arrow)" d="M%.1f,%.1f H%.1f C%.1f,%.1f %.1f,%.1f %.1f,%.1f"><title>%s runs %s</title></path>
`, x1, y1, x2-2*bend, x2-bend, y1, x2-bend, y2, x2, y2, escape(c.Hub), escape(c.Name))
	}
}

// drawCluster draws a box with what is said of the cluster, and its stacks.
func (d drawing) drawCluster(b *strings.Builder, c box) {
	class := "cluster"
	if c.Spokes {
		class += " hub"
	}
	fmt.Fprintf(b, `  <g transform="translate(%.1f,%.1f)">
    <rect class="%s" width="%.1f" height="%d" rx="8"/>
    <text class="name" x="%d" y="22">%s</text>
    <text x="%d" y="39">%s</text>
    <text x="%d" y="55">%s</text>
`, c.x, c.y, class, d.boxWidth, boxHeight, padding, escape(c.Name), padding, escape(c.place()), padding, escape(c.runs()))
	n := float64(len(c.Stacks))
	width := (d.boxWidth - 2*padding - (n-1)*betweenStack) / n
	for i, stack := range c.Stacks {
		x := padding + float64(i)*(width+betweenStack)
		fmt.Fprintf(b, `    <rect class="stack" x="%.1f" y="%d" width="%.1f" height="%d" rx="5"/>
    <text x="%.1f" y="%d" text-anchor="middle">%s</text>
`, x, stackTop, width, stackHeight, x+width/2, stackTop+17, escape(strings.TrimPrefix(stack, c.Name+"-")))
		if i > 0 {
			fmt.Fprintf(b, `    <path class="then" marker-end="url(#after)" d="M%.1f,%d H%.1f"/>
`, x-betweenStack, stackTop+stackHeight/2, x)
		}
	}
	b.WriteString("  </g>\n")
}

// escape makes text safe inside XML.
func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a strings.Builder takes everything
	return b.String()
}
