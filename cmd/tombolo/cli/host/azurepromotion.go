package host

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// AzureText is the most characters that a pull request's description has at Azure Repos.
// Source: REST API 7.1, "Pull Requests - Update".
const AzureText = 4000

// Pull is a pull request at Azure Repos between two branches of a repository.
type Pull struct {
	Request
	// Title and Text, its description in Markdown.
	Title, Text string
	// Head is the last commit of the source branch, for which votes and policies are.
	Head  string
	Draft bool

	of azurePull
}

// Page is where people find the request.
func (p *Pull) Page() string {
	return strings.Replace(fmt.Sprintf("%s/%s/pullrequest/%d", p.Base, p.Repository, p.Number), "/_apis/git/repositories/", "/_git/", 1)
}

// AzureRepository is the repository at Azure Repos: its pull requests have no number yet. may is as
// in Request. token is shown in place of the environment's, unless it is "".
func (a Asked) AzureRepository(token, may string) (Request, error) {
	authorization := AzureAuthorization(a.env)
	if token != "" {
		authorization = "Bearer " + token
	}
	return a.azureRepository(authorization, may)
}

// FindPull is the open request from one branch into another, which Azure Repos has once at most;
// nil if there is none. A list shortens descriptions, so that it is asked for by its number.
// Source: REST API 7.1, "Pull Requests - Get Pull Requests".
func (r Request) FindPull(ctx context.Context, source, target string) (*Pull, error) {
	query := url.Values{
		"searchCriteria.status":        {"active"},
		"searchCriteria.sourceRefName": {"refs/heads/" + source}, "searchCriteria.targetRefName": {"refs/heads/" + target},
	}
	var found struct {
		Value []azurePull `json:"value"`
	}
	if _, err := r.Call(ctx, http.MethodGet, "/"+r.Repository+"/pullrequests?"+query.Encode(), nil, &found); err != nil {
		return nil, err
	}
	for _, one := range found.Value {
		if one.Fork != nil || one.Source != "refs/heads/"+source {
			continue
		}
		r.Number = one.ID
		var pull azurePull
		_, err := r.Call(ctx, http.MethodGet, r.azurePath(), nil, &pull)
		return r.pull(pull), err
	}
	return nil, nil // there is none
}

func (r Request) pull(of azurePull) *Pull {
	r.Number = of.ID
	return &Pull{Request: r, Title: of.Title, Text: of.Text, Head: of.Head.ID, Draft: of.Draft, of: of}
}

// OpenPull opens a request. Source: REST API 7.1, "Pull Requests - Create".
func (r Request) OpenPull(ctx context.Context, source, target, title, text string) (*Pull, error) {
	send := map[string]string{"sourceRefName": "refs/heads/" + source, "targetRefName": "refs/heads/" + target, "title": title, "description": text}
	var made azurePull
	if _, err := r.Call(ctx, http.MethodPost, "/"+r.Repository+"/pullrequests", send, &made); err != nil {
		return nil, err
	}
	return r.pull(made), nil
}

// Update changes what the request says. Source: REST API 7.1, "Pull Requests - Update".
func (p *Pull) Update(ctx context.Context, title, text string) error {
	_, err := p.Call(ctx, http.MethodPatch, p.azurePath(), map[string]string{"title": title, "description": text}, nil)
	return err
}

// Abandon closes a request whose commits are all in its target. Completing it would make a commit there.
func (p *Pull) Abandon(ctx context.Context) error {
	_, err := p.Call(ctx, http.MethodPatch, p.azurePath(), map[string]string{"status": "abandoned"}, nil)
	return err
}

// Voters are the people who may push and whose vote is for the request as it is now, but for its
// author; and those who vote against it, of whatever kind. Unlike Approvals, it counts who has
// committed something of it: a promotion brings what was reviewed when it came to its first branch.
func (p *Pull) Voters(ctx context.Context) (approve, against []string, err error) {
	for _, by := range p.of.Reviewers {
		if by.Vote < 0 { // -5 waits for the author, -10 rejects
			against = append(against, by.Name)
		}
	}
	votes, err := p.azureVotes(ctx, p.azurePath(), p.of)
	if err != nil {
		return nil, nil, err
	}
	approve, err = p.azureWriters(ctx, p.of, votes)
	return approve, against, err
}

