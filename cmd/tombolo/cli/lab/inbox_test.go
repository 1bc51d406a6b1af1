package lab

import (
	"bytes"
	"context"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/lab/control"
)

func TestInbox(t *testing.T) {
	var got *InboxOptions
	keep := func(_ context.Context, o *InboxOptions) error { got = o; return nil }
	assert.NilError(t, clitest.Execute(t, NewCmdInbox(testFactory(t), keep), "shop", "-n", "1"))
	assert.Check(t, got.Channel == "shop" && got.Last == 1)

	f, errOut, out := &fake{}, &bytes.Buffer{}, &bytes.Buffer{}
	o := &InboxOptions{Options: f.options(out, errOut, false), Last: 1}
	assert.NilError(t, inboxRun(t.Context(), o))
	assert.Equal(t, errOut.String(), "✔ no message has arrived\n")

	at := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	f.messages = []control.Message{
		{Channel: "blog", At: at, Text: "old"},
		{Channel: "shop", At: at, Severity: "error", Object: "kustomization/system.shop", Text: "refused:\nService web"},
	}
	assert.NilError(t, inboxRun(t.Context(), o))
	assert.Equal(t, out.String(), "15:04:05 shop error kustomization/system.shop\n  refused:\n  Service web\n")
	out.Reset()
	o.Options = f.options(out, errOut, true)
	assert.NilError(t, inboxRun(t.Context(), o))
	assert.Equal(t, out.String(), `{"type":"inbox","messages":[{"channel":"shop","at":"2026-01-02T15:04:05Z","severity":"error","object":"kustomization/system.shop","text":"refused:\nService web"}]}`+"\n")
}
