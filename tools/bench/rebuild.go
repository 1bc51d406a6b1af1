package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"tombolo/lab"
	"tombolo/lab/process"
)

// rebuilds is how long rebuilds of a cluster with each engine take.
type rebuilds struct {
	Latency  float64   `json:"latency"`
	Clusters []rebuilt `json:"clusters"`
}

// rebuilt is the rebuild of one cluster.
type rebuilt struct {
	Cluster string `json:"cluster"`
	Engine  string `json:"engine"`
	// From and To are the versions of Kubernetes.
	From string `json:"from"`
	To   string `json:"to"`
	// Phases in their order; Seconds of all.
	Phases  []phase `json:"phases"`
	Seconds float64 `json:"seconds"`
}

type phase struct {
	Operation string  `json:"operation"`
	Part      string  `json:"part"`
	Seconds   float64 `json:"seconds"`
}

// typical are AWS's typical durations, as they are.
const typical = 1

// versions of Kubernetes that a cluster is rebuilt from and to.
const (
	fromVersion = "1.35"
	toVersion   = "1.36"
)

// measureRebuilds makes a cluster with each engine while AWS takes no time, and rebuilds
// both at the same time while it takes its typical one.
func measureRebuilds(ctx context.Context, o options) (*rebuilds, error) {
	out := &rebuilds{Latency: typical, Clusters: []rebuilt{{Cluster: "teams", Engine: "Flux"}, {Cluster: "mgmt", Engine: "Argo CD"}}}
	teams, hub, err := rebuiltFiles()
	if err != nil {
		return nil, err
	}
	c, err := fill(o, map[string]string{"teams": teams, "mgmt": hub})
	if err != nil {
		return nil, err
	}
	defer c.remove()
	if err := c.labUp(ctx, lab.Full, 0); err != nil {
		return nil, err
	}
	for _, one := range out.Clusters {
		o.progress.Printf("► %s with %s is made", one.Cluster, one.Engine)
		if _, err := c.run(ctx, c.tombolo, "up", one.Cluster, "--yes", "--verify"); err != nil {
			return nil, err
		}
	}
	if err := c.labStop(ctx); err != nil {
		return nil, err
	}
	if err := c.labUp(ctx, lab.Full, typical); err != nil {
		return nil, err
	}
	if _, err := c.run(ctx, c.tombolo, "verify", "teams", "mgmt"); err != nil {
		return nil, err
	}
	group, ctx := errgroup.WithContext(ctx)
	for i := range out.Clusters {
		group.Go(func() error { return c.rebuild(ctx, o, &out.Clusters[i]) })
	}
	return out, group.Wait()
}

// rebuiltFiles are the files of the two clusters, with the older version.
func rebuiltFiles() (teams, hub string, err error) {
	files := []string{filepath.Join("clusters", "teams.yaml"), filepath.Join("tests", "lab", "testdata", "argocd", "mgmt.yaml")}
	texts := make([]string, len(files))
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", "", err
		}
		was, is := `version: "`+toVersion+`"`, `version: "`+fromVersion+`"`
		if texts[i] = strings.Replace(string(text), was, is, 1); texts[i] == string(text) {
			return "", "", fmt.Errorf("%s does not say %s", file, was)
		}
	}
	// Its spokes are not here, and its tree has ApplicationSets for clusters with this label.
	const shape = "  shape: app-of-apps\n"
	hub = strings.Replace(texts[1], shape, shape+"  logging: \"on\"\n", 1)
	if hub == texts[1] {
		return "", "", fmt.Errorf("%s has not the label %q", files[1], strings.TrimSpace(shape))
	}
	return texts[0], strings.ReplaceAll(hub, "10.40.0.0/16", "10.41.0.0/16"), nil
}

func (c *checkout) rebuild(ctx context.Context, o options, r *rebuilt) error {
	o.progress.Printf("► %s with %s is rebuilt", r.Cluster, r.Engine)
	out, err := c.run(ctx, c.tombolo, "rebuild", r.Cluster, "--version", toVersion, "--yes", "--output", "json")
	if err != nil {
		return err
	}
	r.From, r.To = fromVersion, toVersion
	if err := r.read(out); err != nil {
		return err
	}
	o.progress.Printf("✔ %s: %.0f s", r.Cluster, r.Seconds)
	return nil
}

// read reads the documents of the command.
func (r *rebuilt) read(documents []byte) error {
	for line := range bytes.Lines(documents) {
		var d struct {
			Type string
			phase
		}
		if err := json.Unmarshal(line, &d); err != nil {
			return fmt.Errorf("read what the rebuild of %s said: %w", r.Cluster, err)
		}
		switch d.Type {
		case "rebuild-phase":
			r.Phases = append(r.Phases, d.phase)
		case "rebuild":
			r.Seconds = d.Seconds
		}
	}
	if r.Seconds == 0 || len(r.Phases) == 0 {
		return fmt.Errorf("the rebuild of %s told no times", r.Cluster)
	}
	return nil
}

// labStop ends the lab's processes. Its cloud and its clusters stay on disk.
func (c *checkout) labStop(ctx context.Context) error {
	status, err := c.labStatus(ctx)
	if err != nil {
		return err
	}
	return process.End(status.PID, process.Identity(status.PID), downTimeout)
}
