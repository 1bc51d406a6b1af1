package secretskey

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// ask has a key of that text do an operation.
func ask(t *testing.T, secret, operation string, in request) (out request, refused string) {
	t.Helper()
	key, err := New(secret)
	assert.NilError(t, err)
	body, err := json.Marshal(in)
	assert.NilError(t, err)
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(string(body)))
	r.Header.Set("X-Amz-Target", "TrentService."+operation)
	w := httptest.NewRecorder()
	key.ServeHTTP(w, r)
	var refusal struct {
		Type string `json:"__type"`
	}
	assert.NilError(t, json.Unmarshal(w.Body.Bytes(), &refusal))
	assert.NilError(t, json.Unmarshal(w.Body.Bytes(), &out))
	assert.Equal(t, w.Code == http.StatusOK, refusal.Type == "")
	return out, refusal.Type
}

// TestKey: a lab that was started again decrypts what it had encrypted, and no other lab does.
func TestKey(t *testing.T) {
	sealed, _ := ask(t, "one", "Encrypt", request{KeyID: Alias, Plaintext: []byte("hidden")})
	assert.Assert(t, !strings.Contains(string(sealed.CiphertextBlob), "hidden"))
	opened, _ := ask(t, "one", "Decrypt", request{CiphertextBlob: sealed.CiphertextBlob})
	assert.Equal(t, string(opened.Plaintext), "hidden")

	for want, asked := range map[string]struct {
		secret, operation string
		in                request
	}{
		"InvalidCiphertextException": {"other", "Decrypt", request{CiphertextBlob: sealed.CiphertextBlob}},
		"NotFoundException":          {"one", "Encrypt", request{KeyID: "alias/nobodys"}},
		"UnknownOperationException":  {"one", "Sign", request{}},
	} {
		_, refused := ask(t, asked.secret, asked.operation, asked.in)
		assert.Equal(t, refused, want)
	}
}

func TestURL(t *testing.T) {
	assert.Equal(t, URL(Alias, "eu-central-1", "127.0.0.1:1"), "awskms://alias/tombolo?endpoint=http%3A%2F%2F127.0.0.1%3A1&region=eu-central-1")
}
