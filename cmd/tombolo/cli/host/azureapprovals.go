package host

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// azureReviewer is a reviewer with their vote: a person, or a group whose vote is that of
// its members.
type azureReviewer struct {
	azureIdentity
	Vote  int  `json:"vote"`
	Group bool `json:"isContainer"`
}

// azureApproves says whether a vote lets a request pass: 10 approves, 5 approves with
// suggestions. Source: REST API 7.1, "Pull Request Reviewers".
func azureApproves(vote int) bool { return vote >= 5 }

// azureApprovals are those whose vote is for the request, and was given after the last
// push. A vote stays when commits are pushed unless a policy of the branch takes it
// away, so it counts only from the time of the newest iteration on.
func (r Request) azureApprovals(ctx context.Context) ([]string, error) {
	path := r.azurePath()
	var pull azurePull
	if _, err := r.Call(ctx, http.MethodGet, path, nil, &pull); err != nil {
		return nil, err
	}
	votes, err := r.azureVotes(ctx, path, pull)
	if err != nil || len(votes) == 0 {
		return nil, err
	}
	pushers, committed, err := r.azureCommitters(ctx, path, pull)
	if err != nil {
		return nil, err
	}
	return r.azureWriters(ctx, pull, slices.DeleteFunc(votes, func(by azureReviewer) bool { return pushers[by.ID] || has(committed, by.Name) }))
}

// azurePath is the request in the API's paths.
func (r Request) azurePath() string {
	return fmt.Sprintf("/%s/pullRequests/%d", r.Repository, r.Number)
}

// azureVotes are the accounts other than the author whose own vote is for the request as it is now.
func (r Request) azureVotes(ctx context.Context, path string, pull azurePull) ([]azureReviewer, error) {
	pushed, err := r.azurePushed(ctx, path)
	if err != nil {
		return nil, err
	}
	voted, err := r.azureVoted(ctx, path)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(pull.Reviewers), func(by azureReviewer) bool {
		return by.Group || !azureApproves(by.Vote) || by.ID == pull.CreatedBy.ID || !voted[by.ID].After(pushed)
	}), nil
}

// azureWriters are the names of those who are people who may push, sorted.
func (r Request) azureWriters(ctx context.Context, pull azurePull, all []azureReviewer) (names []string, err error) {
	for _, by := range all {
		writes, err := r.azureWriter(ctx, pull, by.ID)
		if err != nil {
			return nil, err
		}
		if writes {
			names = append(names, by.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// azurePushed is when the request got what it has now: the time of its newest
// iteration, which a push makes, or another target.
func (r Request) azurePushed(ctx context.Context, path string) (time.Time, error) {
	var iterations struct {
		Value []struct {
			Created time.Time `json:"createdDate"`
		} `json:"value"`
	}
	if _, err := r.Call(ctx, http.MethodGet, path+"/iterations", nil, &iterations); err != nil {
		return time.Time{}, err
	}
	if len(iterations.Value) == 0 {
		return time.Time{}, fmt.Errorf("pull request %d has no iteration yet: its last push is not known", r.Number)
	}
	var last time.Time
	for _, i := range iterations.Value {
		if i.Created.After(last) {
			last = i.Created
		}
	}
	return last, nil
}

// azureVoted is when each person has last voted for the request. A vote has no time of
// its own; Azure Repos writes a thread about each, whose author is who voted. Others
// can write threads with the same properties, and not as another author.
func (r Request) azureVoted(ctx context.Context, path string) (map[string]time.Time, error) {
	var threads struct {
		Value []struct {
			Published  time.Time `json:"publishedDate"`
			Properties map[string]struct {
				Value any `json:"$value"`
			} `json:"properties"`
			Comments []struct {
				Author azureIdentity `json:"author"`
			} `json:"comments"`
		} `json:"value"`
	}
	if _, err := r.Call(ctx, http.MethodGet, path+"/threads", nil, &threads); err != nil {
		return nil, err
	}
	voted := map[string]time.Time{}
	for _, t := range threads.Value {
		if t.Properties["CodeReviewThreadType"].Value != "VoteUpdate" || len(t.Comments) == 0 {
			continue
		}
		if by := t.Comments[0].Author.ID; t.Published.After(voted[by]) {
			voted[by] = t.Published
		}
	}
	return voted, nil
}

const (
	// azureGit is the namespace of rights in Git repositories, and azureContribute the
	// bit of the right to push. Source:
	// learn.microsoft.com/azure/devops/organizations/security/namespace-reference.
	azureGit        = "2e9eb7ed-3c0a-47d4-87c1-0ffdd275fd87"
	azureContribute = 4
)

// azurePeople are the kinds of accounts that are people's, in the cloud and on a server
// of one's own. Others are build services, service principals and groups.
func azurePeople() []string {
	return []string{"Microsoft.IdentityModel.Claims.ClaimsIdentity", "System.Security.Principal.WindowsIdentity"}
}

// azureWriter says whether somebody is a person who may push to the repository: Readers
// may vote, too. Source: learn.microsoft.com/azure/devops/organizations/security/default-git-permissions.
func (r Request) azureWriter(ctx context.Context, pull azurePull, id string) (bool, error) {
	var people struct {
		Value []*struct { // null is somebody who is gone
			Descriptor string `json:"descriptor"`
			Active     bool   `json:"isActive"`
		} `json:"value"`
	}
	accounts := r.Client
	accounts.Base = azureAccounts(r.Base)
	if _, err := accounts.Call(ctx, http.MethodGet, "/_apis/identities?identityIds="+url.QueryEscape(id), nil, &people); err != nil {
		return false, err
	}
	if len(people.Value) != 1 || people.Value[0] == nil || !people.Value[0].Active {
		return false, nil
	}
	descriptor := people.Value[0].Descriptor
	kind, _, _ := strings.Cut(descriptor, ";")
	if !slices.Contains(azurePeople(), kind) {
		return false, nil
	}
	return r.azureContributes(ctx, pull, descriptor)
}

// azureContributes asks for the rights that an account has in effect, by its own and by
// its groups' entries. Source: REST API 7.1, "Access Control Lists - Query".
func (r Request) azureContributes(ctx context.Context, pull azurePull, descriptor string) (bool, error) {
	query := url.Values{
		"token":       {"repoV2/" + pull.Repository.Project.ID + "/" + pull.Repository.ID},
		"descriptors": {descriptor}, "includeExtendedInfo": {"true"},
	}
	var lists struct {
		Value []struct {
			Entries map[string]struct {
				Effective struct {
					Allow int `json:"effectiveAllow"`
					Deny  int `json:"effectiveDeny"`
				} `json:"extendedInfo"`
			} `json:"acesDictionary"`
		} `json:"value"`
	}
	if _, err := r.Call(ctx, http.MethodGet, "/_apis/accesscontrollists/"+azureGit+"?"+query.Encode(), nil, &lists); err != nil {
		return false, err
	}
	for _, list := range lists.Value {
		if has := list.Entries[descriptor].Effective; has.Allow&azureContribute != 0 && has.Deny&azureContribute == 0 {
			return true, nil
		}
	}
	return false, nil
}

// azureAccounts is where the accounts of an organization are: in the cloud at a host of
// their own, which is Azure DevOps's too, so that the token may go there.
func azureAccounts(organization string) string {
	if name, ok := strings.CutPrefix(organization, "https://dev.azure.com/"); ok {
		return "https://vssps.dev.azure.com/" + name
	}
	if name, ok := strings.CutSuffix(organization, ".visualstudio.com"); ok {
		return name + ".vssps.visualstudio.com"
	}
	return organization
}
