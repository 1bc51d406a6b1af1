package fleet

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"tombolo/automation/rollout"
	"tombolo/cmd/tombolo/render"
)

// Terminal is where the work on one cluster writes, without disturbing the output
// of the others.
type Terminal struct {
	// Out takes data.
	Out io.Writer
	// Status says what was done.
	Status render.Status
	// Alone says that the run is about this cluster alone.
	Alone bool
}

// output is where a run writes. What several clusters write is kept apart: JSON
// documents are written when the work on a cluster is over, texts at the end, in
// the order of the clusters.
type output struct {
	fleet    *Fleet
	progress *render.Progress
	alone    bool

	mu    sync.Mutex
	texts map[string]string
}

// terminal is for the work on a cluster; call flush after it.
func (o *output) terminal(cluster string) (t Terminal, flush func()) {
	status := o.fleet.Status()
	if o.alone {
		return Terminal{Out: o.fleet.Out, Status: status, Alone: true}, func() {}
	}
	var text bytes.Buffer
	status.W = interlude{o.progress, status.W}
	return Terminal{Out: &text, Status: status}, func() {
		if o.fleet.JSON() {
			_, _ = interlude{o.progress, o.fleet.Out}.Write(text.Bytes()) // dropped, as for events: standard output is closed
			return
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.texts[cluster] = text.String()
	}
}

// interlude writes without disturbing the live view.
type interlude struct {
	progress *render.Progress
	w        io.Writer
}

// Write writes lines.
func (i interlude) Write(p []byte) (n int, err error) {
	i.progress.Interlude(func() { n, err = i.w.Write(p) })
	return n, err
}

// end writes the texts, and the outcome for each cluster.
func (o *output) end(s rollout.Summary) error {
	if o.alone {
		return nil
	}
	if err := o.writeTexts(s); err != nil {
		return err
	}
	if len(o.texts) > 0 {
		fmt.Fprintln(o.fleet.Out)
	}
	return render.WriteSummary(o.fleet.Out, s, render.SummaryOptions{Table: o.fleet.Table(), JSON: o.fleet.JSON()})
}

func (o *output) writeTexts(s rollout.Summary) error {
	first := true
	for _, e := range s.Clusters {
		text := o.texts[e.Cluster]
		if text == "" {
			delete(o.texts, e.Cluster)
			continue
		}
		if !first {
			text = "\n" + text
		}
		first = false
		if _, err := io.WriteString(o.fleet.Out, text); err != nil {
			return fmt.Errorf("writing the result of %s: %w", e.Cluster, err)
		}
	}
	return nil
}
