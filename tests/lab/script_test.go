//go:build lab

package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"tombolo/lab"
	"tombolo/tests/files"
	"tombolo/tests/scenario"
	"tombolo/tests/tier"
)

// downTimeout is how long a lab may take to end after its scenario.
const downTimeout = time.Minute

// TestMain makes tombolo a command of the scenarios.
func TestMain(m *testing.M) { scenario.Main(m, os.Exit) }

// TestScript runs the scenarios, each in a project with a lab of its own.
func TestScript(t *testing.T) {
	tier.Long(t, "every kind of pull request, change by change")
	tier.Parallel(t)
	root := checkout(t)
	scenario.Run(t, func(env *testscript.Env) error { return scenarioProject(env, root) }, requestCommands())
}

// scenarioProject makes a checkout in the scenario's directory, with the real one's
// tools, cluster file, platform tree and charts, and ends its lab afterwards.
func scenarioProject(env *testscript.Env, checkout string) error {
	if err := checkoutInto(env.WorkDir, checkout); err != nil {
		return fmt.Errorf("making a checkout for the scenario: %w", err)
	}
	env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
	env.Setenv("TOMBOLO_LAB", "1")
	env.Defer(func() { endLab(env, env.WorkDir) })
	openRequest(env)
	return os.MkdirAll(filepath.Join(env.WorkDir, "home"), 0o755)
}

// checkoutInto makes a directory a checkout of its own: the real one's data,
// copied, and its tools.
func checkoutInto(dir, checkout string) error {
	for _, name := range []string{"Pulumi.yaml", "clusters", "platform", "lab/charts", "lab/systems"} {
		if err := copyAll(filepath.Join(dir, name), filepath.Join(checkout, name)); err != nil {
			return err
		}
	}
	return files.Tools(dir, checkout)
}

// endLab ends the lab of a project.
func endLab(env *testscript.Env, dir string) {
	ctx, cancel := context.WithTimeout(context.Background(), downTimeout)
	defer cancel()
	if err := lab.Open(dir).Down(ctx); err != nil {
		env.T().Log(err)
		env.T().FailNow()
	}
}

// copyAll copies a file, or a directory with all that is in it. Settings of
// stacks in clusters/ are the user's own, and stay behind.
func copyAll(to, from string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		if own, _ := filepath.Match("Pulumi.*-*.yaml", entry.Name()); own {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o644)
	})
}

// requestCommands are commands of scenarios about a pull request:
//
//	edit <file> <old> <new>     replaces a text that is in the file once
//	settle <file> <settled>     copies a file, with numbers for random ids
//	comments [<file>...]        the pull request has these comments, in this order
//	approve <name>              somebody approves the pull request
func requestCommands() map[string]scenario.Command {
	return map[string]scenario.Command{
		"edit": edit, "settle": settle, "comments": comments, "approve": approve,
	}
}

func edit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: edit <file> <old> <new>")
	}
	text := ts.ReadFile(args[0])
	if n := strings.Count(text, args[1]); n != 1 {
		ts.Fatalf("%s has %q %d times, want it once", args[0], args[1], n)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(text, args[1], args[2], 1)), 0o644))
}

// randomIDs are what the stand-in makes up, as AWS does: ids such as
// vpc-0123456789abcdef0, the key of an OIDC issuer, UUIDs, and the ports of
// API servers. The prefix of an id stays. A cluster's identity is as random.
var randomIDs = regexp.MustCompile(`\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|` +
	`\b(?:[a-z]+-0[0-9a-f]{16})\b|\b[0-9A-F]{32}\b|\b[a-z2-7]{26}\b|\b127\.0\.0\.1:[0-9]+\b`)

// fingerprint is that of a backend, which is another directory in each run.
var fingerprint = regexp.MustCompile(`(tombolo:backend: ")[0-9a-f]{8}"`)

// settle gives each random id a number, in the order in which the file has them.
//
// The name of a node group has a hash of its subnets' ids.
func settle(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: settle <file> <settled>")
	}
	numbers, next := map[string]string{}, map[string]int{}
	text := randomIDs.ReplaceAllStringFunc(ts.ReadFile(args[0]), func(id string) string {
		if numbers[id] == "" {
			kind, _, isID := strings.Cut(id, "-0")
			if !isID || strings.ContainsAny(kind, "0123456789") {
				kind = "id"
			}
			next[kind]++
			numbers[id] = fmt.Sprintf("%s-%d", kind, next[kind])
		}
		return numbers[id]
	})
	text = fingerprint.ReplaceAllString(text, `${1}fingerprint"`)
	text = groupName.ReplaceAllString(text, `${1}hash"`)
	text = strings.ReplaceAll(text, ts.Getenv("WORK")+"/", "")
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o644))
}

