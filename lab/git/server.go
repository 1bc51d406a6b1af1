package git

import (
	"bytes"
	"crypto/subtle"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"os/exec"
	"path/filepath"
)

// maxBody of a push or fetch request, in bytes.
const maxBody = 64 << 20

// Handler serves the repository at /<base name of its directory>, and others
// beside it, to the given user alone, with the token of the moment: a token
// that is replaced counts no longer.
func (r *Repository) Handler(user string, token func() (string, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		current, err := token()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		name, password, _ := req.BasicAuth()
		userOK := subtle.ConstantTimeCompare([]byte(name), []byte(user)) == 1
		tokenOK := subtle.ConstantTimeCompare([]byte(password), []byte(current)) == 1
		if !userOK || !tokenOK {
			w.Header().Set("WWW-Authenticate", `Basic realm="lab"`)
			http.Error(w, fmt.Sprintf("sign in as %s with the lab's Git token", user), http.StatusUnauthorized)
			return
		}
		if err := measure(req); err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		r.backend(user, w, req)
	})
}

// backend runs git http-backend for one request.
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
			"GIT_PROJECT_ROOT="+filepath.Dir(r.dir), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER="+user),
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
