// Package handover hands an engine over to Git and says what came of it, for push and up.
package handover

import (
	"context"
	"io"

	"tombolo/automation"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

// Driver is what a push needs of automation.Driver.
type Driver interface {
	Push(context.Context, *config.Cluster, automation.PushOptions) (automation.PushResult, error)
}

// Output says how one cluster's engine is pushed, and where the result goes.
type Output struct {
	Out            io.Writer
	Status         render.Status
	JSON           bool
	Branch         string
	OwnCredentials bool
}

// document is the result in the JSON format.
type document struct {
	Type string `json:"type"`
	automation.PushResult
}

// Cluster pushes one cluster's engine and says what came of it.
func Cluster(ctx context.Context, driver Driver, c *config.Cluster, o Output) error {
	if !c.IsSpoke() {
		o.Status.Doing("%s: pushing %s's manifests to %s", c.Name, c.GitOps.Engine.Title(), c.GitOps.URL)
	}
	r, err := driver.Push(ctx, c, automation.PushOptions{Branch: o.Branch, OwnCredentials: o.OwnCredentials})
	if err != nil {
		return err
	}
	if o.JSON {
		return render.WriteJSON(o.Out, document{Type: "push", PushResult: r})
	}
	o.say(r, c.GitOps.Engine.Title())
	return nil
}

func (o Output) say(r automation.PushResult, engine string) {
	if r.Refusal != "" {
		o.Status.Plain("  branch %s does not accept the push: %s", r.Into, r.Refusal)
	}
	switch {
	case r.Nothing != "":
		o.Status.Plain("  %s: there is nothing to push: %s", r.Cluster, r.Nothing)
	case !r.Proposed && !r.Changed:
		o.Status.Done("%s: already up to date at %s, branch %s", r.Cluster, short(r.Commit), r.Branch)
	case !r.Proposed:
		o.Status.Done("%s: pushed %s to branch %s; %s takes itself over when it has fetched it", r.Cluster, short(r.Commit), r.Branch, engine)
	default:
		done := "pushed"
		if !r.Changed {
			done = "already up to date:"
		}
		o.Status.Done("%s: %s %s on branch %s", r.Cluster, done, short(r.Commit), r.Branch)
		o.Status.Plain("  Open a pull request from %s into %s: %s", r.Branch, r.Into, r.Repository)
	}
}

// short is enough of a commit's id to tell it from others, as git shows it.
func short(commit string) string { return commit[:min(len(commit), 12)] }
