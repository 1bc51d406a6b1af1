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

	"tombolo/lab/git"
	"tombolo/lab/webhook"
)

// WebhookVariable is the environment variable with the secret of the lab's Git host, as cluster files of
// the lab name it in gitops.webhook.
const WebhookVariable = "TOMBOLO_WEBHOOK_SECRET"

// gitHostVariable is the kind of the lab's Git host, as gitops.webhook.type has it. Default: github.
const gitHostVariable = "TOMBOLO_LAB_GIT_HOST"

// pushed tells the engines of a push, as hosts do: who has pushed does not wait for it.
func (d *daemon) pushed(repository, before, after string) {
	at := filepath.Join(filepath.Dir(d.lab.paths().repository(treeFlux)), repository)
	d.pushedTo(at, "http://"+GitHost+"/"+repository, before, after)
}

// pushedTo does so for the repository in a directory, by its address inside of clusters.
func (d *daemon) pushedTo(dir, address, before, after string) {
	if before == "" {
		return // nothing follows it yet
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := d.tell(ctx, dir, address, before, after); err != nil {
			d.log.Warn("an engine was not told of a push", "repository", address, "error", err)
		}
	}()
}

func (d *daemon) tell(ctx context.Context, dir, repository, before, after string) error {
	token, err := secret(d.lab.paths().webhook())
	if err != nil {
		return err
	}
	addresses, failed := d.clusters.agent.Receivers(ctx, token)
	if len(addresses) == 0 {
		return failed
	}
	files, err := git.Open(dir, d.lab.paths().home()).Files(ctx, before, after)
	if err != nil {
		return err
	}
	push := webhook.Push{Repository: repository, Branch: git.Branch, Before: before, After: after, Files: files}
	for _, address := range addresses {
		failed = errors.Join(failed, d.send(ctx, address, token, push))
	}
	return failed
}

// send is one delivery.
func (d *daemon) send(ctx context.Context, address, token string, push webhook.Push) error {
	r, err := webhook.Request(ctx, cmp.Or(os.Getenv(gitHostVariable), webhook.GitHub), address, token, push)
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
