package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tombolo/lab/aws/authenticator"
	"tombolo/lab/aws/sigv4"
	"tombolo/lab/aws/sts"
	"tombolo/lab/process"
)

// longestSocketPath that every system takes, in bytes (sun_path has 104 on
// some and 108 on others, with a final zero).
const longestSocketPath = 103

// socketDir begins the name of a temporary directory for the socket.
const socketDir = "tombolo-lab-"

// daemonFile says how to reach the daemon, and tells whether a pid still is it.
type daemonFile struct {
	PID      int    `json:"pid"`
	Identity string `json:"identity"`
	Socket   string `json:"socket"`
	// Protocol is that of the daemon's program; one from before has 0.
	Protocol int `json:"protocol"`
}

// protocol is what is said on the socket, and what the daemon's ports want. It changes
// with what an older daemon does not know.
const protocol = 3

// readDaemonFile returns what the last daemon left; false when there is none.
func readDaemonFile(path string) (daemonFile, bool, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return daemonFile{}, false, nil
	}
	if err != nil {
		return daemonFile{}, false, fmt.Errorf("read %s: %w", path, err)
	}
	var f daemonFile
	if err := json.Unmarshal(data, &f); err != nil {
		return daemonFile{}, false, nil // cut short by a crash: no daemon wrote it to its end
	}
	return f, true, nil
}

func (f daemonFile) alive() bool { return f.Identity != "" && process.Identity(f.PID) == f.Identity }

// The control protocol: JSON over HTTP on a unix socket that only the owner
// may open.
type (
	tokenRequest struct {
		Cluster string `json:"cluster"`
		// By are the credentials to sign with; the account's one user without any.
		By sigv4.Credentials `json:"by"`
	}
	// sessionRequest asks for the credentials of a role's session, or of the
	// account's one user.
	sessionRequest struct {
		Role string `json:"role"`
	}
	// assumeRequest asks for a session of a role, for a holder of credentials.
	assumeRequest struct {
		By   sigv4.Credentials `json:"by"`
		Role sts.Role          `json:"role"`
	}
	tokenAnswer struct {
		Token   string    `json:"token"`
		Expires time.Time `json:"expires"`
	}
)

// serveControl opens the control socket and records how to reach it; close
// takes both away.
func (d *daemon) serveControl(failed chan<- error) (close func(), _ error) {
	_ = os.Remove(d.socket) // of a daemon that was killed
	listener, err := net.Listen("unix", d.socket)
	if err != nil {
		return nil, fmt.Errorf("listen on the control socket: %w", err)
	}
	if err := os.Chmod(d.socket, 0o600); err != nil {
		return nil, fmt.Errorf("protect the control socket: %w", err)
	}
	file, err := json.Marshal(daemonFile{PID: os.Getpid(), Identity: process.Identity(os.Getpid()), Socket: d.socket, Protocol: protocol})
	if err != nil {
		return nil, fmt.Errorf("encode the daemon's address: %w", err)
	}
	if err := os.WriteFile(d.lab.paths().daemon(), file, 0o600); err != nil {
		return nil, fmt.Errorf("write the daemon's address: %w", err)
	}
	server := &http.Server{Handler: d.control(), ReadHeaderTimeout: 10 * time.Second}
	go func() { failed <- server.Serve(listener) }()
	return func() {
		server.Close()
		if err := d.lab.forgetDaemon(); err != nil {
			d.log.Warn("the daemon's address is left", "error", err)
		}
	}, nil
}

// forgetDaemon removes the record of a daemon that has ended, and the
// directory of its socket if that is not the lab's own.
func (l *Lab) forgetDaemon() error {
	file, found, err := readDaemonFile(l.paths().daemon())
	if err != nil || !found {
		return err
	}
	if dir := filepath.Dir(file.Socket); strings.HasPrefix(filepath.Base(dir), socketDir) {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("remove the control socket: %w", err)
		}
	}
	if err := os.Remove(l.paths().daemon()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the daemon's address: %w", err)
	}
	return nil
}

// socketPath is the wanted path, or one in a fresh temporary directory when
// that is longer than a socket's may be.
func socketPath(wanted string) (string, error) {
	if len(wanted) <= longestSocketPath {
		return wanted, nil
	}
	dir, err := os.MkdirTemp("", socketDir)
	if err != nil {
		return "", fmt.Errorf("make a directory for the control socket: %w", err)
	}
	return filepath.Join(dir, "lab.sock"), nil
}

// control answers the CLI.
func (d *daemon) control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) { answer(w, d.status()) })
	mux.HandleFunc("POST /heal", func(w http.ResponseWriter, r *http.Request) {
		if err := d.heal(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		answer(w, d.status())
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		var request tokenRequest
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			http.Error(w, "read the request: "+err.Error(), http.StatusBadRequest)
			return
		}
		if request.By.AccessKeyID == "" {
			request.By = sts.UserCredentials(d.accounts.home())
		}
		token, expires, err := authenticator.GetToken(d.accounts.with(request.Cluster), request.By, request.Cluster)
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		answer(w, tokenAnswer{token, expires})
	})
	handle(mux, "POST /session", func(_ context.Context, r sessionRequest) (sigv4.Credentials, error) {
		if r.Role == "" {
			return sts.UserCredentials(d.accounts.home()), nil
		}
		return sts.SessionOfRole(d.accounts.sts().Of(r.Role), r.Role, "job")
	})
	handle(mux, "POST /assume", func(_ context.Context, r assumeRequest) (sigv4.Credentials, error) {
		return d.accounts.sts().Assume(r.By, r.Role)
	})
	d.serveFederation(mux)
	d.serveInsights(mux)
	d.serveSecrets(mux)
	d.serveDrift(mux)
	d.serveFaults(mux)
	d.serveNetwork(mux)
	mux.HandleFunc("POST /shutdown", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, struct{}{})
		d.stop()
	})
	return mux
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // the client went away
}

// answerTimeout is how long the daemon may take for what needs nothing but
// itself.
const answerTimeout = 5 * time.Second

// ask is call for what the daemon answers at once. One that is there and does
// not answer is an error that says what to do about it.
func (l *Lab) ask(ctx context.Context, method, path string, in, out any) error {
	bounded, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	err := l.call(bounded, method, path, in, out)
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		return fmt.Errorf("no answer in %v: %w; %w", answerTimeout, err, ErrHangs)
	}
	return err
}

// call asks the daemon; out may be nil. Without a daemon it fails with
// ErrNotRunning.
func (l *Lab) call(ctx context.Context, method, path string, in, out any) error {
	file, found, err := readDaemonFile(l.paths().daemon())
	if err != nil {
		return err
	}
	if !found || !file.alive() {
		return ErrNotRunning
	}
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://lab"+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("make the request: %w", err)
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", file.Socket)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		err = fmt.Errorf("ask the lab's daemon (pid %d): %w", file.PID, err)
		if !file.alive() {
			err = fmt.Errorf("%w; %w", err, ErrNotRunning)
		}
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
		return errors.New(strings.TrimSpace(string(text)))
	}
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fmt.Errorf("read the daemon's answer: %w", err)
	}
	return nil
}
