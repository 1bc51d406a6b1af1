// Package comment is the command tombolo comment: it posts what preview wrote as
// the one comment of its key on a pull or merge request.
package comment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tombolo/internal/cli/factory"
	"tombolo/internal/cli/fault"
	"tombolo/internal/cli/flags"
	"tombolo/internal/cli/host"
	"tombolo/internal/cli/preview"
	"tombolo/internal/cli/review"
	"tombolo/internal/render"
)

// Kind is a kind of host.
type Kind string

// The kinds of host.
const (
	// Auto takes the kind from the environment of the CI job.
	Auto   Kind = "auto"
	GitHub Kind = "github"
	GitLab Kind = "gitlab"
)

// Options of the command.
type Options struct {
	Lookup func(string) (string, bool)
	Status func() render.Status
	In     io.Reader
	// Dir is what a relative file is in.
	Dir string
	// Patience with a host that cannot answer.
	Patience host.Patience

	File, Key string
	Kind      Kind
	// URL of the host's API, Repository and Number of the request. Default: as
	// the environment has them.
	URL, Repository string
	Number          int
	// Author of the comment. Default: whose the token is.
	Author string
}

// timeout bounds all calls together: a page of comments takes less than a second.
const timeout = 2 * time.Minute

// NewCmdComment returns the command; runF, if not nil, runs in place of it.
func NewCmdComment(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := &Options{Lookup: f.Lookup, Status: f.Status, In: f.Streams.In, Dir: f.Dir, Patience: host.Usual(), Kind: Auto}
	cmd := &cobra.Command{
		Use:   "comment --file <file>",
		Short: "Post what preview wrote on a pull request",
		Long: strings.TrimSpace(`
Make the one comment of a key on a pull or merge request, or rewrite it if it has
changed. Comments of other keys, and of other authors, are left alone.

In a job of GitHub Actions or GitLab CI host, repository and request are taken
from the job's environment. The token is read from GITHUB_TOKEN or GITLAB_TOKEN,
and never written.`),
		Example: strings.TrimSpace(`
  tombolo preview --changed-since origin/main --output markdown > comment.md
  tombolo comment --file comment.md
  tombolo comment --file - --host github --repository acme/platform --number 7`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := opts.check(); err != nil {
				return err
			}
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return commentRun(cmd.Context(), opts)
		},
	}
	fs := cmd.Flags()
	kind := flags.NewEnum(&opts.Kind, Auto, GitHub, GitLab)
	fs.StringVar(&opts.File, "file", "", "the `file` with the comment; - is standard input")
	fs.StringVar(&opts.Key, "key", preview.DefaultKey, "the `name` in the comment's marker, as preview had it in --comment-key")
	fs.Var(kind, "host", "where the request is; auto takes it from the job's environment")
	fs.StringVar(&opts.URL, "api-url", "", "`URL` of the host's API (default: GITHUB_API_URL or CI_API_V4_URL)")
	fs.StringVar(&opts.Repository, "repository", "", "`name` of the repository (default: GITHUB_REPOSITORY or CI_MERGE_REQUEST_PROJECT_ID)")
	fs.IntVar(&opts.Number, "number", 0, "`number` of the request (default: GITHUB_EVENT_PATH, GITHUB_REF or CI_MERGE_REQUEST_IID)")
	fs.StringVar(&opts.Author, "author", "", "`name` of the account whose comment it is (default: the token's)")
	factory.CompleteFlag(cmd, "host", kind.Values())
	return cmd
}

func (o *Options) check() error {
	switch {
	case o.File == "":
		return fault.NewUsage("--file is missing", "name the file that `tombolo preview --output markdown` wrote")
	case o.Number < 0:
		return fault.NewUsage(fmt.Sprintf("--number is %d", o.Number), "give the number of the request")
	}
	return preview.CheckKey("--key", o.Key)
}

func commentRun(ctx context.Context, o *Options) error {
	body, err := o.body()
	if err != nil {
		return err
	}
	p, err := o.place()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var did string
	err = o.Patience.Do(ctx, func(err error) { o.Status().Doing("%v; trying again", err) }, func() (err error) {
		did, err = stick(ctx, p, review.Marker(o.Key), body)
		return err
	})
	if err != nil {
		return fault.NewPrecondition("post the comment", o.remedy(err), err)
	}
	o.Status().Done("the comment was %s", did)
	return nil
}

// remedy is what to do about a comment that could not be posted.
func (o *Options) remedy(err error) string {
	event, _ := o.event() // it was read before
	switch {
	case host.Refused(err) && event.fork():
		return "GitHub gives jobs for the requests of forks a token that only reads: leave this step out for them, as .github/workflows/preview.yml does"
	case errors.As(err, new(*host.Error)):
		return "allow the token to write comments, and look whether repository and number are right"
	}
	return "look whether the host can be reached from here"
}

