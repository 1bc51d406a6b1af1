package main

import (
	"bytes"
	"fmt"
	"math"
)

// The plot's size and margins, in pixels.
const (
	plotWidth, plotHeight = 640.0, 360.0
	plotLeft, plotBottom  = 60.0, 50.0
	plotTop, plotRight    = 30.0, 20.0
)

// axes turn numbers of clusters and seconds into places. There is a line at each
// step of seconds.
type axes struct{ clusters, seconds, step float64 }

// x has a logarithmic scale: sizes double.
func (a axes) x(clusters int) float64 {
	span := max(math.Log2(a.clusters), 1)
	return plotLeft + math.Log2(float64(clusters))/span*(plotWidth-plotLeft-plotRight)
}

func (a axes) y(seconds float64) float64 {
	return plotHeight - plotBottom - seconds/a.seconds*(plotHeight-plotBottom-plotTop)
}

// plot draws makespan, its bound by the cores, and the time of nothing to do.
func plot(f *fleets, cores int) []byte {
	var a axes
	for _, c := range f.Fleets {
		a.clusters = max(a.clusters, float64(c.Clusters))
		a.seconds = max(a.seconds, c.Up.Wall, c.Noop.Wall, c.bound(cores))
	}
	a.step = step(a.seconds)
	a.seconds = math.Ceil(a.seconds/a.step) * a.step
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" font-family="sans-serif" font-size="12">`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, `<title>Makespan by number of clusters</title><rect width="%g" height="%g" fill="#fff"/>`+"\n", plotWidth, plotHeight)
	a.grid(&b, f)
	for i, line := range []struct {
		name, colour, dash string
		of                 func(fleetCost) float64
	}{
		{"makespan", "#1f6feb", "", func(c fleetCost) float64 { return c.Up.Wall }},
		{"bound", "#57606a", "5 4", func(c fleetCost) float64 { return c.bound(cores) }},
		{"nothing to do", "#2da44e", "", func(c fleetCost) float64 { return c.Noop.Wall }},
	} {
		b.WriteString(`<polyline fill="none" stroke-width="2" stroke="` + line.colour + `" stroke-dasharray="` + line.dash + `" points="`)
		for _, c := range f.Fleets {
			fmt.Fprintf(&b, "%.1f,%.1f ", a.x(c.Clusters), a.y(line.of(c)))
		}
		fmt.Fprintf(&b, `"/><text x="%g" y="%g" fill="%s">%s</text>`+"\n", plotLeft+10, plotTop+16*float64(i+1), line.colour, line.name)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// mostLines that the seconds are divided by.
const mostLines = 5

// step is a round number of seconds that divides a time into few parts.
func step(seconds float64) float64 {
	for s := 1.0; ; s *= 10 {
		for _, round := range []float64{s, 2 * s, 5 * s} {
			if seconds <= round*mostLines {
				return round
			}
		}
	}
}

func (a axes) grid(b *bytes.Buffer, f *fleets) {
	for s := 0.0; s <= a.seconds; s += a.step {
		fmt.Fprintf(b, `<line x1="%g" x2="%g" y1="%.1f" y2="%.1f" stroke="#d0d7de"/><text x="%g" y="%.1f" text-anchor="end">%.0f s</text>`+"\n",
			plotLeft, plotWidth-plotRight, a.y(s), a.y(s), plotLeft-8, a.y(s)+4, s)
	}
	for _, c := range f.Fleets {
		fmt.Fprintf(b, `<text x="%.1f" y="%g" text-anchor="middle">%d</text>`+"\n", a.x(c.Clusters), plotHeight-plotBottom+18, c.Clusters)
	}
	fmt.Fprintf(b, `<text x="%g" y="%g" text-anchor="middle">clusters</text>`+"\n", (plotLeft+plotWidth-plotRight)/2, plotHeight-10)
}
