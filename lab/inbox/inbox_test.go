package inbox

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
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
	w := httptest.NewRecorder()
	i.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)))
	return w.Code
}
