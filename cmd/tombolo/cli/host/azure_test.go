package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"tombolo/cmd/tombolo/cli/clitest"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

const azureJob = "Bearer j0b"

// azureRepos has one pull request with its votes, as Azure Repos has it.
type azureRepos struct {
	people  map[string]string // the kind of each account, by its id
	rights  map[string][2]int // allowed and denied, by descriptor
	threads string
	votes   string
}

func (a azureRepos) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != azureJob || r.Header.Get("X-Tfs-Fedauthredirect") != "Suppress" || r.URL.Query().Get("api-version") != "7.1" {
		w.WriteHeader(http.StatusNonAuthoritativeInfo)
		fmt.Fprint(w, "<html>Sign in</html>")
		return
	}
	const pull = "/acme/7e5/_apis/git/repositories/c1u/pullRequests/7"
	switch r.URL.Path {
	case pull:
		fmt.Fprintf(w, `{"pullRequestId":7,"createdBy":{"id":"author"},"sourceRefName":"refs/heads/x","lastMergeSourceCommit":{"commitId":"new"},"repository":{"id":"c1u","project":{"id":"7e5"}},"reviewers":[%s]}`, a.votes)
	case pull + "/commits": // on two pages
		if r.URL.Query().Get("continuationToken") == "" {
			w.Header().Set("X-Ms-Continuationtoken", "two")
		}
		fmt.Fprint(w, `{"value":[{"author":{"email":"author@acme.example"},"committer":{"email":"author@acme.example"}}]}`)
	case "/acme/7e5/_apis/git/repositories/c1u/pushes":
		_, _ = io.WriteString(w, map[string]string{
			"0": `{"value":[{"pushedBy":{"id":"author"},"refUpdates":[{"name":"refs/heads/x","oldObjectId":"old","newObjectId":"new"}]}]}`,
			"1": `{"value":[{"pushedBy":{"id":"author"},"refUpdates":[{"name":"refs/heads/x","oldObjectId":"000","newObjectId":"old"}]}]}`,
		}[r.URL.Query().Get("$skip")])
	case pull + "/iterations":
		fmt.Fprint(w, `{"value":[{"id":1,"createdDate":"2026-01-02T08:00:00Z"},{"id":3,"createdDate":"2026-01-02T10:00:00.5Z"},{"id":2,"createdDate":"2026-01-02T09:00:00Z"}]}`)
	case pull + "/threads":
		fmt.Fprintf(w, `{"value":[%s]}`, a.threads)
	case "/acme/_apis/identities":
		id := r.URL.Query().Get("identityIds")
		if kind, ok := a.people[id]; ok {
			fmt.Fprintf(w, `{"value":[{"id":%q,"descriptor":%q,"isActive":%t}]}`, id, kind+";tenant\\"+id, id != "left")
			return
		}
		fmt.Fprint(w, `{"value":[null]}`)
	case "/acme/_apis/accesscontrollists/2e9eb7ed-3c0a-47d4-87c1-0ffdd275fd87":
		q := r.URL.Query()
		bits, ok := a.rights[q.Get("descriptors")]
		if !ok || q.Get("token") != "repoV2/7e5/c1u" || q.Get("includeExtendedInfo") != "true" {
			fmt.Fprint(w, `{"value":[]}`)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"value": []any{map[string]any{"acesDictionary": map[string]any{
			q.Get("descriptors"): map[string]any{"allow": 0, "extendedInfo": map[string]int{"effectiveAllow": bits[0], "effectiveDeny": bits[1]}},
		}}}})
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// TestApprovalsOfAzure: a vote counts when it is for the request, younger than the last
// push, and of a person who may push.
func TestApprovalsOfAzure(t *testing.T) {
	const person = "Microsoft.IdentityModel.Claims.ClaimsIdentity"
	who := func(id string) string { return person + ";tenant\\" + id }
	vote := func(id string, vote int) string {
		return fmt.Sprintf(`{"id":%q,"uniqueName":%q,"vote":%d}`, id, id+"@acme.example", vote)
	}
	voted := func(id, at string) string {
		return fmt.Sprintf(`{"publishedDate":%q,"properties":{"CodeReviewThreadType":{"$type":"System.String","$value":"VoteUpdate"},
			"CodeReviewVotedByIdentity":{"$value":"1"}},"comments":[{"author":{"id":%q}}]}`, at, id)
	}
	const late, early = "2026-01-02T10:30:00Z", "2026-01-02T09:30:00Z"
	repos := azureRepos{
		people: map[string]string{
			"bobo": person, "ada": "System.Security.Principal.WindowsIdentity", "stale": person, "forged": person, "waits": person,
			"reader": person, "denied": person, "left": person, "stranger": person, "author": person,
			"robot": "Microsoft.TeamFoundation.ServiceIdentity", "app": "Microsoft.VisualStudio.Services.Claims.AadServicePrincipal",
		},
		rights: map[string][2]int{
			who("bobo"): {4 | 16384, 0}, "System.Security.Principal.WindowsIdentity;tenant\\ada": {4, 0}, who("stale"): {4, 0}, who("forged"): {4, 0},
			who("waits"): {4, 0}, who("reader"): {2 | 16384, 0}, who("denied"): {4, 4}, who("left"): {4, 0}, who("author"): {4, 0},
			"Microsoft.TeamFoundation.ServiceIdentity;tenant\\robot":                 {4, 0},
			"Microsoft.VisualStudio.Services.Claims.AadServicePrincipal;tenant\\app": {4, 0},
		},
	}
	for _, id := range []string{"bobo", "ada", "waits", "reader", "denied", "left", "stranger", "author", "robot", "app", "gone", "team"} {
		repos.threads += voted(id, early) + "," + voted(id, late) + ","
	}
	// A thread of somebody else's about the vote of another person.
	repos.threads += voted("stale", early) + "," + voted("mallory", late) + `,
		{"publishedDate":"` + late + `","properties":{},"comments":[{"author":{"id":"stale"}}]},
		{"publishedDate":"` + late + `","properties":null,"comments":[]},
		{"publishedDate":"` + late + `","properties":{"CodeReviewThreadType":{"$value":"VoteUpdate"}},"comments":[{"author":{"id":"mallory"}},{"author":{"id":"forged"}}]}`
	for id, v := range map[string]int{
		"bobo": 10, "ada": 5, "stale": 10, "forged": 10, "waits": -5, "reader": 10, "denied": 10, "left": 10, "stranger": 10, "author": 10, "robot": 10, "app": 10, "gone": 10,
	} {
		repos.votes += vote(id, v) + ","
	}
	repos.votes += `{"id":"team","uniqueName":"team","vote":10,"isContainer":true}`
	server := clitest.Serve(t, repos)
	request := Request{Client: Azure(server.URL+"/acme/", azureJob), Kind: OnAzure, Repository: "7e5/_apis/git/repositories/c1u", Number: 7}
	got, err := request.Approvals(t.Context())
	assert.NilError(t, err)
	assert.Check(t, is.Equal(cmp.Diff([]string{"ada@acme.example", "bobo@acme.example"}, got), ""))

	request.Number = 8
	_, err = request.Approvals(t.Context())
	assert.Check(t, Missing(err), "a request that is not there: %v", err)
	request.Client = Azure(server.URL+"/acme", "Bearer old")
	_, err = request.Approvals(t.Context())
	assert.ErrorContains(t, err, "the host answers 203 Non-Authoritative Information")
	assert.Check(t, is.Contains(AzureRemedy(err), "env: {SYSTEM_ACCESSTOKEN: $(System.AccessToken)}"))
}

