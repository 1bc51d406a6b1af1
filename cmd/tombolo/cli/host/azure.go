package host

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"tombolo/cmd/tombolo/cli/fault"
)

// azureProvider is what BUILD_REPOSITORY_PROVIDER says of Azure Repos: a pipeline of
// Azure DevOps may as well be that of a repository at GitHub. Source:
// learn.microsoft.com/azure/devops/pipelines/build/variables.
const azureProvider = "TfsGit"

// azureVersion is the version of the API that is called. connectionData exists as a
// preview of it alone.
const azureVersion = "7.1"

// Azure is a client for the API of an organization of Azure DevOps, such as
// https://dev.azure.com/acme. authorization is that of AzureAuthorization.
func Azure(organization, authorization string) Client {
	return Client{
		Base: strings.TrimSuffix(organization, "/"),
		// Without the second header, whoever is not known gets a page to sign in.
		Header: http.Header{"Authorization": {authorization}, "X-Tfs-Fedauthredirect": {"Suppress"}},
		Query:  url.Values{"api-version": {azureVersion}},
	}
}

// AzureAuthorization is the header that shows the token: the job's own in
// SYSTEM_ACCESSTOKEN, or a personal access token in the variable that the command line
// tool of Azure DevOps reads, too. It is "" when there is none.
func AzureAuthorization(env func(string) string) string {
	if token := env("SYSTEM_ACCESSTOKEN"); token != "" {
		return "Bearer " + token
	}
	if token := env("AZURE_DEVOPS_EXT_PAT"); token != "" {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(":"+token))
	}
	return ""
}

// WithType is the client, sending documents of another type.
func (c Client) WithType(contentType string) Client {
	c.Header = c.Header.Clone()
	c.Header.Set("Content-Type", contentType)
	return c
}

// azureUser is the id of the account that the token is of. For a job's token, this is
// the build service of the project or of the organization.
func (c Client) azureUser(ctx context.Context) (string, error) {
	var connection struct {
		User azureIdentity `json:"authenticatedUser"`
	}
	_, err := c.Call(ctx, http.MethodGet, "/_apis/connectionData?api-version="+azureVersion+"-preview", nil, &connection)
	return connection.User.ID, err
}

// azureIdentity is somebody, as Azure DevOps writes them in other things.
type azureIdentity struct {
	ID string `json:"id"`
	// Name is the one that nobody else has, such as a mail address.
	Name string `json:"uniqueName"`
}

// azureRequest is the pull request at Azure Repos.
func (a Asked) azureRequest(may string) (Request, error) {
	number := a.Number
	if number == 0 {
		if _, err := fmt.Sscanf(a.env("SYSTEM_PULLREQUEST_PULLREQUESTID"), "%d", &number); err != nil || number <= 0 {
			return Request{}, fault.NewUsage("the pull request is not known", "give --number, or run in a pipeline that a branch policy starts for a pull request")
		}
	}
	r, err := a.azureRepository(AzureAuthorization(a.env), may)
	r.Number = number
	// The event is this request's only when it has its number.
	r.Fork = a.env("SYSTEM_PULLREQUEST_ISFORK") == "True" && a.env("SYSTEM_PULLREQUEST_PULLREQUESTID") == fmt.Sprint(number)
	return r, err
}

// azureRepository is a repository at Azure Repos, and a request of no number.
func (a Asked) azureRepository(authorization, may string) (Request, error) {
	organization, repository := cmp.Or(a.URL, a.env("SYSTEM_COLLECTIONURI")), a.Repository
	if project, id := a.env("SYSTEM_TEAMPROJECTID"), a.env("BUILD_REPOSITORY_ID"); repository == "" && project != "" && id != "" {
		repository = project + "/" + id
	}
	project, name, _ := strings.Cut(repository, "/")
	switch {
	case authorization == "":
		return Request{}, fault.NewPrecondition("SYSTEM_ACCESSTOKEN is not set",
			"give the step the job's token, env: {SYSTEM_ACCESSTOKEN: $(System.AccessToken)}, or set AZURE_DEVOPS_EXT_PAT to one that may "+may, nil)
	case organization == "":
		return Request{}, fault.NewUsage("the organization is not known", "give --api-url, such as https://dev.azure.com/acme, or set SYSTEM_COLLECTIONURI")
	case repository == "":
		return Request{}, fault.NewUsage("the repository is not known", "give --repository, or set SYSTEM_TEAMPROJECTID and BUILD_REPOSITORY_ID")
	case project == "" || name == "" || strings.Contains(name, "/"):
		return Request{}, fault.NewUsage(fmt.Sprintf("the repository is %q", repository), "write it with its project, like platform/clusters")
	}
	return Request{
		Client: Azure(organization, authorization), Kind: OnAzure,
		Repository: url.PathEscape(project) + "/_apis/git/repositories/" + url.PathEscape(name),
	}, nil
}

