package issue

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/render"
)

// forge is enough of either host's API: it keeps issues, and what was asked.
type forge struct {
	gitHub bool
	bodies map[int]string
	closed map[int]bool
	asked  []string
}

func (f *forge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	base, text, number, by, name := "/projects/7", "description", "iid", "author", "username"
	if f.gitHub {
		base, text, number, by, name = "/repos/acme/clusters", "body", "number", "user", "login"
	}
	if r.Header.Get("Authorization")+r.Header.Get("Private-Token") == "" {
		http.Error(w, "who are you", http.StatusUnauthorized)
		return
	}
	if r.URL.Path == "/user" {
		_ = json.NewEncoder(w).Encode(map[string]string{name: "robot"})
		return
	}
	var in map[string]string
	if r.Method != http.MethodGet {
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		f.asked = append(f.asked, r.Method)
	}
	var id int
	switch path := strings.TrimPrefix(r.URL.Path, base); {
	case path == "/issues" && r.Method == http.MethodGet:
		issues := []map[string]any{}
		if r.URL.Query().Get("page") == "1" {
			robot, mallory := map[string]string{name: "robot"}, map[string]string{name: "mallory"}
			issues = append(issues, map[string]any{number: 1, text: "another issue", by: robot},
				map[string]any{number: 4, text: "<!-- tombolo issue drift -->\nhers", by: mallory})
			if f.gitHub {
				issues = append(issues, map[string]any{number: 2, text: f.bodies[3], by: robot, "pull_request": map[string]any{}})
			}
		} else if body, ok := f.bodies[3]; ok && !f.closed[3] && r.URL.Query().Get("page") == "2" {
			issues = append(issues, map[string]any{
				number: 3, text: body, by: map[string]string{name: "robot"}, "html_url": "https://host/3", "web_url": "https://host/3",
			})
		}
		_ = json.NewEncoder(w).Encode(issues)
	case path == "/issues" && r.Method == http.MethodPost && in["title"] == "Drift":
		f.bodies[3] = in[text]
		_ = json.NewEncoder(w).Encode(map[string]any{number: 3, "html_url": "https://host/3", "web_url": "https://host/3"})
	default:
		if _, err := fmt.Sscanf(path, "/issues/%d", &id); err != nil || id != 3 {
			http.Error(w, "no such thing as "+path, http.StatusNotFound)
			return
		}
		if in["state"] == "closed" || in["state_event"] == "close" {
			f.closed[3] = true
		} else {
			f.bodies[3] = in[text]
		}
		_, _ = w.Write([]byte("{}"))
	}
}

func TestIssue(t *testing.T) {
	for _, host := range []string{"GitHub", "GitLab"} {
		t.Run(host, func(t *testing.T) {
			f := &forge{gitHub: host == "GitHub", bodies: map[int]string{}, closed: map[int]bool{}}
			server := clitest.Serve(t, f)
			env := map[string]string{"CI_API_V4_URL": server.URL, "CI_PROJECT_ID": "7", "GITLAB_TOKEN": "t"}
			if f.gitHub {
				env = map[string]string{"GITHUB_API_URL": server.URL, "GITHUB_REPOSITORY": "acme/clusters", "GITHUB_TOKEN": "t"}
			}
			for _, step := range []struct{ text, says, asks string }{
				{"", "✔ there is no issue drift, and nothing to say\n", ""},
				{"demo drifts\n", "✔ opened https://host/3\n", "POST"},
				{"demo drifts\n", "✔ https://host/3 says so already\n", ""},
				{"demo drifts more\n", "✔ updated https://host/3\n", "P"},
				{"", "✔ closed https://host/3\n", "P"},
			} {
				f.asked = nil
				says, err := run(t, env, step.text, "drift")
				if err != nil || says != step.says {
					t.Errorf("with %q it says %q, error %v; want %q", step.text, says, err, step.says)
				}
				if asked := strings.Join(f.asked, " "); !strings.HasPrefix(asked, step.asks) || asked != "" && step.asks == "" {
					t.Errorf("with %q it asked %q, want %q", step.text, asked, step.asks)
				}
			}
			if want := "<!-- tombolo issue drift -->\ndemo drifts more\n"; f.bodies[3] != want || !f.closed[3] {
				t.Errorf("the issue is %q, closed %t, want %q", f.bodies[3], f.closed[3], want)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	server := clitest.Serve(t, http.NotFoundHandler())
	known := map[string]string{"GITHUB_API_URL": server.URL, "GITHUB_REPOSITORY": "acme/clusters", "GITHUB_TOKEN": "t"}
	for want, tt := range map[string]struct {
		env map[string]string
		key string
	}{
		`--key is "-->"`:              {known, "-->"},
		"no host for issues is known": {nil, "drift"},
		"looking for the issue drift: GET /user: the host answers 404 Not Found": {known, "drift"},
	} {
		if _, err := run(t, tt.env, "text", tt.key); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func run(t *testing.T, env map[string]string, text, key string, args ...string) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "text.md")
	assert.NilError(t, os.WriteFile(file, []byte(text), 0o600))
	f := clitest.New(t, render.Text)
	f.Lookup = clitest.Env(env)
	err := clitest.Execute(t, NewCmdIssue(f.Factory), append([]string{"--file", file, "--key", key, "--title", "Drift"}, args...)...)
	return f.ErrOut.String(), err
}
