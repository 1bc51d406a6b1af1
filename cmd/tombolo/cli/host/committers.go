package host

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// This file finds out who has committed something of a request: they do not approve it. A
// commit has whatever names its author likes, so those who have pushed count too, as the host
// itself has written down. Both have to be told as a whole: else nobody is known to have
// committed nothing.

// push is a change of a branch, by somebody's id. before is "" when it made the branch.
type push struct{ before, after, by string }

// pushers are those who have changed a branch, if the pushes tell it all: they lead from the
// commit back to the one that made the branch, and each is somebody's.
func pushers(all []push, head string) (map[string]bool, bool) {
	who, from := map[string]bool{}, map[string]push{}
	for _, p := range all {
		who[p.by] = true
		if _, ok := from[p.after]; !ok {
			from[p.after] = p
		}
	}
	for range all {
		p, ok := from[head]
		if !ok || p.by == "" {
			return nil, false
		}
		if strings.Trim(p.before, "0") == "" {
			return who, !who[""]
		}
		head = p.before
	}
	return nil, false
}

// pushersOf reads pages of pushes, the newest first, until they tell who has brought a branch to
// the commit. A page is nil after the last.
func (r Request) pushersOf(head string, page func() ([]push, error)) (map[string]bool, error) {
	for all := []push(nil); ; {
		more, err := page()
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
		if who, ok := pushers(all, head); ok {
			return who, nil
		}
		if more == nil {
			return nil, r.untold("who has pushed it is not told by the host")
		}
	}
}

// Untold is what the host does not tell of a request, so that nobody is known to approve it.
type Untold struct{ what string }

func (u *Untold) Error() string { return u.what }

func (r Request) untold(format string, args ...any) error {
	return &Untold{fmt.Sprintf("request %d: ", r.Number) + fmt.Sprintf(format, args...)}
}

// pages calls a list, page by page: each has the address of its next.
func pages[T any](ctx context.Context, c Client, first string) func() ([]T, error) {
	address := first
	return func() ([]T, error) {
		if address == "" {
			return nil, nil
		}
		page := []T{}
		header, err := c.Call(ctx, http.MethodGet, address, nil, &page)
		address = next(header)
		return page, err
	}
}

// List is all pages of a list.
func List[T any](ctx context.Context, c Client, first string) (all []T, err error) {
	for page := pages[T](ctx, c, first); ; {
		more, err := page()
		if err != nil || more == nil {
			return all, err
		}
		all = append(all, more...)
	}
}

// gitHubCommits is what a pull request tells of its commits. Repo is null when a fork is gone.
type gitHubCommits struct {
	Commits int `json:"commits"`
	Head    struct {
		SHA  string `json:"sha"`
		Ref  string `json:"ref"`
		Repo *struct {
			FullName string `json:"full_name"`
		} `json:"repo"`
	} `json:"head"`
}

// gitHubCommitters are the ids of those who have committed or pushed. GitHub lists 250 commits
// of a request at most. Sources: GitHub's REST API, "List commits on a pull request", "List
// repository activities".
func (r Request) gitHubCommitters(ctx context.Context, path string, of gitHubCommits) (map[string]bool, error) {
	if of.Head.Repo == nil {
		return nil, r.untold("the branch that it comes from is gone, with all who have pushed to it")
	}
	type actor struct {
		ID int `json:"id"`
	}
	commits, err := List[struct {
		SHA       string `json:"sha"`
		Author    *actor `json:"author"`
		Committer *actor `json:"committer"`
	}](ctx, r.Client, path+"/commits?per_page=100")
	if err != nil {
		return nil, err
	}
	if len(commits) != of.Commits || len(commits) == 0 {
		return nil, r.untold("the host tells %d of its %d commits", len(commits), of.Commits)
	}
	ref := "refs/heads/" + of.Head.Ref
	page := pages[struct {
		Before string `json:"before"`
		After  string `json:"after"`
		Actor  actor  `json:"actor"`
	}](ctx, r.Client, "/repos/"+of.Head.Repo.FullName+"/activity?per_page=100&ref="+url.QueryEscape(ref))
	who, err := r.pushersOf(of.Head.SHA, func() (out []push, err error) {
		entries, err := page()
		if entries != nil {
			out = []push{}
		}
		for _, e := range entries {
			out = append(out, push{e.Before, e.After, idOf(e.Actor.ID)})
		}
		return out, err
	})
	if err != nil {
		return nil, err
	}
	for _, c := range commits {
		if c.Author == nil || c.Committer == nil {
			return nil, r.untold("commit %s has an author or committer without an account: add the address in the commit to their account", c.SHA)
		}
		who[idOf(c.Author.ID)], who[idOf(c.Committer.ID)] = true, true
	}
	return who, nil
}

// idOf is an id as text; "" of nobody.
func idOf(id int) string {
	if id == 0 {
		return ""
	}
	return fmt.Sprint(id)
}

