package teardown

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

func definition(name, deleted, reason string) string {
	return `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: ` + name + deleted +
		`}, status: {conditions: [{type: Established, status: "True", reason: InitialNamesAccepted}` + reason + `]}}`
}

// TestRetryDefinitions changes those that the server has failed to delete, and no others.
func TestRetryDefinitions(t *testing.T) {
	const (
		deleted = `, deletionTimestamp: "2026-11-25T14:40:00Z", finalizers: [customresourcecleanup.apiextensions.k8s.io]`
		failed  = `, {type: Terminating, status: "True", reason: InstanceDeletionFailed, message: "could not list instances: storage is (re)initializing"}`
		working = `, {type: Terminating, status: "True", reason: InstanceDeletionInProgress}`
	)
	w := newWorld(t, definition("alerts.example.com", deleted, failed), definition("buckets.example.com", deleted, working),
		definition("charts.example.com", "", ""))
	w.alive = nil
	ctx, end := context.WithTimeout(t.Context(), time.Minute)
	defer end()
	go func() {
		for ctx.Err() == nil && len(w.client.Actions()) < 6 { // lists and patches
			time.Sleep(time.Millisecond)
		}
		end()
	}()
	w.RetryDefinitions(ctx, time.Millisecond)
	assert.Check(t, len(w.patched) >= 2, "%q", w.patched)
	for _, patch := range w.patched {
		assert.Check(t, strings.HasPrefix(patch, `alerts.example.com {"metadata":{"annotations":{"tombolo/retried":"20`), patch)
	}
	all := w.names()
	assert.Check(t, slices.Contains(all, "CustomResourceDefinition charts.example.com"), "%q", all)
}
