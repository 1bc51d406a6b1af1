package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	"tombolo/lab/control"
	"tombolo/lab/process"
)

// longestSocketPath that every system takes, in bytes (sun_path has 104 on
// some and 108 on others, with a final zero).
const longestSocketPath = 103

// socketDir begins the name of a temporary directory for the socket.
const socketDir = "tombolo-lab-"

// sessionRequest asks for the credentials of a role's session, or of the account's one user.
type sessionRequest struct {
	Role string `json:"role"`
}

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
	file, err := json.Marshal(control.Daemon{PID: os.Getpid(), Identity: process.Identity(os.Getpid()), Socket: d.socket, Protocol: control.Protocol})
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
	file, found, err := control.ReadDaemon(l.paths().daemon())
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
	handle(mux, "POST /token", func(_ context.Context, r control.TokenRequest) (control.TokenAnswer, error) {
		if r.By.AccessKeyID == "" {
			r.By = sts.UserCredentials(d.accounts.home())
		}
		token, expires, err := authenticator.GetToken(d.accounts.with(r.Cluster), r.By, r.Cluster)
		return control.TokenAnswer{Token: token, Expires: expires}, err
	})
	handle(mux, "POST /session", func(_ context.Context, r sessionRequest) (sigv4.Credentials, error) {
		if r.Role == "" {
			return sts.UserCredentials(d.accounts.home()), nil
		}
		return sts.SessionOfRole(d.accounts.sts().Of(r.Role), r.Role, "job")
	})
	handle(mux, "POST /assume", func(_ context.Context, r control.AssumeRequest) (sigv4.Credentials, error) {
		return d.accounts.sts().Assume(r.By, sts.Role(r.Role))
	})
	d.serveFederation(mux)
	d.serveJobs(mux)
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
