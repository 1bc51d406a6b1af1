package handover

import (
	"context"
	"errors"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// served is the repository over HTTP: who signs in may read, and push unless
// the token is the one for readers.
func (b bench) served(user, token, reader string) string {
	b.t.Helper()
	git, err := exec.LookPath("git")
	assert.NilError(b.t, err)
	b.git(b.bare, "config", "http.receivepack", "true")
	backend := &cgi.Handler{Path: git, Args: []string{"http-backend"}, Env: []string{
		"GIT_PROJECT_ROOT=" + filepath.Dir(b.bare), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=" + user, "HOME=" + b.home, "PATH=" + os.Getenv("PATH"),
	}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, password, _ := r.BasicAuth()
		push := strings.Contains(r.URL.String(), "receive-pack")
		switch {
		case name != user || password != token && password != reader:
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			http.Error(w, "who are you, "+name+":"+password+"?", http.StatusUnauthorized)
		case push && password == reader:
			http.Error(w, "you may only read", http.StatusForbidden)
		default:
			backend.ServeHTTP(w, r)
		}
	}))
	b.t.Cleanup(s.Close)
	return s.URL + "/" + filepath.Base(b.bare)
}

func TestBasicCredentials(t *testing.T) {
	const token, reader = "t0ken-that-writes", "t0ken/that reads"
	b := seeded(t)
	r := b.repository()
	r.URL = b.served("git", token, reader)
	r.Credentials = &Credentials{Username: "git", Password: token}
	outcome, err := Push(t.Context(), r, change())
	assert.Assert(t, err == nil && outcome.Changed, "outcome %+v, %v", outcome, err)
	c := change()
	c.Files["more"] = []byte("more\n")
	for want, credentials := range map[string]*Credentials{
		"the credentials may not write: ": {Username: "git", Password: reader},
		"check gitops.auth in the cluster file, or use the credentials of your own git: add --own-credentials": {Username: "git", Password: "wr0ng-token"},
		"have your own git sign in there: `git ls-remote " + r.URL + "` tries it":                              nil,
	} {
		r.Credentials = credentials
		_, err := Push(t.Context(), r, c)
		assert.ErrorContains(t, err, want)
		if credentials == nil || err == nil {
			continue
		}
		for _, secret := range newMask(credentials).secrets {
			assert.Check(t, !strings.Contains(err.Error(), secret), "the error shows %q: %v", secret, err)
		}
	}
}

// TestArgumentsHoldNoSecret: a list of processes shows no credentials.
func TestArgumentsHoldNoSecret(t *testing.T) {
	b := seeded(t)
	bin, log := t.TempDir(), filepath.Join(t.TempDir(), "log")
	real, err := exec.LookPath("git")
	assert.NilError(t, err)
	script := "#!/bin/sh\necho \"$@\" >>" + log + "\nexec " + real + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o755); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	r := b.repository()
	r.URL = b.served("git", "t0ken", "")
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	r.Credentials = &Credentials{Username: "git", Password: "t0ken"}
	_, err = Push(t.Context(), r, change())
	assert.NilError(t, err)
	seen, err := os.ReadFile(log)
	assert.Assert(t, err == nil && strings.Contains(string(seen), "push --porcelain"), "the calls were not seen: %s, %v", seen, err)
	for _, secret := range newMask(r.Credentials).secrets {
		assert.Check(t, !strings.Contains(string(seen), secret), "the arguments show %q:\n%s", secret, seen)
	}
}

func TestSSHCredentials(t *testing.T) {
	dir := t.TempDir()
	g := newGit(dir, Repository{URL: "ssh://git@git.example.com/platform.git"})
	assert.NilError(t, os.Mkdir(filepath.Join(dir, "clone"), 0o700))
	key := "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----"
	_, err := g.access(Credentials{PrivateKey: key, KnownHosts: "git.example.com ssh-ed25519 AAAA"})
	assert.NilError(t, err)
	info, err := os.Stat(filepath.Join(dir, "key"))
	assert.Check(t, err == nil && info.Mode().Perm() == 0o600, "the key file: %v, %v", info, err)
	env := strings.Join(g.env, "\n")
	for _, want := range []string{"-o IdentitiesOnly=yes", "-o StrictHostKeyChecking=yes", "-o BatchMode=yes", "-i '" + filepath.Join(dir, "key") + "'"} {
		assert.Check(t, is.Contains(env, want))
	}
	assert.Check(t, !strings.Contains(env, "b3BlbnNzaC1rZXk"), "the key is in the environment")
}

func TestMask(t *testing.T) {
	m := newMask(&Credentials{Username: "git", Password: "p@ss"})
	got := m.hide("fatal: Authentication failed for 'https://git:p@ss@git.example.com/x', Basic " + basic(Credentials{Username: "git", Password: "p@ss"}))
	want := "fatal: Authentication failed for 'https://git.example.com/x', Basic [secret]"
	assert.Check(t, got == want, "got %q, want %q", got, want)
	got = newMask(nil).hide("https://x-token:abc@git.example.com/x")
	assert.Check(t, got == "https://git.example.com/x", "got %q", got)
}

func TestCancelled(t *testing.T) {
	b := seeded(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Push(ctx, b.repository(), change())
	assert.Check(t, errors.Is(err, context.Canceled), "error %v", err)
}
