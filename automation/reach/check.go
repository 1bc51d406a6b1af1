package reach

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tombolo/automation/backend"
	"tombolo/automation/fault"
	"tombolo/config"
	"tombolo/stacks"
)

// Check finds out before anything is made whether this machine reaches the Kubernetes
// API of a cluster, as its bootstrap has to: by the cluster file when there is no cluster
// yet, and by a connection when there is one.
type Check struct {
	// Getenv reads a variable of the environment.
	Getenv func(string) string
	// Note says what people should know of a stack.
	Note func(stack, message string)
	// Assumed has ups go on where the API seems to be out of
	Assumed bool
}

// Require refuses an up of a cluster whose API this machine does not
func (k Check) Require(ctx context.Context, c *config.Cluster, st *backend.State, changes config.Changes) error {
	if k.Assumed {
		return nil
	}
	j, err := k.Judge(ctx, c, st)
	switch {
	case err != nil:
		return err
	case j.Verdict == Reachable:
		return nil
	case j.Verdict == Unreachable && ChangesEndpoint(changes):
		k.Note(stacks.Name(c.Name, stacks.Core), j.Words(c.Name)+"; the up changes who does")
		return nil
	case j.Verdict == Unreachable:
		return &fault.Error{What: fmt.Sprintf("up %s: %s", c.Name, j.Words(c.Name)), Remedy: "nothing was started: " + j.Remedy}
	}
	k.note(c, j)
	return nil
}

// ChangesEndpoint says that an up changes from where the API is reachable: it may be what
// lets this machine in.
func ChangesEndpoint(changes config.Changes) bool {
	return slices.ContainsFunc(changes, func(c config.Change) bool { return strings.HasPrefix(c.Path, "kubernetes.endpoint.") })
}

// Report says in a preview of a cluster that does not exist from where its API will be
// reachable, and of one that exists why it does not answer.
func (k Check) Report(ctx context.Context, c *config.Cluster, st *backend.State) error {
	j, err := k.Judge(ctx, c, st)
	if err != nil || j.Silent {
		return err
	}
	k.note(c, j)
	return nil
}

func (k Check) note(c *config.Cluster, j Judgement) {
	text := j.Words(c.Name)
	if j.Remedy != "" {
		text += ": " + j.Remedy
	}
	k.Note(stacks.Name(c.Name, stacks.Core), text)
}

// Judge connects to a cluster that is there, and judges one that is not by its file.
func (k Check) Judge(ctx context.Context, c *config.Cluster, st *backend.State) (Judgement, error) {
	m, err := Local(k.Getenv)
	if err != nil {
		return Judgement{}, &fault.Error{What: err.Error(), Remedy: "nothing was started", Err: err}
	}
	endpoint, _ := st.Outputs()["clusterEndpoint"].(string)
	ca, _ := st.Outputs()["clusterCa"].(string)
	if endpoint == "" || ca == "" {
		return Judge(c, m), nil
	}
	return Try(ctx, c, m, endpoint, ca), ctx.Err()
}
