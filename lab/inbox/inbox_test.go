package inbox

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestFormats: each format that a channel may have says the same.
func TestFormats(t *testing.T) {
	i := Open(filepath.Join(t.TempDir(), "inbox"))
	want := Message{Severity: "error", Object: "kustomization/system.shop", Text: "Service/web is forbidden"}
	for channel, body := range map[string]string{
		"generic": `{"involvedObject": {"kind": "Kustomization", "namespace": "shop", "name": "system"}, "severity": "error", "message": "Service/web is forbidden"}`,
		"slack":   `{"username": "kustomize-controller", "attachments": [{"color": "danger", "author_name": "kustomization/system.shop", "text": "Service/web is forbidden"}]}`,
		"msteams": `{"type": "message", "attachments": [{"content": {"body": [{"type": "Container", "items": [
			{"type": "TextBlock", "text": "kustomization/system.shop"}, {"type": "TextBlock", "text": "Service/web is forbidden", "color": "attention"}, {"type": "FactSet"}]}]}}]}`,
	} {
		assert.Equal(t, post(i, "/"+channel, body), http.StatusOK)
		got, err := i.Messages(channel)
		assert.NilError(t, err)
		assert.Equal(t, len(got), 1)
		assert.Check(t, got[0].Channel == channel && !got[0].At.IsZero())
		got[0].Channel, got[0].At = "", want.At
		assert.DeepEqual(t, got[0], want)
	}
	all, err := i.Messages("")
	assert.NilError(t, err)
	assert.Equal(t, len(all), 3)
}

func TestRefused(t *testing.T) {
	i := Open(filepath.Join(t.TempDir(), "inbox"))
	assert.Equal(t, post(i, "/shop", "hello"), http.StatusBadRequest)
	assert.Equal(t, post(i, "/shop", "{}"), http.StatusBadRequest)
	assert.Equal(t, post(i, "/", `{"message": "hello"}`), http.StatusMethodNotAllowed)
	all, err := i.Messages("")
	assert.NilError(t, err)
	assert.Equal(t, len(all), 0)
}

func post(i *Inbox, path, body string) int {
	code, _ := answer(i, path, "application/json", body)
	return code
}

func answer(i *Inbox, path, contentType, body string) (int, string) {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	i.ServeHTTP(w, r)
	return w.Code, strings.TrimSpace(w.Body.String())
}

// What Flux's notification-controller 1.9 sends for an event:
// https://github.com/fluxcd/notification-controller/blob/v1.9.3/internal/notifier/slack.go and teams.go
const (
	ofSlack = `{"channel": "", "username": "kustomize-controller", "icon_url": "", "icon_emoji": "", "attachments": [{"color": "good",
		"author_name": "kustomization/system.shop", "text": "done", "mrkdwn_in": ["text"], "fields": [{"title": "revision", "value": "main", "short": false}]}]}`
	ofTeams = `{"type": "message", "attachments": [{"contentType": "application/vnd.microsoft.card.adaptive", "content": {
		"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4", "msteams": {"width": "Full"},
		"body": [{"type": "Container", "items": [
			{"type": "TextBlock", "text": "kustomization/system.shop", "size": "large", "weight": "bolder", "wrap": true},
			{"type": "TextBlock", "text": "done", "wrap": true},
			{"type": "FactSet", "facts": [{"title": "revision", "value": "main"}]}]}]}}]}`
)

// TestReceivers: a channel of Slack's or Teams' form takes what these show, and nothing else.
func TestReceivers(t *testing.T) {
	i := Open(filepath.Join(t.TempDir(), "inbox"))
	const json = "application/json"
	for path, want := range map[string]struct {
		body, text string
		code       int
	}{"/slack/shop": {ofSlack, "ok", http.StatusOK}, "/msteams/shop": {ofTeams, "", http.StatusAccepted}} {
		code, text := answer(i, path, json+"; charset=utf-8", want.body)
		assert.Equal(t, code, want.code, text)
		assert.Equal(t, text, want.text)
	}
	all, err := i.Messages("shop")
	assert.NilError(t, err)
	assert.Equal(t, len(all), 2)
	for _, m := range all {
		m.At = all[0].At
		assert.DeepEqual(t, m, Message{Channel: "shop", At: all[0].At, Severity: "info", Object: "kustomization/system.shop", Text: "done"})
	}
	for name, c := range map[string]struct{ path, kind, body, answer string }{
		"Slack: form of a page":   {"/slack/a", "application/x-www-form-urlencoded", ofSlack, "invalid_payload"},
		"Slack: no JSON":          {"/slack/a", json, "hello", "invalid_payload"},
		"Slack: nothing to show":  {"/slack/a", json, `{"username": "a"}`, "no_text"},
		"Slack: Flux's own form":  {"/slack/a", json, `{"involvedObject": {"kind": "A"}, "severity": "error", "message": "b"}`, "invalid_payload"},
		"Slack: a card of Teams":  {"/slack/a", json, ofTeams, "invalid_payload"},
		"Slack: an unknown color": {"/slack/a", json, strings.Replace(ofSlack, "good", "green", 1), "invalid_payload"},
		"Slack: a field misspelt": {"/slack/a", json, strings.Replace(ofSlack, "author_name", "author", 1), "invalid_payload"},
		"Teams: Slack's form":     {"/msteams/a", json, ofSlack, "/: missing properties: 'type'"},
		"Teams: a retired card":   {"/msteams/a", json, `{"@type": "MessageCard", "@context": "http://schema.org/extensions", "summary": "a"}`, "missing properties: 'type', 'attachments'"},
		"Teams: another content":  {"/msteams/a", json, strings.Replace(ofTeams, "card.adaptive", "card.hero", 1), "/attachments/0/contentType: value must be"},
		"Teams: too new a card":   {"/msteams/a", json, strings.Replace(ofTeams, "1.4", "1.6", 1), "/attachments/0/content/version: value must be one of"},
		"Teams: an unknown color": {"/msteams/a", json, strings.Replace(ofTeams, `"text": "done"`, `"text": "done", "color": "danger"`, 1), "/items"},
		"Teams: a fact, no value": {"/msteams/a", json, strings.Replace(ofTeams, `, "value": "main"`, "", 1), "/items"},
		"Teams: more than 28 KB":  {"/msteams/a", json, strings.Replace(ofTeams, "done", strings.Repeat("long ", 6000), 1), "send 28672 at most"},
		"Teams: text and no JSON": {"/msteams/a", "text/plain", ofTeams, "send application/json"},
		"a receiver, no channel":  {"/msteams", json, `{"text": ""}`, "no text"},
	} {
		code, text := answer(i, c.path, c.kind, c.body)
		assert.Check(t, is.Equal(code, http.StatusBadRequest), name)
		assert.Check(t, is.Contains(text, c.answer), name)
	}
}