// TestReviewedByTheCommitOfAzure: a job for a push is about the completed request of its
// commit.
func TestReviewedByTheCommitOfAzure(t *testing.T) {
	answer := ""
	server := clitest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Queries []struct {
				Items []string
				Type  string
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.URL.Path != "/acme/7e5/_apis/git/repositories/c1u/pullrequestquery" ||
			len(asked.Queries) != 2 || asked.Queries[0].Type != "lastMergeCommit" || asked.Queries[1].Type != "commit" || asked.Queries[1].Items[0] != "c0ffee" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		fmt.Fprintf(w, `{"results":[%s]}`, answer)
	}))
	env := map[string]string{
		"TF_BUILD": "True", "BUILD_REPOSITORY_PROVIDER": "TfsGit", "SYSTEM_ACCESSTOKEN": "j0b", "SYSTEM_COLLECTIONURI": server.URL + "/acme/",
		"SYSTEM_TEAMPROJECTID": "7e5", "BUILD_REPOSITORY_ID": "c1u", "BUILD_REASON": "IndividualCI", "BUILD_SOURCEVERSION": "c0ffee",
	}
	asked := Asked{Lookup: clitest.Env(env)}
	pull := func(number int, status, merged, head string) string {
		return fmt.Sprintf(`{"pullRequestId":%d,"status":%q,"lastMergeCommit":{"commitId":%q},"lastMergeSourceCommit":{"commitId":%q}}`, number, status, merged, head)
	}
	for _, test := range []struct {
		name, answer string
		want         int
	}{
		{"by none", `{},{}`, 0},
		{"merged", `{"c0ffee":[` + pull(7, "completed", "c0ffee", "a") + `]},{"c0ffee":[` + pull(7, "completed", "c0ffee", "a") + `]}`, 7},
		{"rebased as it was", `{},{"c0ffee":[` + pull(8, "completed", "b", "c0ffee") + `]}`, 8},
		{"not completed", `{"c0ffee":[` + pull(7, "active", "c0ffee", "a") + `]},{}`, 0},
		{"one that has it too", `{},{"c0ffee":[` + pull(7, "completed", "b", "a") + `]}`, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer = test.answer
			r, err := asked.Reviewed(t.Context(), "read")
			assert.NilError(t, err)
			assert.Equal(t, r.Number, test.want)
		})
	}
	answer = `{"c0ffee":[` + pull(7, "completed", "c0ffee", "a") + `,` + pull(8, "completed", "c0ffee", "b") + `]},{}`
	_, err := asked.Reviewed(t.Context(), "read")
	assert.ErrorContains(t, err, "commit c0ffee came by more than one request")

	env["BUILD_REASON"], env["SYSTEM_PULLREQUEST_PULLREQUESTID"], env["SYSTEM_PULLREQUEST_ISFORK"] = "PullRequest", "9", "True"
	r, err := asked.Reviewed(t.Context(), "read")
	assert.NilError(t, err)
	assert.Check(t, r.Number == 9 && r.Fork, "%+v", r)
}

