// Package azurerepos stands in for the part of Azure DevOps that promotions use: the pull requests,
// policies and branches of one repository, whose commits are in a bare repository of Git. It is
// strict: a request of another form than the documents of the API have is refused.
//
// Sources: the REST API 7.1 of Azure DevOps, github.com/MicrosoftDocs/vsts-rest-api-specs
// (specification/git/7.1/git.json and specification/policy/7.1/policy.json): operations Pull
// Requests - Get, Create and Update, Refs - Update Refs, Evaluations - List.
package azurerepos

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

// The names of what the stand-in has, by name and by id.
const (
	Organization = "acme"
	Project      = "platform"
	ProjectID    = "7e5"
	Repository   = "tree"
	RepositoryID = "c1u"
)

// Rights of an account in the repository.
type Rights struct {
	// PullRequests, Push and Bypass are "Contribute to pull requests", "Contribute" and "Bypass
	// policies when pushing".
	PullRequests, Push, Bypass bool
}

// Account is whose a token is, or who votes.
type Account struct {
	ID string
	Rights
	// Kind begins the account's descriptor. Default: a person's.
	Kind string
}

// Person is the kind of people's accounts.
const Person = "Microsoft.IdentityModel.Claims.ClaimsIdentity"

// Policy of a branch.
type Policy struct {
	Branch, Name string
	Blocking     bool
	// Status of its evaluation for every request.
	Status string
}

// Server is the stand-in.
type Server struct {
	// URL of the organization.
	URL string
	// Dir is the bare repository.
	Dir string
	// Policies of branches. A branch with one that is blocking takes no push without Bypass.
	Policies []Policy
	// Completes says that requests whose commits have come to their target are completed, which
	// the API's text on closedDate ("merged externally") says and no document promises.
	Completes bool

	mu       sync.Mutex
	accounts map[string]Account // by token
	people   map[string]Account // by id
	pulls    []*pull
	clock    time.Time
	calls    []string
}

type pull struct {
	ID          int        `json:"pullRequestId"`
	Status      string     `json:"status"`
	Title       string     `json:"title"`
	Description string     `json:"description"`
	Draft       bool       `json:"isDraft"`
	Source      string     `json:"sourceRefName"`
	Target      string     `json:"targetRefName"`
	CreatedBy   identity   `json:"createdBy"`
	Reviewers   []reviewer `json:"reviewers"`
	Head        commit     `json:"lastMergeSourceCommit"`
	Repository  struct {
		ID      string            `json:"id"`
		Project map[string]string `json:"project"`
	} `json:"repository"`

	iterations []time.Time
	votes      []thread
}

type identity struct {
	ID   string `json:"id"`
	Name string `json:"uniqueName"`
}

type reviewer struct {
	identity
	Vote int `json:"vote"`
}

type commit struct {
	ID string `json:"commitId"`
}

type thread struct {
	Published  time.Time                    `json:"publishedDate"`
	Properties map[string]map[string]string `json:"properties"`
	Comments   []map[string]identity        `json:"comments"`
}

// New starts the stand-in for a bare repository, with accounts by their tokens.
func New(t *testing.T, dir string, accounts map[string]Account) *Server {
	t.Helper()
	s := &Server{Dir: dir, accounts: accounts, people: map[string]Account{}, clock: time.Date(2026, 1, 2, 8, 0, 0, 0, time.UTC)}
	for _, a := range accounts {
		s.people[a.ID] = a
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL + "/" + Organization
	return s
}

// Vote has an account vote for the open request between two branches: 10 approves, -10 rejects.
func (s *Server) Vote(t *testing.T, by Account, source, target string, vote int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.people[by.ID] = by
	p := s.open("refs/heads/"+source, "refs/heads/"+target)
	if p == nil {
		t.Fatalf("there is no open request from %s to %s", source, target)
	}
	if err := s.refresh(p); err != nil {
		t.Fatal(err)
	}
	p.Reviewers = slices.DeleteFunc(p.Reviewers, func(r reviewer) bool { return r.ID == by.ID })
	p.Reviewers = append(p.Reviewers, reviewer{s.identity(by), vote})
	p.votes = append(p.votes, thread{
		s.now(), map[string]map[string]string{"CodeReviewThreadType": {"$value": "VoteUpdate"}}, []map[string]identity{{"author": s.identity(by)}},
	})
}

// Draft makes the open request between two branches a draft, or an active one again.
func (s *Server) Draft(source, target string, draft bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open("refs/heads/"+source, "refs/heads/"+target).Draft = draft
}

// Describe changes what the open request between two branches says, as a person does.
func (s *Server) Describe(source, target, description string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open("refs/heads/"+source, "refs/heads/"+target).Description = description
}

// Pulls are the requests, each as "<number> <status> <source> <target>", and their descriptions.
func (s *Server) Pulls() (all, descriptions []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pulls {
		all = append(all, fmt.Sprintf("%d %s %s %s", p.ID, p.Status, strings.TrimPrefix(p.Source, "refs/heads/"), strings.TrimPrefix(p.Target, "refs/heads/")))
		descriptions = append(descriptions, p.Description)
	}
	return all, descriptions
}

// Changes are the calls since the last time that change something.
func (s *Server) Changes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.calls = nil }()
	return s.calls
}

