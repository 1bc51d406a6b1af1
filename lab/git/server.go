package git

import (
	"bytes"
	"context"
	"crypto/subtle"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// maxBody of a push or fetch request, in bytes.
const maxBody = 64 << 20

// Pushed is told of a branch that a push has moved: the repository's name and the commits before and after.
type Pushed func(repository, before, after string)

// Allows says who may use repositories. Who shows a bearer token has no name, and only reads.
type Allows func(user, password string) (bool, error)

// signIn is who a request says to come from.
func signIn(req *http.Request) (user, password string, signedIn bool) {
	if token, is := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer "); is {
		return "", token, true
	}
	return req.BasicAuth()
}

// Equal compares secrets.
func Equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// Handler serves the repository at /<base name of its directory>, and others
// beside it, to the given user alone, with the token of the moment: a token
// that is replaced counts no longer. Who shows no token may read public ones. pushed is called once a push to the
// branch Branch is answered.
func (r *Repository) Handler(user string, token func() (string, error), pushed Pushed) http.Handler {
	return r.HandlerFor(func(name, password string) (bool, error) {
		current, err := token()
		return Equal(name, user) && Equal(password, current), err
	}, pushed)
}

// HandlerFor is Handler for whom allowed says.
func (r *Repository) HandlerFor(allowed Allows, pushed Pushed) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		user, password, signedIn := signIn(req)
		if !signedIn && r.public(req) {
			r.backend("", w, req)
			return
		}
		ok, err := allowed(user, password)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		if !ok {
			w.Header().Set("WWW-Authenticate", `Basic realm="lab"`)
			http.Error(w, "sign in with the lab's Git token", http.StatusUnauthorized)
			return
		}
		if user == "" && pushes(req) {
			http.Error(w, "the token may read alone", http.StatusForbidden)
			return
		}
		if err := measure(req); err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		if req.URL.Query().Get("service") == "git-receive-pack" {
			name, _, _ := strings.Cut(strings.TrimPrefix(path.Clean(req.URL.Path), "/"), "/")
			Open(filepath.Join(filepath.Dir(r.dir), name), r.home).yield(req.Context())
		}
		name, isPush := strings.CutSuffix(strings.TrimPrefix(path.Clean(req.URL.Path), "/"), "/git-receive-pack")
		if !isPush || req.Method != http.MethodPost {
			r.backend(user, w, req)
			return
		}
		to := Open(filepath.Join(filepath.Dir(r.dir), name), r.home)
		before := to.head(req.Context())
		r.backend(user, w, req)
		if after := to.head(req.Context()); after != before {
			pushed(name, before, after)
		}
	})
}

func (r *Repository) head(ctx context.Context) string { return r.resolve(ctx, "refs/heads/"+Branch) }

// Files are those that differ between two commits.
func (r *Repository) Files(ctx context.Context, before, after string) ([]string, error) {
	out, err := r.git(ctx, nil, "--git-dir="+r.dir, "diff", "--name-only", before, after)
	if err != nil {
		return nil, fmt.Errorf("compare commits of the lab's Git repository: %w", err)
	}
	return strings.Fields(out), nil
}

// publicMark is a file in a repository that anybody may read: git's own.
// https://git-scm.com/docs/git-http-backend
const publicMark = "git-daemon-export-ok"

// Publish lets anybody read the repository.
func (r *Repository) Publish() error {
	if err := os.WriteFile(filepath.Join(r.dir, publicMark), nil, 0o644); err != nil {
		return fmt.Errorf("publish the lab's Git repository: %w", err)
	}
	return nil
}

// pushes says that a request is of a push. Git asks for one at info/refs first, with the name of the service.
func pushes(req *http.Request) bool {
	return strings.Contains(req.URL.RawQuery, "git-receive-pack") || strings.HasSuffix(req.URL.Path, "git-receive-pack")
}

// public says that a request reads a public repository.
func (r *Repository) public(req *http.Request) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(path.Clean(req.URL.Path), "/"), "/")
	if pushes(req) {
		return false
	}
	_, err := os.Stat(filepath.Join(filepath.Dir(r.dir), name, publicMark))
	return err == nil
}

// backend runs git http-backend for one request; without a user, it pushes nothing.
func (r *Repository) backend(user string, w http.ResponseWriter, req *http.Request) {
	git, err := exec.LookPath("git")
	if err != nil {
		http.Error(w, "git is missing on the lab's machine", http.StatusInternalServerError)
		return
	}
	handler := &cgi.Handler{
		Path: git,
		Args: []string{"http-backend"},
		Dir:  r.dir,
		Env: append(r.environment(),
			"GIT_PROJECT_ROOT="+filepath.Dir(r.dir), "GIT_HTTP_EXPORT_ALL=1"),
	}
	if user != "" {
		handler.Env = append(handler.Env, "REMOTE_USER="+user)
	}
	handler.ServeHTTP(w, req)
}

// measure gives a chunked request its length, which CGI needs and git's larger
// pushes do not send.
func measure(req *http.Request) error {
	if len(req.TransferEncoding) == 0 {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(req.Body, maxBody+1))
	if err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	if len(body) > maxBody {
		return fmt.Errorf("the request is larger than %d MiB", maxBody>>20)
	}
	req.Body, req.ContentLength, req.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	return nil
}
