package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
)

// before is what an earlier commit takes, measured in the same run as the present one: times
// of different runs are of machines that differ.
type before struct {
	Commit string `json:"commit"`
	taken
}

// earlier are the options for the checkout of the earlier commit, whose bin has its programs.
func (o options) earlier() options {
	o.root = o.before
	return o
}

// measureEarlier measures a part of the earlier commit, where one is given and has the part.
func (m *measured) measureEarlier(ctx context.Context, o options, part string) error {
	if o.before == "" {
		return nil
	}
	if m.Before == nil {
		m.Before = &before{}
	}
	cmd := exec.CommandContext(ctx, "git", "-C", o.before, "rev-parse", "--short=8", "HEAD")
	commit, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", cmd, err)
	}
	m.Before.Commit = string(bytes.TrimSpace(commit))
	o.progress.Printf("► the same of commit %s", m.Before.Commit)
	return m.Before.measure(ctx, o.earlier(), part)
}

// forced are the flags by which an up starts the engine also of clusters that are unchanged
// since their last up; none where it always does.
func (c *checkout) forced(ctx context.Context) ([]string, error) {
	help, err := c.run(ctx, c.tombolo, "up", "--help")
	if err != nil || !bytes.Contains(help, []byte("--force")) {
		return nil, err
	}
	return []string{"--force"}, nil
}

// program is bin/tombolo of the checkout that is measured.
func (o options) program() string { return filepath.Join(o.root, "bin", "tombolo") }

// rows are what the table of an earlier and the present commit shows.
func (m measured) rows() [][3]string {
	var rows [][3]string
	add := func(name, was, is string) { rows = append(rows, [3]string{name, was, is}) }
	if was, is := m.Before.Driver, m.Driver; was != nil && is != nil {
		of := func(d *driver, what func(round) (float64, float64)) string { return fmt.Sprintf("%.2f", d.ratio(what)) }
		create := func(r round) (float64, float64) { return r.Create.Wall, r.PlainCreate.Wall }
		noop := func(r round) (float64, float64) { return r.Noop.Wall, r.PlainNoop.Wall }
		again := func(r round) (float64, float64) { return r.Unchanged.Wall, r.PlainNoop.Wall }
		work := func(r round) (float64, float64) { return r.Noop.CPU, r.PlainNoop.CPU }
		add("creating a cluster, of the plain CLI's time", of(was, create), of(is, create))
		add("nothing to do, by the engine, of the plain CLI's time", of(was, noop), of(is, noop))
		add("nothing to do, by the engine, of the plain CLI's CPU", of(was, work), of(is, work))
		add("a small change, of the plain CLI's time", of(was, small), of(is, small))
		add("unchanged since the last up, of the plain CLI's time", of(was, again), of(is, again))
	}
	if was, is := m.Before.Chain, m.Chain; was != nil && is != nil {
		add("creating a cluster at AWS's typical times", inMinutes(was.Up), inMinutes(is.Up))
	}
	if was, is := m.Before.Fleets, m.Fleets; was != nil && is != nil {
		for i, f := range is.Fleets {
			if i >= len(was.Fleets) || was.Fleets[i].Clusters != f.Clusters {
				break
			}
			of := func(f fleetCost) string {
				return fmt.Sprintf("%.2f", f.Up.Wall/f.bound(m.Machines[partClusters].Cores))
			}
			add(fmt.Sprintf("creating %d at once, of the bound", f.Clusters), of(was.Fleets[i]), of(f))
			add(fmt.Sprintf("%d unchanged since the last up", f.Clusters), inSeconds(was.Fleets[i].Unchanged.Wall), inSeconds(f.Unchanged.Wall))
		}
	}
	if was, is := m.Before.Start, m.Start; was != nil && is != nil {
		add("start of the program", inMilliseconds(was.Seconds), inMilliseconds(is.Seconds))
		add("size of `bin/tombolo`", fmt.Sprintf("%.0f MB", was.MB), fmt.Sprintf("%.0f MB", is.MB))
	}
	return rows
}

func (m measured) writeBefore(b *bytes.Buffer) {
	fmt.Fprintf(b, "\n## Before and now\n\n"+
		"Commit %s and the present one, measured in one run with the same tools.\n\n| | %s | now |\n|---|---:|---:|\n", m.Before.Commit, m.Before.Commit)
	for _, row := range m.rows() {
		fmt.Fprintf(b, "| %s | %s | **%s** |\n", row[0], row[1], row[2])
	}
}

func inMilliseconds(s float64) string { return fmt.Sprintf("%.0f ms", s*1000) }