// policies are how many policies of a request one call gives.
const policies = 100

// UnmetPolicies are the names of the policies that keep the request from being completed, each
// with its status. Whoever may bypass policies when pushing is not asked by Azure Repos, and has
// to ask. Source: REST API 7.1, "Evaluations - List", which exists as a preview alone.
func (p *Pull) UnmetPolicies(ctx context.Context) (unmet []string, err error) {
	project, _, _ := strings.Cut(p.Repository, "/")
	for skip := 0; ; skip += policies {
		query := url.Values{
			"artifactId": {fmt.Sprintf("vstfs:///CodeReview/CodeReviewId/%s/%d", p.of.Repository.Project.ID, p.Number)},
			"$top":       {fmt.Sprint(policies)}, "$skip": {fmt.Sprint(skip)}, "api-version": {azureVersion + "-preview.1"},
		}
		var page struct {
			Value []struct {
				Status string `json:"status"`
				Policy struct {
					Blocking bool `json:"isBlocking"`
					Enabled  bool `json:"isEnabled"`
					Deleted  bool `json:"isDeleted"`
					Type     struct {
						Name string `json:"displayName"`
					} `json:"type"`
				} `json:"configuration"`
			} `json:"value"`
		}
		if _, err := p.Call(ctx, http.MethodGet, "/"+project+"/_apis/policy/evaluations?"+query.Encode(), nil, &page); err != nil {
			return nil, err
		}
		for _, one := range page.Value {
			if of := one.Policy; of.Blocking && of.Enabled && !of.Deleted && one.Status != "approved" && one.Status != "notApplicable" {
				unmet = append(unmet, fmt.Sprintf("%s (%s)", of.Type.Name, one.Status))
			}
		}
		if len(page.Value) < policies {
			return unmet, nil
		}
	}
}

// NotMovedError is a branch that Azure Repos has left where it was.
type NotMovedError struct {
	// Status is how Azure Repos says why, such as staleOldObjectId.
	Status string
	// Reason is what it adds; "" when it says nothing.
	Reason string
}

func (e *NotMovedError) Error() string {
	text := "Azure Repos answers " + e.Status
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	return text
}

// Remedy says what to do about it.
func (e *NotMovedError) Remedy() string {
	switch e.Status {
	case "staleOldObjectId":
		return "somebody has pushed to the branch meanwhile: fetch it, and promote again"
	case "rejectedByPolicy":
		return `allow "Bypass policies when pushing" on the branch to the identity that promotes`
	case "writePermissionRequired":
		return `allow "Contribute" on the branch to the identity that promotes`
	case "forcePushRequired":
		return "the branch has commits that the other one does not have: see `tombolo check --promotion`"
	}
	return "see what the branch's security and policies are"
}

// MoveBranch has a branch that is at one commit be at another one. Azure Repos compares the first,
// so that nothing is lost that was pushed meanwhile. A refusal is a *NotMovedError: its answer is a
// success with a status in it. Source: REST API 7.1, "Refs - Update Refs".
func (r Request) MoveBranch(ctx context.Context, branch, from, to string) error {
	send := []map[string]string{{"name": "refs/heads/" + branch, "oldObjectId": from, "newObjectId": to}}
	var answer struct {
		Value []struct {
			Success bool   `json:"success"`
			Status  string `json:"updateStatus"`
			Reason  string `json:"customMessage"`
		} `json:"value"`
	}
	if _, err := r.Call(ctx, http.MethodPost, "/"+r.Repository+"/refs", send, &answer); err != nil {
		return err
	}
	if len(answer.Value) != 1 {
		return &NotMovedError{Status: fmt.Sprintf("%d results to one change", len(answer.Value))}
	}
	if one := answer.Value[0]; !one.Success || one.Status != "succeeded" {
		return &NotMovedError{one.Status, one.Reason}
	}
	return nil
}