var groupName = regexp.MustCompile(`(nodeGroupName: "[a-z-]+-)[0-9a-f]{8}"`)

// requestToken is the token of a job that works on the pull request.
const requestToken = "a-job's-token"

// request is a pull request at a host with GitHub's API, as far as tombolo uses
// it.
type request struct {
	mu        sync.Mutex
	bodies    []string
	approvers []string
}

type requestKey struct{}

// openRequest gives a scenario a pull request, and the environment of a job that
// works on it.
func openRequest(env *testscript.Env) {
	r := &request{}
	host := httptest.NewServer(r)
	env.Defer(host.Close)
	env.Values[requestKey{}] = r
	for name, value := range map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_API_URL": host.URL, "GITHUB_TOKEN": requestToken,
		"GITHUB_REPOSITORY": "acme/clusters", "GITHUB_REF": "refs/pull/7/merge",
	} {
		env.Setenv(name, value)
	}
}

func comments(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: comments [<file>...]")
	}
	r := ts.Value(requestKey{}).(*request)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.bodies) != len(args) {
		ts.Fatalf("the pull request has %d comments, want %d", len(r.bodies), len(args))
	}
	for i, file := range args {
		if r.bodies[i] != ts.ReadFile(file) {
			ts.Fatalf("comment %d is not %s but\n%s", i+1, file, r.bodies[i])
		}
	}
}

func approve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: approve <name>")
	}
	r := ts.Value(requestKey{}).(*request)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.approvers = append(r.approvers, args[0])
}

// ServeHTTP answers a job as GitHub does: it may not ask who it is.
func (r *request) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	const all, one = "/repos/acme/clusters/issues/7/comments", "/repos/acme/clusters/issues/comments"
	const pull, head = "/repos/acme/clusters/pulls/7", "5ca1ab1e"
	id, _ := strconv.Atoi(path.Base(q.URL.Path))
	known := path.Dir(q.URL.Path) == one && id > 0 && id <= len(r.bodies)
	switch {
	case q.Header.Get("Authorization") != "Bearer "+requestToken:
		http.Error(w, `{"message":"Bad credentials"}`, http.StatusUnauthorized)
	case q.URL.Path == "/user":
		http.Error(w, `{"message":"Resource not accessible by integration"}`, http.StatusForbidden)
	case q.Method == http.MethodGet && q.URL.Path == all:
		r.list(w)
	case q.Method == http.MethodGet && q.URL.Path == pull:
		fmt.Fprintf(w, `{"user":{"id":1,"login":"author"},"commits":1,"head":{"sha":%q,"ref":"change","repo":{"full_name":"acme/clusters"}}}`, head)
	case q.Method == http.MethodGet && q.URL.Path == pull+"/commits":
		fmt.Fprintf(w, `[{"sha":%q,"author":{"id":1},"committer":{"id":1}}]`, head)
	case q.Method == http.MethodGet && q.URL.Path == "/repos/acme/clusters/activity":
		fmt.Fprintf(w, `[{"before":"0000","after":%q,"actor":{"id":1}}]`, head)
	case q.Method == http.MethodGet && q.URL.Path == pull+"/reviews":
		r.reviews(w, head)
	case q.Method == http.MethodGet && strings.HasSuffix(q.URL.Path, "/permission"):
		fmt.Fprint(w, `{"permission":"write"}`)
	case q.Method == http.MethodPost && q.URL.Path == all:
		r.bodies = append(r.bodies, bodyOf(q))
		w.WriteHeader(http.StatusCreated)
	case q.Method == http.MethodPatch && known:
		r.bodies[id-1] = bodyOf(q)
	default:
		http.Error(w, `{"message":"Not Found"}`, http.StatusNotFound)
	}
}

func (r *request) list(w io.Writer) {
	out := []map[string]any{}
	for i, body := range r.bodies {
		out = append(out, map[string]any{"id": i + 1, "body": body, "user": map[string]any{"login": "github-actions[bot]"}})
	}
	_ = json.NewEncoder(w).Encode(out) // a buffer in the same process
}

func (r *request) reviews(w io.Writer, commit string) {
	out := []map[string]any{}
	for i, name := range r.approvers {
		out = append(out, map[string]any{
			"user": map[string]any{"id": 10 + i, "login": name}, "state": "APPROVED", "commit_id": commit,
		})
	}
	_ = json.NewEncoder(w).Encode(out) // a buffer in the same process
}

// bodyOf is the comment that was sent; a request without one is no comment of
// ours, and matches no file.
func bodyOf(q *http.Request) string {
	var sent struct{ Body string }
	if err := json.NewDecoder(q.Body).Decode(&sent); err != nil {
		return err.Error()
	}
	return sent.Body
}
