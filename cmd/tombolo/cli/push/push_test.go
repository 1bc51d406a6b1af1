package push

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation"
	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

const commit = "0123456789abcdef0123456789abcdef01234567"

type driver struct {
	mu     sync.Mutex
	result automation.PushResult
	err    error
	got    automation.PushOptions
	names  []string
	key    string
	// api answers in the place of the Git host's.
	api *httptest.Server
	url string // of the repository, if another
	// engine, if another than Flux, and the cluster's hub.
	engine config.Engine
	hub    string
}

func (d *driver) Push(_ context.Context, c *config.Cluster, o automation.PushOptions) (automation.PushResult, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.got, d.names = o, append(d.names, c.Name)
	r := d.result
	r.Cluster, r.Repository, r.Into, r.Commit = c.Name, c.GitOps.URL, "main", commit
	return r, d.err
}

func (d *driver) DeployKey(context.Context, *config.Cluster) (string, error) { return d.key, d.err }

func run(t *testing.T, d *driver, format render.Format, args ...string) (out, errOut string, err error) {
	t.Helper()
	f := clitest.New(t, format)
	cmd := NewCmdPush(f.Factory, func(ctx context.Context, o *Options) error {
		o.Clusters = clitest.Named(func(name string) *config.Cluster {
			return &config.Cluster{Name: name, File: name + ".yaml", GitOps: config.GitOps{Engine: cmp.Or(d.engine, config.Flux), Hub: d.hub, URL: cmp.Or(d.url, "https://git.example.com/platform.git")}}
		})
		o.Driver = func(context.Context, automation.Observer) (Driver, error) { return d, nil }
		o.Lookup = func(name string) (string, bool) { return "t0ken", name == "GITHUB_TOKEN" }
		if d.api != nil {
			o.HTTP, o.URL = d.api.Client(), d.api.URL
		}
		return pushRun(ctx, o)
	})
	return f.Run(t, cmd, args...)
}

// TestDeployKey: the host takes the key for reading alone, and the push goes with the user's own
// credentials.
func TestDeployKey(t *testing.T) {
	var sent []string
	api := clitest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		assert.Check(t, err)
		sent = append(sent, r.Method+" "+r.URL.String()+" "+string(text))
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, "[]")
			return
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, "{}")
	}))
	d := &driver{api: api, key: "ssh-ed25519 AAAA", url: "ssh://git@github.com/acme/platform.git", result: automation.PushResult{Branch: "main", Changed: true}}
	_, said, err := run(t, d, render.Text, "demo", "--deploy-key")
	assert.NilError(t, err)
	assert.DeepEqual(t, sent, []string{
		"GET /repos/acme/platform/keys?per_page=100 ",
		`POST /repos/acme/platform/keys {"title":"tombolo demo","key":"ssh-ed25519 AAAA","read_only":true}`,
	})
	assert.Check(t, d.got.OwnCredentials, "a key that may only read pushes")
	assert.Check(t, is.Contains(said, "✔ demo: its key may read ssh://git@github.com/acme/platform.git\n"))
	assert.Check(t, is.Contains(said, "pushed 0123456789ab"))

	d.url, sent, d.names = "git@ssh.dev.azure.com:v3/org/project/repo", nil, nil
	_, _, err = run(t, d, render.Text, "demo", "--deploy-key")
	assert.Check(t, is.ErrorContains(err, "Azure DevOps has no deploy keys"))
	assert.Check(t, len(sent) == 0 && len(d.names) == 0, "%v %v", sent, d.names)
}

func TestPush(t *testing.T) {
	for name, test := range map[string]struct {
		result automation.PushResult
		want   string
	}{
		"pushed":     {automation.PushResult{Branch: "main", Changed: true}, "✔ demo: pushed 0123456789ab to branch main; Flux takes itself over when it has fetched it\n"},
		"up to date": {automation.PushResult{Branch: "main"}, "✔ demo: already up to date at 0123456789ab, branch main\n"},
		"protected": {
			automation.PushResult{Branch: "tombolo/demo-flux", Changed: true, Proposed: true, Refusal: "GH006: protected"},
			"  branch main does not accept the push: GH006: protected\n" +
				"✔ demo: pushed 0123456789ab on branch tombolo/demo-flux\n" +
				"  Open a pull request from tombolo/demo-flux into main: https://git.example.com/platform.git\n",
		},
		"proposed before": {
			automation.PushResult{Branch: "flux", Proposed: true},
			"✔ demo: already up to date: 0123456789ab on branch flux\n" +
				"  Open a pull request from flux into main: https://git.example.com/platform.git\n",
		},
	} {
		out, errOut, err := run(t, &driver{result: test.result}, render.Text, "demo")
		if want := "► demo: pushing Flux's manifests to https://git.example.com/platform.git\n" + test.want; err != nil || out != "" || errOut != want {
			t.Errorf("%s: %v, %q and\n%s\nwant\n%s", name, err, out, errOut, want)
		}
	}
}

func TestPushOfArgoCD(t *testing.T) {
	d := &driver{engine: config.ArgoCD, result: automation.PushResult{Branch: "main", Changed: true}}
	_, said, err := run(t, d, render.Text, "demo")
	assert.NilError(t, err)
	assert.Equal(t, said, "► demo: pushing Argo CD's manifests to https://git.example.com/platform.git\n"+
		"✔ demo: pushed 0123456789ab to branch main; Argo CD takes itself over when it has fetched it\n")
	d.hub, d.result = "mgmt", automation.PushResult{Nothing: "the Argo CD that manages it is that of its hub mgmt"}
	_, said, err = run(t, d, render.Text, "demo", "--deploy-key")
	assert.NilError(t, err)
	assert.Equal(t, said, "  demo: there is nothing to push: the Argo CD that manages it is that of its hub mgmt\n")
}

func TestPushFlags(t *testing.T) {
	d := &driver{}
	if _, _, err := run(t, d, render.Text, "demo", "prod", "--parallel", "1", "--branch", "flux", "--own-credentials"); err != nil {
		t.Fatal(err)
	}
	if want := (automation.PushOptions{Branch: "flux", OwnCredentials: true}); d.got != want || strings.Join(d.names, " ") != "demo prod" {
		t.Errorf("pushed %v with %+v", d.names, d.got)
	}
}

func TestPushJSON(t *testing.T) {
	out, _, err := run(t, &driver{result: automation.PushResult{Branch: "flux", Proposed: true}}, render.JSON, "demo")
	assert.NilError(t, err)
	var d map[string]any
	assert.NilError(t, json.Unmarshal([]byte(out), &d))
	if d["type"] != "push" || d["cluster"] != "demo" || d["commit"] != commit || d["proposed"] != true || d["into"] != "main" {
		t.Errorf("document %s", out)
	}
}

func TestPushStopsAtTheFirstFailure(t *testing.T) {
	d := &driver{err: errors.New("push demo: no")}
	_, _, err := run(t, d, render.Text, "demo", "prod", "--parallel", "1", "--fail-fast")
	if want := "push: 0 of 2 clusters succeeded, 1 failed, 1 not started; first cause: push demo: no"; err == nil || err.Error() != want || len(d.names) != 1 {
		t.Errorf("error %v after %v", err, d.names)
	}
}