// azureRights are the rights in a repository by the names in the API's errors, as the
// settings call them. Source: learn.microsoft.com/azure/devops/organizations/security/namespace-reference.
func azureRights() map[string]string {
	return map[string]string{"PullRequestContribute": "Contribute to pull requests", "GenericRead": "Read", "GenericContribute": "Contribute"}
}

// azureLacks is how Azure Repos says which right a token does not have.
var azureLacks = regexp.MustCompile(`TF401027: You need the Git '(\w+)' permission`)

// AzureRemedy says what to do about a refusal of Azure DevOps; "" of another failure.
func AzureRemedy(err error) string {
	e := new(Error)
	switch {
	case !errors.As(err, &e) || e.Limited:
		return ""
	case e.Code == signIn || e.Code == http.StatusUnauthorized:
		return "give the step the job's own token, env: {SYSTEM_ACCESSTOKEN: $(System.AccessToken)}, which is valid only while the job runs"
	}
	found := azureLacks.FindStringSubmatch(e.Reason)
	if found == nil {
		return ""
	}
	return fmt.Sprintf("allow %q to the pipeline's build service, by the project's settings: Repositories, Security",
		cmp.Or(azureRights()[found[1]], found[1]))
}

// azurePull is a pull request.
type azurePull struct {
	ID         int           `json:"pullRequestId"`
	Status     string        `json:"status"`
	Title      string        `json:"title"`
	Text       string        `json:"description"`
	Draft      bool          `json:"isDraft"`
	CreatedBy  azureIdentity `json:"createdBy"`
	Repository struct {
		ID      string `json:"id"`
		Project struct {
			ID string `json:"id"`
		} `json:"project"`
	} `json:"repository"`
	Reviewers []azureReviewer `json:"reviewers"`
	// Source is the branch that the request comes from; Fork is there when another
	// repository has it.
	Source string    `json:"sourceRefName"`
	Fork   *struct{} `json:"forkSource"`
	// Merged is the commit that completing it has made, and Head the last one of its
	// branch, which is on the target now if the merge was a rebase without a change.
	Merged azureCommit `json:"lastMergeCommit"`
	Head   azureCommit `json:"lastMergeSourceCommit"`
}

type azureCommit struct {
	ID string `json:"commitId"`
}

// azureBroughtBy are the numbers of the completed pull requests that brought a commit: see broughtBy.
// Source: REST API 7.1, "Pull Request Query - Get".
func (r *Request) azureBroughtBy(ctx context.Context, commit string, later []string) ([]int, error) {
	type query struct {
		Items []string `json:"items"`
		Type  string   `json:"type"`
	}
	send := map[string][]query{"queries": {{[]string{commit}, "lastMergeCommit"}, {[]string{commit}, "commit"}}}
	var answer struct {
		Results []map[string][]azurePull `json:"results"`
	}
	if _, err := r.Call(ctx, http.MethodPost, "/"+r.Repository+"/pullrequestquery", send, &answer); err != nil {
		return nil, err
	}
	var numbers []int // a request may be in both answers
	for _, result := range answer.Results {
		for _, pull := range result[commit] {
			if pull.Status == "completed" && isOf(commit, later, pull.Merged.ID, pull.Head.ID) {
				numbers = append(numbers, pull.ID)
			}
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers), nil
}
