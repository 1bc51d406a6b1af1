package automation

import (
	"context"
	"fmt"
	"strings"

	"tombolo/automation/backend"
	"tombolo/automation/fault"
	"tombolo/automation/reach"
	"tombolo/config"
	"tombolo/stacks"
)

// This file finds out before anything is made whether this machine reaches the Kubernetes
// API of a cluster, as its bootstrap has to: by the cluster file when there is no cluster
// yet, and by a connection when there is one.

// AssumeReachable has the driver's ups go on where the API of a cluster seems to be out of
// reach, for networks with ways that this machine does not see.
func (d *Driver) AssumeReachable() { d.assumesReach = true }

// requireReach refuses an up of a cluster whose API this machine does not reach.
func (d *Driver) requireReach(ctx context.Context, c *config.Cluster, st *backend.State, changes config.Changes) error {
	if d.assumesReach {
		return nil
	}
	j, err := d.judgeReach(ctx, c, st)
	switch {
	case err != nil:
		return err
	case j.Verdict == reach.Reachable:
		return nil
	case j.Verdict == reach.Unreachable && changesEndpoint(changes):
		d.opts.Observer.Note(stacks.Name(c.Name, stacks.Core), j.Words(c.Name)+"; the up changes who does")
		return nil
	case j.Verdict == reach.Unreachable:
		return &fault.Error{What: fmt.Sprintf("up %s: %s", c.Name, j.Words(c.Name)), Remedy: "nothing was started: " + j.Remedy}
	}
	d.noteReach(c, j)
	return nil
}

// changesEndpoint says that an up changes from where the API is reachable: it may be what
// lets this machine in.
func changesEndpoint(changes config.Changes) bool {
	for _, change := range changes {
		if strings.HasPrefix(change.Path, "kubernetes.endpoint.") {
			return true
		}
	}
	return false
}

// tellReach says in a preview of a cluster that does not exist from where its API will be
// reachable, and of one that exists why it does not answer.
func (d *Driver) tellReach(ctx context.Context, c *config.Cluster, st *backend.State) error {
	j, err := d.judgeReach(ctx, c, st)
	if err != nil || j.Silent {
		return err
	}
	d.noteReach(c, j)
	return nil
}

func (d *Driver) noteReach(c *config.Cluster, j reach.Judgement) {
	text := j.Words(c.Name)
	if j.Remedy != "" {
		text += ": " + j.Remedy
	}
	d.opts.Observer.Note(stacks.Name(c.Name, stacks.Core), text)
}

// judgeReach connects to a cluster that is there, and judges one that is not by its file.
func (d *Driver) judgeReach(ctx context.Context, c *config.Cluster, st *backend.State) (reach.Judgement, error) {
	m, err := reach.Local(d.opts.lookupEnv)
	if err != nil {
		return reach.Judgement{}, &fault.Error{What: err.Error(), Remedy: "nothing was started", Err: err}
	}
	endpoint, _ := st.Outputs()["clusterEndpoint"].(string)
	ca, _ := st.Outputs()["clusterCa"].(string)
	if endpoint == "" || ca == "" {
		return reach.Judge(c, m), nil
	}
	return reach.Try(ctx, c, m, endpoint, ca), ctx.Err()
}