func TestAzureAuthorization(t *testing.T) {
	for want, env := range map[string]map[string]string{
		"":               {},
		"Bearer j0b":     {"SYSTEM_ACCESSTOKEN": "j0b", "AZURE_DEVOPS_EXT_PAT": "pat"},
		"Basic OnBhdA==": {"AZURE_DEVOPS_EXT_PAT": "pat"},
	} {
		assert.Equal(t, AzureAuthorization(func(name string) string { return env[name] }), want)
	}
}

// TestAzureAccounts: the token goes to no host that is not Azure DevOps's.
func TestAzureAccounts(t *testing.T) {
	for organization, want := range map[string]string{
		"https://dev.azure.com/acme":              "https://vssps.dev.azure.com/acme",
		"https://acme.visualstudio.com":           "https://acme.vssps.visualstudio.com",
		"https://tfs.acme.example/tfs/Collection": "https://tfs.acme.example/tfs/Collection",
	} {
		assert.Equal(t, azureAccounts(organization), want)
	}
}

func TestAzureRemedy(t *testing.T) {
	lacks := &Error{Code: 403, Reason: `TF401027: You need the Git 'PullRequestContribute' permission to perform this action. Details: identity 'Build\7e5', scope 'repository'.`}
	const contribute = `allow "Contribute to pull requests" to the pipeline's build service, by the project's settings: Repositories, Security`
	for _, test := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("wrapped: %w", lacks), contribute},
		{&Error{Code: 403, Limited: true, Reason: lacks.Reason}, ""},
		{&Error{Code: 404, Reason: "TF401019: The Git repository does not exist"}, ""},
		{&Error{Code: 401}, "give the step the job's own token, env: {SYSTEM_ACCESSTOKEN: $(System.AccessToken)}, which is valid only while the job runs"},
		{errors.New("something else"), ""},
	} {
		assert.Equal(t, AzureRemedy(test.err), test.want)
	}
}
