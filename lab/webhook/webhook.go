// Package webhook tells of pushes as Git hosts do.
package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"tombolo/internal/names"
)

// The kinds of Git hosts, as cluster files have them in gitops.webhook.type.
const (
	GitHub      = "github"
	GitLab      = "gitlab"
	AzureDevOps = "azure-devops"
)

// Push is what was pushed.
type Push struct {
	// Repository is its URL for Git.
	Repository string
	// Branch, and its commits before and after.
	Branch, Before, After string
	// Files that have changed.
	Files []string
}

// Request is the event of a push as a host sends it to an address, with the parts that engines read.
// Sources: https://docs.github.com/en/webhooks/webhook-events-and-payloads#push and
// https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries,
// https://docs.gitlab.com/user/project/integrations/webhook_events/#push-events, and
// https://learn.microsoft.com/azure/devops/service-hooks/events#git.push. That Azure DevOps sends
// X-Vss-Activityid is known from Argo CD alone, which tells its events by it.
func Request(ctx context.Context, host, address, token string, p Push) (*http.Request, error) {
	content, err := json.Marshal(p.event(host))
	if err != nil {
		return nil, fmt.Errorf("write the event of a push: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("tell of a push: %w", err)
	}
	set := func(key, value string) { r.Header.Set(key, value) }
	set("Content-Type", "application/json")
	switch host {
	case GitHub:
		sum := hmac.New(sha256.New, []byte(token))
		sum.Write(content)
		set("X-GitHub-Event", "push")
		set("X-GitHub-Delivery", rand.Text())
		set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(sum.Sum(nil)))
	case GitLab:
		set("X-Gitlab-Event", "Push Hook")
		set("X-Gitlab-Token", token)
	case AzureDevOps:
		set("X-Vss-Activityid", rand.Text())
		r.SetBasicAuth(names.WebhookUser, token)
	default:
		return nil, fmt.Errorf("tell of a push: %q is no kind of Git hosts; expected %s, %s or %s", host, GitHub, GitLab, AzureDevOps)
	}
	return r, nil
}

func (p Push) event(host string) map[string]any {
	ref, page := "refs/heads/"+p.Branch, strings.TrimSuffix(p.Repository, ".git")
	commits := []any{map[string]any{"id": p.After, "added": []string{}, "modified": p.Files, "removed": []string{}}}
	event := map[string]any{"ref": ref, "before": p.Before, "after": p.After, "commits": commits}
	switch host {
	case GitLab:
		event["object_kind"] = "push"
		event["project"] = map[string]any{"web_url": page, "default_branch": p.Branch}
	case AzureDevOps:
		return map[string]any{"eventType": "git.push", "resource": map[string]any{
			"refUpdates": []any{map[string]any{"name": ref, "oldObjectId": p.Before, "newObjectId": p.After}},
			"repository": map[string]any{"remoteUrl": p.Repository, "defaultBranch": ref},
		}}
	default:
		event["repository"] = map[string]any{"html_url": page, "default_branch": p.Branch}
	}
	return event
}
