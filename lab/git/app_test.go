package git

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/internal/githubapp"
	"tombolo/tests/files"
)

// TestApp: who has the App's key gets a token, which opens the repository, and nobody else does.
func TestApp(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	assert.NilError(t, err)
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	assert.NilError(t, err)
	file := filepath.Join(t.TempDir(), "app.pub")
	app := App{Key: file}
	s := httptest.NewServer(app.Around(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		name, password, _ := r.BasicAuth()
		assert.Check(t, name == "lab" && password == "secret", "%s:%s", name, password)
	}), "lab", func() (string, error) { return "secret", nil }))
	defer s.Close()
	own := githubapp.App{
		ID: AppID, Installation: AppInstallation, API: s.URL + "/api/v3",
		Key: string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})),
	}
	_, err = own.Token(t.Context(), s.Client())
	assert.Check(t, is.ErrorContains(err, "404 Not Found: \"Integration not found\""))
	files.Write(t, file, string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})))
	token, err := own.Token(t.Context(), s.Client())
	assert.Assert(t, err == nil && app.takes(token) && !app.takes("ghs_guess"), "%v", err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/platform.git/info/refs", nil)
	assert.NilError(t, err)
	req.SetBasicAuth(githubapp.User, token)
	resp, err := s.Client().Do(req)
	assert.NilError(t, err)
	resp.Body.Close()
	app.tokens[token] = time.Now()
	assert.Check(t, !app.takes(token), "a token lasts an hour")

	other := own
	other.Installation++
	_, err = other.Token(t.Context(), s.Client())
	assert.Check(t, is.ErrorContains(err, "404"))
	other = own
	other.ID++
	_, err = other.Token(t.Context(), s.Client())
	assert.Check(t, is.ErrorContains(err, "401"))
	for name, claims := range map[string]jwt.RegisteredClaims{
		"too long":  {Issuer: strconv.Itoa(AppID), IssuedAt: jwt.NewNumericDate(time.Now()), ExpiresAt: jwt.NewNumericDate(time.Now().Add(time.Hour))},
		"no end":    {Issuer: strconv.Itoa(AppID), IssuedAt: jwt.NewNumericDate(time.Now())},
		"no moment": {Issuer: strconv.Itoa(AppID), ExpiresAt: jwt.NewNumericDate(time.Now().Add(time.Minute))},
		"later":     {Issuer: strconv.Itoa(AppID), IssuedAt: jwt.NewNumericDate(time.Now().Add(time.Minute)), ExpiresAt: jwt.NewNumericDate(time.Now().Add(2 * time.Minute))},
	} {
		signed, err := jwt.NewWithClaims(jwt.SigningMethodRS256, claims).SignedString(key)
		assert.NilError(t, err)
		assert.Check(t, app.check(signed) != nil, name)
	}
	secret, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{Issuer: strconv.Itoa(AppID)}).SignedString(der)
	assert.NilError(t, err)
	assert.Check(t, app.check(secret) != nil, "signed with the public key as a secret")
}
