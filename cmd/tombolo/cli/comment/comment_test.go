package comment

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/cli/host"
	"tombolo/cmd/tombolo/render"
)

const (
	mark  = "<!-- tombolo:preview:preview -->\n"
	other = "<!-- tombolo:preview:other -->\n"
)

// server has the comments of one request, as GitHub, GitLab or Azure Repos do.
type server struct {
	comments []posted
	// user is who the token is; "" where it may not ask.
	user  string
	calls []string
	// pages of so many comments.
	page int
	url  string
	// flaky requests work so many times, and the answer says that they did not.
	flaky int
	// readOnly is a token that may not write.
	readOnly bool
	// refusal is what the host says then.
	refusal string
	// elsewhere is a host to which the next page is said to be.
	elsewhere string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/org/") && r.URL.Query().Get("api-version") == "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if r.Header.Get("Authorization") != "Bearer t0ken" && r.Header.Get("PRIVATE-TOKEN") != "t0ken" {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"message":"Bad credentials"}`)
		return
	}
	if r.URL.Path == "/user" {
		if s.user == "" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprintf(w, `{"login":%q,"username":%q}`, s.user, s.user)
		return
	}
	if r.URL.Path == "/org/_apis/connectionData" {
		fmt.Fprintf(w, `{"authenticatedUser":{"id":%q}}`, s.user)
		return
	}
	sent := bodyOf(r)
	i := slices.IndexFunc(s.comments, func(c posted) bool { return strings.HasSuffix(r.URL.Path, "/"+c.id) })
	if r.Method != http.MethodGet {
		s.calls = append(s.calls, r.Method+" "+r.URL.EscapedPath())
	}
	if r.Method == http.MethodGet {
		s.list(w, r)
		return
	}
	if s.readOnly {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, `{"message":%q}`, cmp.Or(s.refusal, "Resource not accessible by integration"))
		return
	}
	switch r.Method {
	case http.MethodPost:
		id := fmt.Sprint(100 + len(s.comments))
		if strings.HasSuffix(r.URL.Path, "/threads") {
			id += "/comments/1"
		}
		s.comments = append(s.comments, posted{id, s.user, sent})
		if s.flaky > 0 {
			s.flaky--
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		w.WriteHeader(http.StatusCreated)
	case http.MethodPatch, http.MethodPut:
		s.comments[i].body = sent
	case http.MethodDelete:
		s.comments = slices.Delete(s.comments, i, i+1)
		w.WriteHeader(http.StatusNoContent)
	}
}

// bodyOf is the comment that a request has, wherever the host's API has it.
func bodyOf(r *http.Request) string {
	var sent struct {
		Body, Content string
		Comments      []struct{ Content, CommentType string }
		Status        string
	}
	_ = json.NewDecoder(r.Body).Decode(&sent)
	if len(sent.Comments) == 1 && sent.Comments[0].CommentType == "text" && sent.Status == "" {
		return sent.Comments[0].Content
	}
	return sent.Body + sent.Content
}

// threads are those of Azure Repos: each comment begins one, and there are others.
func (s *server) threads(w http.ResponseWriter) {
	all := []map[string]any{{"id": 90, "comments": []any{}}}
	for _, c := range s.comments {
		var thread, comment int
		fmt.Sscanf(c.id, "%d/comments/%d", &thread, &comment)
		first := map[string]any{"id": comment, "content": c.body, "author": map[string]any{"id": c.author, "uniqueName": c.author}}
		all = append(all,
			map[string]any{"id": thread + 1000, "comments": []any{first}, "isDeleted": true},
			map[string]any{"id": thread + 2000, "comments": []any{map[string]any{"id": 1, "isDeleted": true}, first}},
			map[string]any{"id": thread, "comments": []any{first, map[string]any{"id": 2, "content": mark + "an answer", "author": first["author"]}}})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"value": all})
}

func (s *server) list(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/threads") {
		s.threads(w)
		return
	}
	page := 1
	fmt.Sscan(r.URL.Query().Get("page"), &page)
	from := min((page-1)*s.page, len(s.comments))
	to := min(from+s.page, len(s.comments))
	if to < len(s.comments) {
		w.Header().Set("X-Next-Page", fmt.Sprint(page+1))
		w.Header().Set("Link", fmt.Sprintf(`<%s%s?page=%d>; rel="next", <x>; rel="last"`, cmp.Or(s.elsewhere, s.url), r.URL.Path, page+1))
	}
	all := []map[string]any{}
	for _, c := range s.comments[from:to] {
		var id int
		fmt.Sscan(c.id, &id)
		who := map[string]any{"login": c.author, "username": c.author}
		all = append(all, map[string]any{"id": id, "body": strings.ReplaceAll(c.body, "\n", "\r\n"), "user": who, "author": who})
	}
	_ = json.NewEncoder(w).Encode(all)
}

// run runs the command against the server.
func (s *server) run(t *testing.T, env map[string]string, body string, args ...string) (string, error) {
	t.Helper()
	web := clitest.Serve(t, s)
	s.url, s.page, s.calls = web.URL, 2, nil
	dir := t.TempDir()
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "comment.md"), []byte(body), 0o600))
	f := clitest.At(dir, render.Text)
	f.Lookup = func(name string) (string, bool) {
		value, ok := env[name]
		return strings.ReplaceAll(value, "URL", web.URL), ok
	}
	cmd := NewCmdComment(f.Factory, func(ctx context.Context, o *Options) error {
		o.Backoff = host.Backoff{0, 0}
		return commentRun(ctx, o)
	})
	err := clitest.Execute(t, cmd, append([]string{"--file", "comment.md"}, args...)...)
	return f.ErrOut.String(), err
}

func github1() map[string]string {
	return map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_TOKEN": "t0ken", "GITHUB_API_URL": "URL", "GITHUB_REPOSITORY": "acme/platform", "GITHUB_REF": "refs/pull/7/merge",
	}
}

func gitlab1() map[string]string {
	return map[string]string{
		"GITLAB_CI": "true", "GITLAB_TOKEN": "t0ken", "CI_API_V4_URL": "URL", "CI_PROJECT_ID": "mallory/platform", "CI_MERGE_REQUEST_PROJECT_ID": "acme/platform", "CI_MERGE_REQUEST_IID": "7",
	}
}

func azure1() map[string]string {
	return map[string]string{
		"TF_BUILD": "True", "BUILD_REPOSITORY_PROVIDER": "TfsGit", "SYSTEM_ACCESSTOKEN": "t0ken", "SYSTEM_COLLECTIONURI": "URL/org/",
		"SYSTEM_TEAMPROJECT": "My platform", "SYSTEM_TEAMPROJECTID": "7e5", "BUILD_REPOSITORY_ID": "c1u", "SYSTEM_PULLREQUEST_PULLREQUESTID": "7",
	}
}

func TestComment(t *testing.T) {
	for _, test := range []struct {
		name  string
		env   map[string]string
		user  string
		paths [3]string // of making, rewriting and removing
	}{
		{"GitHub", github1(), "ci-bot", [3]string{
			"POST /repos/acme/platform/issues/7/comments", "PATCH /repos/acme/platform/issues/comments/3", "DELETE /repos/acme/platform/issues/comments/4",
		}},
		{"GitLab", gitlab1(), "ci-bot", [3]string{
			"POST /projects/acme%2Fplatform/merge_requests/7/notes", "PUT /projects/acme%2Fplatform/merge_requests/7/notes/3", "DELETE /projects/acme%2Fplatform/merge_requests/7/notes/4",
		}},
		{"Azure Repos", azure1(), "5e1f", [3]string{
			"POST /org/7e5/_apis/git/repositories/c1u/pullRequests/7/threads",
			"PATCH /org/7e5/_apis/git/repositories/c1u/pullRequests/7/threads/3/comments/1",
			"DELETE /org/7e5/_apis/git/repositories/c1u/pullRequests/7/threads/4/comments/1",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			id := func(id string) string {
				if test.name == "Azure Repos" {
					id += "/comments/1"
				}
				return id
			}
			others := []posted{{id("1"), "mallory", mark + "forged"}, {id("2"), test.user, other + "of another key"}}
			s := &server{user: test.user, comments: slices.Clone(others)}
			want := func(what string, calls []string, comments ...posted) {
				t.Helper()
				if diff := gocmp.Diff(calls, s.calls); diff != "" {
					t.Errorf("%s: calls (-want +got):\n%s", what, diff)
				}
				if diff := gocmp.Diff(append(slices.Clone(others), comments...), s.comments, gocmp.AllowUnexported(posted{})); diff != "" {
					t.Errorf("%s: comments (-want +got):\n%s", what, diff)
				}
			}
			said, err := s.run(t, test.env, mark+"first\n")
			if err != nil || !strings.Contains(said, "the comment was made") {
				t.Fatalf("%v, said %q", err, said)
			}
			want("made", test.paths[:1], posted{id("102"), test.user, mark + "first\n"})

			said, err = s.run(t, test.env, mark+"first\n")
			if err != nil || !strings.Contains(said, "the comment was left as it is") {
				t.Fatalf("%v, said %q", err, said)
			}
			want("the same", nil, posted{id("102"), test.user, mark + "first\n"})

			s.comments = append(slices.Clone(others), posted{id("3"), test.user, mark + "first\n"}, posted{id("4"), test.user, mark + "twice\n"})
			said, err = s.run(t, test.env, mark+"second\n")
			if err != nil || !strings.Contains(said, "the comment was rewritten") {
				t.Fatalf("%v, said %q", err, said)
			}
			want("rewritten", []string{test.paths[2], test.paths[1]}, posted{id("3"), test.user, mark + "second\n"})
		})
	}
}

// The token of a job may not ask who it is.
func TestCommentOfAJob(t *testing.T) {
	s := &server{comments: []posted{{"3", "github-actions[bot]", mark + "first"}}}
	env := github1()
	delete(env, "GITHUB_REF")
	env["GITHUB_EVENT_PATH"] = filepath.Join(t.TempDir(), "event.json")
	assert.NilError(t, os.WriteFile(env["GITHUB_EVENT_PATH"], []byte(`{"pull_request":{"number":9}}`), 0o600))
	if said, err := s.run(t, env, mark+"second"); err != nil || s.comments[0].body != mark+"second" {
		t.Errorf("%v, said %q, has %v", err, said, s.comments)
	}
}

// The answer to a comment that was made is lost: it is found, and not made twice.
func TestCommentWhoseAnswerIsLost(t *testing.T) {
	for name, env := range map[string]map[string]string{"GitHub": github1(), "GitLab": gitlab1(), "Azure Repos": azure1()} {
		t.Run(name, func(t *testing.T) {
			s := &server{user: "ci-bot", flaky: 1}
			said, err := s.run(t, env, mark+"first")
			if err != nil || len(s.comments) != 1 || !strings.Contains(said, "the host answers 502 Bad Gateway; trying again") {
				t.Errorf("%v, said %q, has %v", err, said, s.comments)
			}
		})
	}
}

// The next page of comments is asked for at the host alone.
func TestCommentsElsewhere(t *testing.T) {
	s := &server{user: "ci-bot", elsewhere: "https://example.com", comments: []posted{{"1", "a", "b"}, {"2", "a", "b"}, {"3", "a", "b"}}}
	_, err := s.run(t, github1(), mark)
	want := "the host redirects to https://example.com/repos/acme/platform/issues/7/comments?page=2, which is not at "
	if err == nil || !strings.Contains(err.Error(), want) || len(s.comments) != 3 {
		t.Errorf("error %v, want %q; has %v", err, want, s.comments)
	}
}

// A job for the request of a fork may not comment, and is told why.
func TestCommentOfAFork(t *testing.T) {
	env := github1()
	env["GITHUB_EVENT_PATH"] = filepath.Join(t.TempDir(), "event.json")
	event := `{"pull_request":{"number":9,"head":{"repo":{"full_name":"mallory/platform"}},"base":{"repo":{"full_name":"acme/platform"}}}}`
	assert.NilError(t, os.WriteFile(env["GITHUB_EVENT_PATH"], []byte(event), 0o600))
	s := &server{readOnly: true}
	_, err := s.run(t, env, mark+"first")
	want := "post the comment: POST /repos/acme/platform/issues/9/comments: the host answers 403 Forbidden: " +
		"Resource not accessible by integration; GitHub gives jobs for the requests of forks a token that only reads: leave this step out for them"
	if err == nil || !strings.Contains(err.Error(), want) || len(s.comments) != 0 {
		t.Errorf("error %v, want %q; has %v", err, want, s.comments)
	}
}

// The build service may not comment, and the error says where it is allowed.
func TestCommentWithoutTheRight(t *testing.T) {
	s := &server{user: "5e1f", readOnly: true, refusal: "TF401027: You need the Git 'PullRequestContribute' permission to perform this action."}
	_, err := s.run(t, azure1(), mark+"first")
	want := `TF401027: You need the Git 'PullRequestContribute' permission to perform this action.; ` +
		`allow "Contribute to pull requests" to the pipeline's build service, by the project's settings: Repositories, Security`
	assert.ErrorContains(t, err, want)
}

// Outside of a job, everything is said but the token.
func TestCommentAtAzureByHand(t *testing.T) {
	s := &server{comments: []posted{{"3/comments/1", "ci@acme.example", mark + "first"}}}
	env := map[string]string{"SYSTEM_ACCESSTOKEN": "t0ken", "SYSTEM_COLLECTIONURI": "URL/org"}
	_, err := s.run(t, env, mark+"second", "--host", "azure", "--repository", "My platform/clusters", "--number", "7", "--author", "CI@acme.example")
	assert.NilError(t, err)
	assert.DeepEqual(t, s.calls, []string{"PATCH /org/My%20platform/_apis/git/repositories/clusters/pullRequests/7/threads/3/comments/1"})
}

func TestCommentRefuses(t *testing.T) {
	without := func(env map[string]string, name string) map[string]string { delete(env, name); return env }
	for _, test := range []struct {
		name string
		env  map[string]string
		body string
		args []string
		want string
	}{
		{"no job", map[string]string{}, mark, nil, "this is no job of GitHub Actions, of GitLab CI, or of Azure Pipelines for Azure Repos; give --host, --repository and --number"},
		{"no token", without(github1(), "GITHUB_TOKEN"), mark, nil, "GITHUB_TOKEN is not set; set it to a token that may write comments"},
		{"no request", without(gitlab1(), "CI_MERGE_REQUEST_IID"), mark, nil, "the merge request is not known; give --number"},
		{"no pull request", without(github1(), "GITHUB_REF"), mark, nil, "the pull request is not known; give --number"},
		{"no repository", without(github1(), "GITHUB_REPOSITORY"), mark, nil, "the repository is not known; give --repository"},
		{"a wrong repository", github1(), mark, []string{"--repository", "../x"}, `the repository is "../x"; write it like acme/platform`},
		{"a repository at GitHub", map[string]string{"TF_BUILD": "True", "BUILD_REPOSITORY_PROVIDER": "GitHub"}, mark, nil, "this is no job of GitHub Actions, "},
		{"no token at Azure", without(azure1(), "SYSTEM_ACCESSTOKEN"), mark, nil, "SYSTEM_ACCESSTOKEN is not set; give the step the job's token, env: {SYSTEM_ACCESSTOKEN: $(System.AccessToken)}"},
		{"no pull request at Azure", without(azure1(), "SYSTEM_PULLREQUEST_PULLREQUESTID"), mark, nil, "the pull request is not known; give --number"},
		{"no organization", without(azure1(), "SYSTEM_COLLECTIONURI"), mark, nil, "the organization is not known; give --api-url"},
		{"no repository at Azure", without(azure1(), "BUILD_REPOSITORY_ID"), mark, nil, "the repository is not known; give --repository"},
		{"a repository without a project", azure1(), mark, []string{"--repository", "clusters"}, `the repository is "clusters"; write it with its project, like platform/clusters`},
		{"another key", github1(), mark, []string{"--key", "other"}, "comment.md does not begin with the marker of key other"},
		{"a key that ends the marker", github1(), mark, []string{"--key", "a-->"}, `--key is "a-->"; use letters`},
		{"no file", github1(), mark, []string{"--file", "missing.md"}, "the comment cannot be read: "},
		{"a bad token", map[string]string{"GITHUB_TOKEN": "bad", "GITHUB_API_URL": "URL"}, mark, []string{"--host", "github", "--repository", "a/b", "--number", "1"}, "post the comment: GET /user: the host answers 401 Unauthorized: Bad credentials; allow the token"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := (&server{user: "u"}).run(t, test.env, test.body, test.args...)
			assert.Check(t, is.ErrorContains(err, test.want))
		})
	}
}