// gitLabCommits is what a merge request tells of its commits.
type gitLabCommits struct {
	SHA     string `json:"sha"`
	Branch  string `json:"source_branch"`
	Project int    `json:"source_project_id"`
}

// gitLabCommitters are the ids of those who have pushed, and the names and addresses in the
// commits. GitLab does not tell whose account an address is of: the names of whoever approves
// are compared. Sources: GitLab's API, "List merge request commits", "List all visible events of
// a project"; a push of more branches than the instance's limit has no branch in its event.
func (r Request) gitLabCommitters(ctx context.Context, path string, of gitLabCommits) (who, names map[string]bool, err error) {
	commits, err := List[struct {
		AuthorName     string `json:"author_name"`
		AuthorEmail    string `json:"author_email"`
		CommitterName  string `json:"committer_name"`
		CommitterEmail string `json:"committer_email"`
	}](ctx, r.Client, path+"/commits?per_page=100")
	if err != nil {
		return nil, nil, err
	}
	if len(commits) == 0 {
		return nil, nil, r.untold("the host tells none of its commits")
	}
	names = map[string]bool{}
	for _, c := range commits {
		for _, name := range []string{c.AuthorName, c.AuthorEmail, c.CommitterName, c.CommitterEmail} {
			names[strings.ToLower(name)] = true
		}
	}
	page := pages[struct {
		Author int `json:"author_id"`
		Push   struct {
			Type string `json:"ref_type"`
			Ref  string `json:"ref"`
			From string `json:"commit_from"`
			To   string `json:"commit_to"`
		} `json:"push_data"`
	}](ctx, r.Client, fmt.Sprintf("/projects/%d/events?action=pushed&per_page=100", of.Project))
	who, err = r.pushersOf(of.SHA, func() (out []push, err error) {
		events, err := page()
		if events != nil {
			out = []push{}
		}
		for _, e := range events {
			if e.Push.Type == "branch" && e.Push.Ref == of.Branch {
				out = append(out, push{e.Push.From, e.Push.To, idOf(e.Author)})
			}
		}
		return out, err
	})
	return who, names, err
}

// azureCommitters are the ids of those who have pushed, and the addresses in the commits, in
// lower case. Sources: REST API 7.1, "Pull Request Commits", "Pushes - List".
func (r Request) azureCommitters(ctx context.Context, path string, pull azurePull) (who, addresses map[string]bool, err error) {
	if pull.Fork != nil {
		return nil, nil, r.untold("the branch that it comes from is in a fork, where who has pushed to it is not told")
	}
	addresses, err = r.azureAddresses(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	skip := 0
	who, err = r.pushersOf(pull.Head.ID, func() ([]push, error) {
		query := url.Values{
			"searchCriteria.refName": {pull.Source}, "searchCriteria.includeRefUpdates": {"true"}, "$top": {"100"}, "$skip": {fmt.Sprint(skip)},
		}
		var page struct {
			Value []struct {
				By   azureIdentity `json:"pushedBy"`
				Refs []struct {
					Name string `json:"name"`
					Old  string `json:"oldObjectId"`
					New  string `json:"newObjectId"`
				} `json:"refUpdates"`
			} `json:"value"`
		}
		if _, err := r.Call(ctx, http.MethodGet, "/"+r.Repository+"/pushes?"+query.Encode(), nil, &page); err != nil || len(page.Value) == 0 {
			return nil, err
		}
		skip += len(page.Value)
		out := []push{}
		for _, p := range page.Value {
			for _, ref := range p.Refs {
				if ref.Name == pull.Source {
					out = append(out, push{ref.Old, ref.New, p.By.ID})
				}
			}
		}
		return out, nil
	})
	return who, addresses, err
}

// azureContinues is the header that leads to the next page of a list.
const azureContinues = "X-Ms-Continuationtoken"

func (r Request) azureAddresses(ctx context.Context, path string) (map[string]bool, error) {
	addresses := map[string]bool{}
	for token, more := "", true; more; more = token != "" {
		var page struct {
			Value []struct {
				Author    struct{ Email string } `json:"author"`
				Committer struct{ Email string } `json:"committer"`
			} `json:"value"`
		}
		address := path + "/commits"
		if token != "" {
			address += "?continuationToken=" + url.QueryEscape(token)
		}
		header, err := r.Call(ctx, http.MethodGet, address, nil, &page)
		if err != nil {
			return nil, err
		}
		for _, c := range page.Value {
			addresses[strings.ToLower(c.Author.Email)], addresses[strings.ToLower(c.Committer.Email)] = true, true
		}
		token = header.Get(azureContinues)
	}
	if len(addresses) == 0 {
		return nil, r.untold("the host tells none of its commits")
	}
	return addresses, nil
}

// has says whether one of the names is among those in lower case.
func has(all map[string]bool, names ...string) bool {
	for _, name := range names {
		if name != "" && all[strings.ToLower(name)] {
			return true
		}
	}
	return false
}
