// Package comment is the command tombolo comment: it posts what preview wrote as
// the one comment of its key on a pull or merge request.
package comment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
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
	Dir    string
	Client *http.Client

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
	opts := &Options{Lookup: f.Lookup, Status: f.Status, In: f.Streams.In, Dir: f.Dir, Client: http.DefaultClient, Kind: Auto}
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
	fs.StringVar(&opts.Repository, "repository", "", "`name` of the repository (default: GITHUB_REPOSITORY or CI_PROJECT_ID)")
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
	h, err := o.host()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	did, err := stick(ctx, h, review.Marker(o.Key), body)
	if err != nil {
		return fault.NewPrecondition("post the comment", "allow the token to write comments, and look whether repository and number are right", err)
	}
	o.Status().Done("the comment was %s", did)
	return nil
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

// host is where comments are.
type host interface {
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
func stick(ctx context.Context, h host, marker, body string) (string, error) {
	author, err := h.author(ctx)
	if err != nil {
		return "", err
	}
	all, err := h.comments(ctx)
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
		return "made", h.create(ctx, body)
	}
	for _, c := range own[1:] {
		if err := h.remove(ctx, c.id); err != nil {
			return "", err
		}
	}
	if same(own[0].body, body) {
		return "left as it is", nil
	}
	return "rewritten", h.update(ctx, own[0].id, body)
}

// same compares bodies as hosts keep them: with other line ends, and without the
// last one.
func same(a, b string) bool {
	clean := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return clean(a) == clean(b)
}

// host is what flags and environment name.
func (o *Options) host() (host, error) {
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
		GitLab: {"GITLAB_TOKEN", "CI_API_V4_URL", "CI_PROJECT_ID"},
	}[kind]
	api := api{client: o.Client, token: o.env(names[0]), base: strings.TrimSuffix(or(o.URL, o.env(names[1])), "/")}
	repository := or(o.Repository, o.env(names[2]))
	number, err := o.number(kind)
	switch {
	case err != nil:
		return nil, err
	case api.token == "":
		return nil, fault.NewPrecondition(names[0]+" is not set", "set it to a token that may write comments", nil)
	case repository == "":
		return nil, fault.NewUsage("the repository is not known", "give --repository, or set "+names[2])
	}
	if kind == GitHub {
		if !repositoryPattern.MatchString(repository) {
			return nil, fault.NewUsage(fmt.Sprintf("the repository is %q", repository), "write it like acme/platform")
		}
		api.base = or(api.base, "https://api.github.com")
		return &github{api: api, repository: repository, number: number, login: o.Author}, nil
	}
	api.base = or(api.base, "https://gitlab.com/api/v4")
	return &gitlab{api: api, project: url.PathEscape(repository), number: number, username: o.Author}, nil
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
	if n, err := eventNumber(o.env("GITHUB_EVENT_PATH")); err != nil || n > 0 {
		return n, err
	}
	if _, err := fmt.Sscanf(o.env("GITHUB_REF"), "refs/pull/%d/", &n); err == nil && n > 0 {
		return n, nil
	}
	return 0, fault.NewUsage("the pull request is not known", "give --number, or run in a job for a pull request")
}

// eventNumber is the pull request that a job of GitHub Actions is for; 0 without
// one.
func eventNumber(file string) (int, error) {
	if file == "" {
		return 0, nil
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	var event struct {
		PullRequest struct {
			Number int `json:"number"`
		} `json:"pull_request"`
	}
	if err == nil {
		err = json.Unmarshal(text, &event)
	}
	if err != nil {
		return 0, fmt.Errorf("read the event of the job: %w; give --number", err)
	}
	return event.PullRequest.Number, nil
}
