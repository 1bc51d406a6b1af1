package distribution

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// sumOfHello is sha256("hello").
const sumOfHello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

func product() Product { return Product{Name: "Flux", Namespace: "flux-system"} }

func server(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/install.yaml":
			if _, err := w.Write([]byte("hello")); err != nil {
				t.Error(err)
			}
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestLoad(t *testing.T) {
	url := server(t)
	path := filepath.Join(t.TempDir(), "install.yaml")
	assert.NilError(t, os.WriteFile(path, []byte("hello"), 0o600))
	for _, d := range []Source{
		{URL: url + "/install.yaml", SHA256: sumOfHello},
		{URL: url + "/install.yaml", SHA256: strings.ToUpper(sumOfHello)},
		{Path: path},
		{Path: path, SHA256: sumOfHello},
	} {
		got, err := product().Load(t.Context(), d)
		assert.Check(t, err == nil && string(got) == "hello", "%+v: %q, %v", d, got, err)
	}
}

func TestLoadRefuses(t *testing.T) {
	url := server(t)
	other := strings.Repeat("0", 64)
	for want, d := range map[string]Source{
		"checksum of Flux distribution " + url + "/install.yaml is " + sumOfHello + ", expected " + other: {URL: url + "/install.yaml", SHA256: other},
		"fetch Flux distribution " + url + "/x: the server answered 404 Not Found; check the URL":         {URL: url + "/x", SHA256: other},
		"the Flux distribution " + url + " has no checksum; give its sha256":                              {URL: url},
		"the Flux distribution has neither a URL nor a path":                                              {},
		"read Flux distribution: open /absent/install.yaml: no such file or directory":                    {Path: "/absent/install.yaml"},
		"read Flux distribution: /dev/zero is not a regular file":                                         {Path: "/dev/zero"},
	} {
		if _, err := product().Load(t.Context(), d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected %q", err, want)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := product().Load(cancelled, Source{URL: url, SHA256: other}); err == nil || !strings.Contains(err.Error(), "context canceled") {
		t.Errorf("error %v after cancelling", err)
	}
}
