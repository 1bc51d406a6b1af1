package teardown

import (
	"context"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestRetryDeletions changes what has been deleted and is still there, and nothing else.
func TestRetryDeletions(t *testing.T) {
	definition := func(name, deleted string) string {
		return `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: ` + name + deleted + `}}`
	}
	at := func(when time.Time) string {
		return `, finalizers: [others], deletionTimestamp: "` + when.UTC().Format(time.RFC3339) + `"`
	}
	ago, soon := at(time.Now().Add(-time.Minute)), at(time.Now().Add(time.Hour)) // the clocks of two machines
	ours := func(_, name string) bool { return name != "theirs" }
	w := newWorld(t, definition("alerts", ago), definition("theirs", ago), definition("buckets", soon), definition("charts", ""),
		`{apiVersion: v1, kind: Namespace, metadata: {name: flux-system`+ago+`}}`, `{apiVersion: v1, kind: Namespace, metadata: {name: apps}}`)
	assert.NilError(t, w.retryDeletions(t.Context(), time.Second, ours))
	assert.NilError(t, w.retryDeletions(t.Context(), time.Second, ours))
	patched := map[string]int{}
	for _, patch := range w.patched {
		name, text, _ := strings.Cut(patch, " ")
		patched[name]++
		assert.Check(t, strings.HasPrefix(text, `{"metadata":{"annotations":{"tombolo/retried":"20`), patch)
	}
	assert.DeepEqual(t, patched, map[string]int{"alerts": 2, "flux-system": 2})
}

// TestRetryDeletionsEnds with the context, and does nothing before the first pause.
func TestRetryDeletionsEnds(t *testing.T) {
	w := newWorld(t, `{apiVersion: v1, kind: Namespace, metadata: {name: gone, finalizers: [others], deletionTimestamp: "2026-11-25T14:40:00Z"}}`)
	ctx, end := context.WithCancel(t.Context())
	end()
	w.RetryDeletions(ctx, time.Hour, func(string, string) bool { return true })
	assert.Check(t, len(w.client.Actions()) == 0, "%v", w.client.Actions())
}
