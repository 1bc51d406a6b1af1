package host

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"regexp"

	"tombolo/cmd/tombolo/cli/fault"
)

// Kind is a kind of host.
type Kind string

// The kinds of host.
const (
	// Auto takes the kind from the environment of the CI job.
	Auto     Kind = "auto"
	OnGitHub Kind = "github"
	OnGitLab Kind = "gitlab"
	// OnAzure is Azure Repos, of Azure DevOps.
	OnAzure Kind = "azure"
)

// Asked is which pull or merge request a command is about. What is not said is
// taken from the environment of a job of GitHub Actions, GitLab CI or Azure
// Pipelines, as the token always is.
type Asked struct {
	// Lookup reads a variable of the environment.
	Lookup func(string) (string, bool)
	// Kind of the host. Default: Auto.
	Kind Kind
	// URL of the host's API, at Azure DevOps of the organization. Default:
	// GITHUB_API_URL, CI_API_V4_URL or SYSTEM_COLLECTIONURI.
	URL string
	// Repository is its name, with that of the owner at GitHub and of the project at
	// Azure DevOps. Default: GITHUB_REPOSITORY, CI_MERGE_REQUEST_PROJECT_ID, or
	// SYSTEM_TEAMPROJECTID with BUILD_REPOSITORY_ID.
	Repository string
	// Number of the request. Default: that of GITHUB_EVENT_PATH, GITHUB_REF,
	// CI_MERGE_REQUEST_IID or SYSTEM_PULLREQUEST_PULLREQUESTID.
	Number int
}

// Request is a pull or merge request at a host that can be asked.
type Request struct {
	Client
	// Kind is OnGitHub, OnGitLab or OnAzure.
	Kind Kind
	// Repository as the API's paths have it: owner/name at GitHub, the project's
	// id or escaped path at GitLab, project/_apis/git/repositories/name at Azure
	// DevOps.
	Repository string
	Number     int
	// Fork says that a pull request comes from another repository, where the job's
	// environment tells.
	Fork bool
}

// repositoryPattern is that of GitHub's names.
var repositoryPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*/\.?[A-Za-z0-9_-][A-Za-z0-9_.-]*$`)

// Request finds the request. may says what the token must be allowed, for the
// remedy when there is none.
func (a Asked) Request(may string) (Request, error) {
	kind, err := a.kind()
	if err != nil {
		return Request{}, err
	}
	if kind == OnAzure {
		return a.azureRequest(may)
	}
	names := map[Kind][3]string{
		OnGitHub: {"GITHUB_TOKEN", "GITHUB_API_URL", "GITHUB_REPOSITORY"},
		OnGitLab: {"GITLAB_TOKEN", "CI_API_V4_URL", "CI_MERGE_REQUEST_PROJECT_ID"},
	}[kind]
	token, api, repository := a.env(names[0]), cmp.Or(a.URL, a.env(names[1])), cmp.Or(a.Repository, a.env(names[2]))
	r := Request{Kind: kind, Repository: repository, Number: a.Number}
	if err := a.complete(&r); err != nil {
		return Request{}, err
	}
	switch {
	case token == "":
		return Request{}, fault.NewPrecondition(names[0]+" is not set", "set it to a token that may "+may, nil)
	case repository == "":
		return Request{}, fault.NewUsage("the repository is not known", "give --repository, or set "+names[2])
	case kind == OnGitLab:
		r.Client, r.Repository = GitLab(api, token), url.PathEscape(repository)
	case !repositoryPattern.MatchString(repository):
		return Request{}, fault.NewUsage(fmt.Sprintf("the repository is %q", repository), "write it like acme/platform")
	default:
		r.Client = GitHub(api, token)
	}
	return r, nil
}

func (a Asked) env(name string) string {
	value, _ := a.Lookup(name)
	return value
}

func (a Asked) kind() (Kind, error) {
	switch {
	case a.Kind != Auto && a.Kind != "":
		return a.Kind, nil
	case a.env("GITHUB_ACTIONS") != "":
		return OnGitHub, nil
	case a.env("GITLAB_CI") != "":
		return OnGitLab, nil
	case a.env("TF_BUILD") != "" && a.env("BUILD_REPOSITORY_PROVIDER") == azureProvider:
		return OnAzure, nil
	}
	return "", fault.NewUsage("this is no job of GitHub Actions, of GitLab CI, or of Azure Pipelines for Azure Repos", "give --host, --repository and --number")
}

// complete fills in the number, and whether it is a fork's.
func (a Asked) complete(r *Request) error {
	if r.Kind == OnGitLab {
		if r.Number > 0 {
			return nil
		}
		if _, err := fmt.Sscanf(a.env("CI_MERGE_REQUEST_IID"), "%d", &r.Number); err != nil || r.Number <= 0 {
			return fault.NewUsage("the merge request is not known", "give --number, or run in a pipeline of a merge request")
		}
		return nil
	}
	event, err := a.event()
	switch {
	case r.Number > 0:
		// The event may be another request's: it tells of a fork only if it is this one's.
		r.Fork = err == nil && event.PullRequest.Number == r.Number && event.fork()
		return nil
	case err != nil:
		return err
	case event.PullRequest.Number > 0:
		r.Number, r.Fork = event.PullRequest.Number, event.fork()
		return nil
	}
	if _, err := fmt.Sscanf(a.env("GITHUB_REF"), "refs/pull/%d/", &r.Number); err != nil || r.Number <= 0 {
		return fault.NewUsage("the pull request is not known", "give --number, or run in a job for a pull request")
	}
	return nil
}

// event is why a job of GitHub Actions runs.
type event struct {
	PullRequest struct {
		Number int `json:"number"`
		Head   end `json:"head"`
		Base   end `json:"base"`
	} `json:"pull_request"`
}

// end is where a pull request comes from, or goes to.
type end struct {
	Repo struct {
		FullName string `json:"full_name"`
	} `json:"repo"`
}

// fork says whether the pull request comes from another repository.
func (e event) fork() bool { return e.PullRequest.Head != e.PullRequest.Base }

// event of the job; an empty one where there is none.
func (a Asked) event() (event, error) {
	var e event
	file := a.env("GITHUB_EVENT_PATH")
	if file == "" {
		return e, nil
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if err != nil {
		return event{}, fmt.Errorf("read the event of the job: %w; give --number", err)
	}
	return e, nil
}
