package control

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/process"
	"tombolo/tests/files"
)

// daemon answers on a socket as the handler does, and is written down.
func daemon(t *testing.T, handler http.HandlerFunc) Client {
	t.Helper()
	dir, err := os.MkdirTemp("", "lab") //nolint:usetesting // the path of a socket in it must stay short
	assert.NilError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", socket)
	assert.NilError(t, err)
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Second}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { server.Close() })
	text, err := json.Marshal(Daemon{PID: os.Getpid(), Identity: process.Identity(os.Getpid()), Socket: socket})
	assert.NilError(t, err)
	files.Write(t, File(dir), string(text))
	return Client{File(dir)}
}

func TestRequestsHaveTheCredentialsOfTheEnvironment(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_SESSION_TOKEN", "session")
	var path, asked string
	c := daemon(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		path, asked = r.URL.Path, string(body)
		_, _ = io.WriteString(w, `{"token":"k8s-aws-v1.x","expires":"2026-01-02T03:04:05Z"}`)
	})
	token, expires, err := c.EKSToken(t.Context(), "demo")
	assert.NilError(t, err)
	assert.Check(t, is.Equal(token, "k8s-aws-v1.x"))
	assert.Check(t, expires.Equal(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)), "%v", expires)
	assert.Check(t, is.Equal(path, "/token"))
	assert.Check(t, is.Equal(asked, `{"cluster":"demo","by":{"AccessKeyID":"key","SecretAccessKey":"secret","SessionToken":"session"}}`))
}

func TestRefusals(t *testing.T) {
	c := daemon(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/insights":
			_, _ = io.WriteString(w, `{"Code":"ResourceNotFoundException","Message":"No cluster found for name: x."}`)
		default:
			http.Error(w, "no such role", http.StatusNotFound)
		}
	})
	_, err := c.EKSInsights(t.Context(), InsightRequest{Cluster: "x", ID: "1"})
	assert.Error(t, err, "An error occurred (ResourceNotFoundException) when calling the DescribeInsight operation: No cluster found for name: x.")
	_, err = c.AssumeRole(t.Context(), Role{ARN: "arn:r"})
	assert.Error(t, err, "assume role arn:r: no such role")
}

func TestNobodyAnswers(t *testing.T) {
	file := File(t.TempDir())
	for name, text := range map[string]string{
		"no daemon":                "",
		"cut short by a crash":     `{"pid":1,`,
		"a pid of somebody else's": `{"pid":1,"identity":"x","socket":"/nowhere"}`,
	} {
		if text != "" {
			files.Write(t, file, text)
		}
		_, err := Client{file}.SecretsManager(t.Context(), SecretsRequest{})
		assert.Check(t, is.ErrorIs(err, ErrNotRunning), name)
	}
}
