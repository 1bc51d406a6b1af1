package githubapp

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func newKey(t *testing.T) (*rsa.PrivateKey, string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	assert.NilError(t, err)
	return key, string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
}

// claims of a token whose signature is that of the key.
func claims(t *testing.T, key *rsa.PrivateKey, token string) map[string]any {
	t.Helper()
	parts := strings.Split(token, ".")
	assert.Assert(t, is.Len(parts, 3))
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	assert.NilError(t, err)
	assert.NilError(t, rsa.VerifyPKCS1v15(&key.PublicKey, crypto.SHA256, sum[:], signature))
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	assert.NilError(t, err)
	var out map[string]any
	assert.NilError(t, json.Unmarshal(text, &out))
	return out
}

// TestToken: the request is as GitHub documents it, and what else is answered is told.
func TestToken(t *testing.T) {
	key, text := newKey(t)
	var answer func(w http.ResponseWriter)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Check(t, is.Equal(r.Method+" "+r.URL.String(), "POST /api/v3/app/installations/34/access_tokens"))
		assert.Check(t, is.Equal(r.Header.Get("Accept"), "application/vnd.github+json"))
		signed, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		assert.Check(t, ok)
		c := claims(t, key, signed)
		from, until := int64(c["iat"].(float64)), int64(c["exp"].(float64))
		assert.Check(t, c["iss"] == "12" && from <= time.Now().Unix() && until-from <= 600, "%v", c)
		answer(w)
	}))
	defer s.Close()
	app := App{ID: 12, Installation: 34, Key: text, API: s.URL + "/api/v3"}
	for _, test := range []struct {
		status     int
		body, want string
	}{
		{http.StatusCreated, `{"token": "ghs_x", "expires_at": "2030-01-01T00:00:00Z"}`, ""},
		{http.StatusCreated, `{}`, "answers without a token"},
		{http.StatusCreated, `<html>`, "answers without a token"},
		{http.StatusUnauthorized, `{"message": "A JSON web token could not be decoded"}`, `answers 401 Unauthorized: "A JSON web token could not be decoded"`},
		{http.StatusNotFound, `not JSON`, `answers 404 Not Found: ""`},
	} {
		answer = func(w http.ResponseWriter) {
			w.WriteHeader(test.status)
			_, _ = w.Write([]byte(test.body))
		}
		got, err := app.Token(t.Context(), s.Client())
		if test.want == "" {
			assert.Check(t, err == nil && got == "ghs_x", "%s, %v", got, err)
			continue
		}
		assert.Check(t, is.ErrorContains(err, test.want))
	}
}

// TestParseKey: no error shows any of what is no key.
func TestParseKey(t *testing.T) {
	key, text := newKey(t)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	assert.NilError(t, err)
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	assert.NilError(t, err)
	otherDER, err := x509.MarshalPKCS8PrivateKey(other)
	assert.NilError(t, err)
	block := func(kind string, bytes []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}))
	}
	for given, want := range map[string]string{
		text:                           "",
		block("PRIVATE KEY", der):      "",
		"hunter2":                      "is no private key in PEM",
		block("PRIVATE KEY", otherDER): "is no RSA key, which GitHub makes for an App",
		block("ENCRYPTED PRIVATE KEY", []byte("abc")): "is no private key in PEM without a passphrase",
	} {
		got, err := ParseKey(given)
		if want == "" {
			assert.Check(t, err == nil && got.Equal(key), "%v", err)
			continue
		}
		assert.Check(t, is.Error(err, want))
	}
}
