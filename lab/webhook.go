package lab

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"tombolo/config/gitops"
	"tombolo/lab/git"
	"tombolo/lab/substitute"
	"tombolo/lab/webhook"
)

// WebhookVariable is the environment variable with the secret of the lab's Git host, as cluster files of
// the lab name it in gitops.webhook.
const WebhookVariable = "TOMBOLO_WEBHOOK_SECRET"

// gitHostVariable is the kind of the lab's Git host, as gitops.webhook.type has it. Default: github. A host
// of the outside that is known by its name is what it is.
const gitHostVariable = "TOMBOLO_LAB_GIT_HOST"

// pushed tells the engines of a push, as hosts do: who has pushed does not wait for it.
func (d *daemon) pushed(repository, before, after string) {
	at := filepath.Join(filepath.Dir(d.lab.paths().repository(treeFlux)), repository)
	d.tellLater(at, gitHost(GitHost), webhook.Push{Repository: "http://" + GitHost + "/" + repository, Branch: git.Branch, Before: before, After: after})
}

// pushedOutside does so for a repository of the outside, whose branches all have the same commits.
func (d *daemon) pushedOutside(r *substitute.Repository, before, after string) {
	for _, branch := range r.Branches {
		push := webhook.Push{Repository: r.URL.String(), Branch: branch, Before: before, After: after}
		d.tellLater(d.lab.paths().public(r), gitHost(r.URL.Hostname()), push)
	}
}

func gitHost(name string) string {
	return cmp.Or(string(gitops.HostKind(name)), os.Getenv(gitHostVariable), webhook.GitHub)
}

func (d *daemon) tellLater(dir, kind string, push webhook.Push) {
	if push.Before == "" {
		return // nothing follows it yet
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := d.tell(ctx, dir, kind, push); err != nil {
			d.log.Warn("an engine was not told of a push", "repository", push.Repository, "error", err)
		}
	}()
}

func (d *daemon) tell(ctx context.Context, dir, kind string, push webhook.Push) error {
	token, err := secret(d.lab.paths().webhook())
	if err != nil {
		return err
	}
	addresses, failed := d.clusters.agent.Receivers(ctx, token)
	if len(addresses) == 0 {
		return failed
	}
	if push.Files, err = git.Open(dir, d.lab.paths().home()).Files(ctx, push.Before, push.After); err != nil {
		return err
	}
	for _, address := range addresses {
		failed = errors.Join(failed, d.send(ctx, kind, address, token, push))
	}
	return failed
}

// send is one delivery.
func (d *daemon) send(ctx context.Context, kind, address, token string, push webhook.Push) error {
	r, err := webhook.Request(ctx, kind, address, token, push)
	if err != nil {
		return err
	}
	// Argo CD signs its certificate itself, and this is its own machine.
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("tell of a push: %w", err)
	}
	d.log.Info("an engine was told of a push", "repository", push.Repository, "commit", push.After, "at", address, "answer", answer.Status)
	return answer.Body.Close()
}
