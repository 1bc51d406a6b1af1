package names

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestFluxWebhook holds the path to what `printf '%s' hunter2hunter2hunter2platformflux-system | sha256sum` says.
func TestFluxWebhook(t *testing.T) {
	assert.Equal(t, FluxWebhook("hunter2hunter2hunter2"), "/hook/899697ff6019bfc9b8d1953f23557d0e810fc69f8e3bf20bbb1d8df921defcb9")
}

func TestCheckWebhookToken(t *testing.T) {
	assert.NilError(t, CheckWebhookToken("hunter2-hunter2-hunter2"))
	for token, want := range map[string]string{
		"":                          "it is too short to be safe; make one with `openssl rand -hex 32`",
		"hunter2":                   "it is too short to be safe; make one with `openssl rand -hex 32`",
		"hunter2 hunter2 hunter2":   "it has spaces, or characters beyond ASCII; make one with `openssl rand -hex 32`",
		"hunter2-hunter2-hunter2\n": "it has spaces, or characters beyond ASCII; make one with `openssl rand -hex 32`",
		"hünter2-hünter2-hünter2":   "it has spaces, or characters beyond ASCII; make one with `openssl rand -hex 32`",
	} {
		err := CheckWebhookToken(token)
		assert.Check(t, is.Error(err, want))
		assert.Check(t, !strings.Contains(err.Error(), "hunter2"))
	}
}