// body is the comment, which must have the marker of its key.
func (o *Options) body() (string, error) {
	var text []byte
	var err error
	if o.File == "-" {
		text, err = io.ReadAll(o.In)
	} else {
		file := o.File
		if !filepath.IsAbs(file) {
			file = filepath.Join(o.Dir, file)
		}
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return "", fault.NewUsage(fmt.Sprintf("the comment cannot be read: %v", err), "name the file that preview wrote")
	}
	if !strings.HasPrefix(string(text), review.Marker(o.Key)+"\n") {
		return "", fault.NewUsage(fmt.Sprintf("%s does not begin with the marker of key %s", o.File, o.Key),
			"give --key as preview had it in --comment-key")
	}
	return string(text), nil
}

// posted is a comment that is there.
type posted struct{ id, author, body string }

// place is where comments are.
type place interface {
	// author of the comments that the token makes.
	author(context.Context) (string, error)
	// comments on the request, the oldest first.
	comments(context.Context) ([]posted, error)
	create(ctx context.Context, body string) error
	update(ctx context.Context, id, body string) error
	remove(ctx context.Context, id string) error
}

// stick makes or rewrites the author's comment that begins with the marker, and
// removes others that do: two jobs may have begun at the same time. It says what
// it did.
func stick(ctx context.Context, p place, marker, body string) (string, error) {
	author, err := p.author(ctx)
	if err != nil {
		return "", err
	}
	all, err := p.comments(ctx)
	if err != nil {
		return "", err
	}
	var own []posted
	for _, c := range all {
		if strings.EqualFold(c.author, author) && strings.HasPrefix(c.body, marker) {
			own = append(own, c)
		}
	}
	if len(own) == 0 {
		return "made", p.create(ctx, body)
	}
	for _, c := range own[1:] {
		if err := p.remove(ctx, c.id); err != nil {
			return "", err
		}
	}
	if same(own[0].body, body) {
		return "left as it is", nil
	}
	return "rewritten", p.update(ctx, own[0].id, body)
}

// same compares bodies as hosts keep them: with other line ends, and without the
// last one.
func same(a, b string) bool {
	clean := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return clean(a) == clean(b)
}

// place is what flags and environment name.
func (o *Options) place() (place, error) {
	kind := o.Kind
	if kind == Auto {
		switch {
		case o.env("GITHUB_ACTIONS") != "":
			kind = GitHub
		case o.env("GITLAB_CI") != "":
			kind = GitLab
		default:
			return nil, fault.NewUsage("this is no job of GitHub Actions or GitLab CI", "give --host, --repository and --number")
		}
	}
	names := map[Kind][3]string{
		GitHub: {"GITHUB_TOKEN", "GITHUB_API_URL", "GITHUB_REPOSITORY"},
		GitLab: {"GITLAB_TOKEN", "CI_API_V4_URL", "CI_MERGE_REQUEST_PROJECT_ID"},
	}[kind]
	token, api, repository := o.env(names[0]), or(o.URL, o.env(names[1])), or(o.Repository, o.env(names[2]))
	number, err := o.number(kind)
	switch {
	case err != nil:
		return nil, err
	case token == "":
		return nil, fault.NewPrecondition(names[0]+" is not set", "set it to a token that may write comments", nil)
	case repository == "":
		return nil, fault.NewUsage("the repository is not known", "give --repository, or set "+names[2])
	}
	if kind == GitHub {
		if !repositoryPattern.MatchString(repository) {
			return nil, fault.NewUsage(fmt.Sprintf("the repository is %q", repository), "write it like acme/platform")
		}
		return &github{Client: host.GitHub(api, token), repository: repository, number: number, login: o.Author}, nil
	}
	return &gitlab{Client: host.GitLab(api, token), project: url.PathEscape(repository), number: number, username: o.Author}, nil
}

var repositoryPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*/\.?[A-Za-z0-9_-][A-Za-z0-9_.-]*$`)

func (o *Options) env(name string) string {
	value, _ := o.Lookup(name)
	return value
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// number of the request.
func (o *Options) number(kind Kind) (int, error) {
	if o.Number > 0 {
		return o.Number, nil
	}
	var n int
	if kind == GitLab {
		if _, err := fmt.Sscanf(o.env("CI_MERGE_REQUEST_IID"), "%d", &n); err == nil && n > 0 {
			return n, nil
		}
		return 0, fault.NewUsage("the merge request is not known", "give --number, or run in a pipeline of a merge request")
	}
	if event, err := o.event(); err != nil || event.PullRequest.Number > 0 {
		return event.PullRequest.Number, err
	}
	if _, err := fmt.Sscanf(o.env("GITHUB_REF"), "refs/pull/%d/", &n); err == nil && n > 0 {
		return n, nil
	}
	return 0, fault.NewUsage("the pull request is not known", "give --number, or run in a job for a pull request")
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
func (o *Options) event() (event, error) {
	var e event
	file := o.env("GITHUB_EVENT_PATH")
	if file == "" {
		return e, nil
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
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