func (s *Server) identity(a Account) identity { return identity{a.ID, a.ID + "@acme.example"} }

// now is later than it was before.
func (s *Server) now() time.Time {
	s.clock = s.clock.Add(time.Second)
	return s.clock
}

func (s *Server) open(source, target string) *pull {
	at := slices.IndexFunc(s.pulls, func(p *pull) bool { return p.Status == "active" && p.Source == source && p.Target == target })
	if at < 0 {
		return nil
	}
	return s.pulls[at]
}

func (s *Server) git(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = s.Dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "GIT_") })
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// refresh takes notice of pushes: each makes an iteration.
func (s *Server) refresh(p *pull) error {
	head, err := s.git("rev-parse", "--verify", "--quiet", p.Source)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Source, err)
	}
	if p.Status == "active" && head != p.Head.ID {
		p.Head.ID = head
		p.iterations = append(p.iterations, s.now())
	}
	if _, err := s.git("merge-base", "--is-ancestor", p.Head.ID, p.Target); err == nil && s.Completes && p.Status == "active" {
		p.Status = "completed"
	}
	return nil
}

// refusal is an answer that is no success.
type refusal struct {
	code    int
	message string
}

func (r *refusal) Error() string { return r.message }

func refuse(code int, format string, args ...any) error {
	return &refusal{code, fmt.Sprintf(format, args...)}
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	by, known := s.accounts[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	if !known || !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
		w.WriteHeader(http.StatusNonAuthoritativeInfo) // a page to sign in
		fmt.Fprint(w, "<html>Sign in</html>")
		return
	}
	if r.Method != http.MethodGet {
		s.calls = append(s.calls, r.Method+" "+r.URL.Path)
	}
	code := http.StatusOK
	answer, err := s.answer(by, r)
	if refused := new(refusal); errors.As(err, &refused) {
		code, answer = refused.code, map[string]string{"message": refused.message}
	} else if err != nil {
		code, answer = http.StatusInternalServerError, map[string]string{"message": err.Error()}
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(answer)
}

func (s *Server) answer(by Account, r *http.Request) (any, error) {
	path, found := strings.CutPrefix(r.URL.Path, "/"+Organization+"/")
	project, inProject := strings.CutPrefix(strings.Replace(path, Project+"/", ProjectID+"/", 1), ProjectID+"/_apis/")
	policies := inProject && project == "policy/evaluations"
	want := "7.1"
	if policies {
		want = "7.1-preview.1"
	}
	if got := r.URL.Query().Get("api-version"); got != want {
		return nil, refuse(http.StatusBadRequest, "the api-version is %q, and %s %s takes %s", got, r.Method, r.URL.Path, want)
	}
	repository, inRepository := strings.CutPrefix(strings.Replace(project, "git/repositories/"+Repository+"/", "git/repositories/"+RepositoryID+"/", 1), "git/repositories/"+RepositoryID+"/")
	repository = strings.ToLower(repository)
	switch {
	case !found:
	case policies && r.Method == http.MethodGet:
		return s.evaluations(r)
	case path == "_apis/identities":
		return s.identities(r)
	case path == "_apis/accesscontrollists/2e9eb7ed-3c0a-47d4-87c1-0ffdd275fd87":
		return s.accessControl(r)
	case !inProject || !inRepository:
	case repository == "refs" && r.Method == http.MethodPost:
		return s.update(by, r)
	case repository == "pullrequests" && r.Method == http.MethodPost:
		return s.create(by, r)
	case repository == "pullrequests":
		return s.list(r)
	default:
		return s.one(by, r, strings.TrimPrefix(repository, "pullrequests/"))
	}
	return nil, refuse(http.StatusNotFound, "%s is not there", r.URL.Path)
}

// read takes a document without other fields than it has to have.
func read(r *http.Request, to any) error {
	if kind := r.Header.Get("Content-Type"); kind != "application/json" {
		return refuse(http.StatusUnsupportedMediaType, "the document is %q", kind)
	}
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(to); err != nil {
		return refuse(http.StatusBadRequest, "the document: %v", err)
	}
	return nil
}

func (s *Server) mayAsk(by Account) error {
	if !by.PullRequests {
		return refuse(http.StatusForbidden, "TF401027: You need the Git 'PullRequestContribute' permission to perform this action. Details: identity 'Build\\%s', scope 'repository'.", by.ID)
	}
	return nil
}

// described holds a description to its limit.
func described(text string) error {
	if utf8.RuneCountInString(text) > 4000 {
		return refuse(http.StatusBadRequest, "A description for a pull request must not be longer than 4000 characters.")
	}
	return nil
}

func (s *Server) create(by Account, r *http.Request) (any, error) {
	var sent struct {
		Source      string `json:"sourceRefName"`
		Target      string `json:"targetRefName"`
		Title       string `json:"title"`
		Description string `json:"description"`
	}
	if err := s.mayAsk(by); err != nil {
		return nil, err
	}
	if err := read(r, &sent); err != nil {
		return nil, err
	}
	for _, ref := range []string{sent.Source, sent.Target} {
		if _, err := s.git("rev-parse", "--verify", "--quiet", ref); err != nil || !strings.HasPrefix(ref, "refs/heads/") {
			return nil, refuse(http.StatusBadRequest, "TF401398: The pull request cannot be activated because the source and/or the target branch no longer exists (%q)", ref)
		}
	}
	if s.open(sent.Source, sent.Target) != nil {
		return nil, refuse(http.StatusConflict, "TF401179: An active pull request for the source and target branch already exists.")
	}
	if err := described(sent.Description); err != nil {
		return nil, err
	}
	if sent.Title == "" {
		return nil, refuse(http.StatusBadRequest, "the title is empty")
	}
	p := &pull{ID: len(s.pulls) + 1, Status: "active", Title: sent.Title, Description: sent.Description, Source: sent.Source, Target: sent.Target, CreatedBy: s.identity(by), Reviewers: []reviewer{}}
	p.Repository.ID, p.Repository.Project = RepositoryID, map[string]string{"id": ProjectID}
	s.pulls = append(s.pulls, p)
	return p, s.refresh(p)
}

func (s *Server) list(r *http.Request) (any, error) {
	query := r.URL.Query()
	found := []pull{}
	for _, p := range s.pulls {
		if err := s.refresh(p); err != nil {
			return nil, err
		}
		if p.Status == query.Get("searchCriteria.status") && p.Source == query.Get("searchCriteria.sourceRefName") && p.Target == query.Get("searchCriteria.targetRefName") {
			short := *p
			short.Description = string([]rune(p.Description)[:min(400, utf8.RuneCountInString(p.Description))])
			found = append(found, short)
		}
	}
	return map[string]any{"value": found, "count": len(found)}, nil
}

// one is a request, or what it has below it.
func (s *Server) one(by Account, r *http.Request, path string) (any, error) {
	number, below, _ := strings.Cut(path, "/")
	id, err := strconv.Atoi(number)
	if err != nil || id < 1 || id > len(s.pulls) {
		return nil, refuse(http.StatusNotFound, "TF401180: The requested pull request was not found.")
	}
	p := s.pulls[id-1]
	if err := s.refresh(p); err != nil {
		return nil, err
	}
	switch {
	case r.Method == http.MethodPatch && below == "":
		return p, s.change(by, r, p)
	case r.Method != http.MethodGet:
	case below == "":
		return p, nil
	case below == "threads":
		return map[string]any{"value": p.votes}, nil
	case below == "iterations":
		all := []map[string]any{}
		for i, at := range p.iterations {
			all = append(all, map[string]any{"id": i + 1, "createdDate": at})
		}
		return map[string]any{"value": all}, nil
	}
	return nil, refuse(http.StatusMethodNotAllowed, "%s %s", r.Method, r.URL.Path)
}

// change changes a request. Completing is no part of the stand-in: it would make a commit.
func (s *Server) change(by Account, r *http.Request, p *pull) error {
	var sent struct{ Title, Description, Status *string }
	if err := s.mayAsk(by); err != nil {
		return err
	}
	if err := read(r, &sent); err != nil {
		return err
	}
	if p.Status != "active" {
		return refuse(http.StatusConflict, "TF401181: The pull request cannot be edited due to its state.")
	}
	if sent.Status != nil && *sent.Status != "abandoned" {
		return refuse(http.StatusBadRequest, "the status %q: a button of Azure Repos makes commits", *sent.Status)
	}
	for to, from := range map[*string]*string{&p.Title: sent.Title, &p.Description: sent.Description, &p.Status: sent.Status} {
		if from == nil {
			continue
		}
		if err := described(*from); err != nil {
			return err
		}
		*to = *from
	}
	return nil
}

// zero is the id of no commit.
var zero = strings.Repeat("0", 40)

// update moves branches: the answer says of each whether it was.
func (s *Server) update(by Account, r *http.Request) (any, error) {
	var sent []struct {
		Name string `json:"name"`
		Old  string `json:"oldObjectId"`
		New  string `json:"newObjectId"`
	}
	if err := read(r, &sent); err != nil {
		return nil, err
	}
	answers := []map[string]any{}
	for _, ref := range sent {
		if len(ref.Old) != len(zero) || len(ref.New) != len(zero) || ref.Old == zero || ref.New == zero {
			return nil, refuse(http.StatusBadRequest, "the change of %q from %q to %q: a promotion makes and deletes no branch", ref.Name, ref.Old, ref.New)
		}
		status, message := s.move(by, ref.Name, ref.Old, ref.New)
		answers = append(answers, map[string]any{
			"name": ref.Name, "oldObjectId": ref.Old, "newObjectId": ref.New, "updateStatus": status, "success": status == "succeeded", "customMessage": message,
		})
	}
	return map[string]any{"value": answers, "count": len(answers)}, nil
}

// move has the statuses of GitRefUpdateStatus.
func (s *Server) move(by Account, ref, from, to string) (status, message string) {
	_, noCommit := s.git("cat-file", "-e", to+"^{commit}")
	_, behind := s.git("merge-base", "--is-ancestor", from, to)
	now, _ := s.git("rev-parse", "--verify", "--quiet", ref)
	policy := slices.ContainsFunc(s.Policies, func(p Policy) bool { return "refs/heads/"+p.Branch == ref && p.Blocking })
	switch {
	case !strings.HasPrefix(ref, "refs/heads/"):
		return "invalidRefName", ""
	case noCommit != nil:
		return "unresolvableToCommit", ""
	case !by.Push:
		return "writePermissionRequired", ""
	case now != from:
		return "staleOldObjectId", ""
	case behind != nil:
		return "forcePushRequired", ""
	case policy && !by.Bypass:
		return "rejectedByPolicy", "TF402455: Pushes to this branch are not permitted; you must use a pull request to update this branch."
	}
	if _, err := s.git("update-ref", ref, to, from); err != nil {
		return "staleOldObjectId", err.Error()
	}
	return "succeeded", ""
}

func (s *Server) evaluations(r *http.Request) (any, error) {
	query := r.URL.Query()
	var id int
	if _, err := fmt.Sscanf(query.Get("artifactId"), "vstfs:///CodeReview/CodeReviewId/"+ProjectID+"/%d", &id); err != nil || id < 1 || id > len(s.pulls) {
		return nil, refuse(http.StatusNotFound, "the artifact %q", query.Get("artifactId"))
	}
	top, topErr := strconv.Atoi(query.Get("$top"))
	skip, skipErr := strconv.Atoi(query.Get("$skip"))
	if err := errors.Join(topErr, skipErr); err != nil {
		return nil, refuse(http.StatusBadRequest, "%v", err)
	}
	all := []map[string]any{}
	for _, p := range s.Policies {
		if "refs/heads/"+p.Branch == s.pulls[id-1].Target {
			all = append(all, map[string]any{"status": p.Status, "configuration": map[string]any{
				"isBlocking": p.Blocking, "isEnabled": true, "isDeleted": false, "type": map[string]string{"displayName": p.Name},
			}})
		}
	}
	all = all[min(skip, len(all)):]
	return map[string]any{"value": all[:min(top, len(all))]}, nil
}

func (s *Server) descriptor(a Account) string {
	if a.Kind == "" {
		a.Kind = Person
	}
	return a.Kind + `;tenant\` + a.ID
}

func (s *Server) identities(r *http.Request) (any, error) {
	a, ok := s.people[r.URL.Query().Get("identityIds")]
	if !ok {
		return map[string]any{"value": []any{nil}}, nil
	}
	return map[string]any{"value": []any{map[string]any{"id": a.ID, "descriptor": s.descriptor(a), "isActive": true}}}, nil
}

func (s *Server) accessControl(r *http.Request) (any, error) {
	query := r.URL.Query()
	if query.Get("token") != "repoV2/"+ProjectID+"/"+RepositoryID || query.Get("includeExtendedInfo") != "true" {
		return nil, refuse(http.StatusBadRequest, "the token %q", query.Get("token"))
	}
	for _, a := range s.people {
		if s.descriptor(a) != query.Get("descriptors") {
			continue
		}
		allow := 2
		if a.Push {
			allow |= 4
		}
		return map[string]any{"value": []any{map[string]any{"acesDictionary": map[string]any{
			s.descriptor(a): map[string]any{"extendedInfo": map[string]int{"effectiveAllow": allow}},
		}}}}, nil
	}
	return map[string]any{"value": []any{}}, nil
}

// Tip is the commit of a branch.
func (s *Server) Tip(t *testing.T, branch string) string {
	t.Helper()
	out, err := s.git("rev-parse", "refs/heads/"+branch)
	if err != nil {
		t.Fatalf("%s: %v", branch, err)
	}
	return out
}
