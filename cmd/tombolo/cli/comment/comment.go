// Package comment is the command tombolo comment: it posts what preview wrote as
// the one comment of its key on a pull or merge request.
package comment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/flags"
	"tombolo/cmd/tombolo/cli/host"
	"tombolo/cmd/tombolo/cli/review"
	"tombolo/cmd/tombolo/render"
	files "tombolo/internal/file"
)

// Options of the command.
type Options struct {
	// Asked is the request.
	host.Asked

	Status func() render.Status
	In     io.Reader
	// Dir is what a relative file is in.
	Dir string
	// Backoff with a host that cannot answer.
	Backoff host.Backoff

	File, Key string
	// Author of the comment. Default: whose the token is.
	Author string
}

// timeout bounds all calls together: a page of comments takes less than a second.
const timeout = 2 * time.Minute

// NewCmdComment returns the command; runF, if not nil, runs in place of it.
func NewCmdComment(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := &Options{Asked: host.Asked{Lookup: f.Lookup, Kind: host.Auto}, Status: f.Status, In: f.Streams.In, Dir: f.Dir, Backoff: host.DefaultBackoff()}
	cmd := &cobra.Command{
		Use:   "comment --file <file>",
		Short: "Post a preview's comment on a pull request",
		Long: strings.TrimSpace(`
Post a comment on a pull or merge request, or update it if it has changed. Each key
has one comment. Comments with other keys, and of other authors, are left alone.

In a job of GitHub Actions, GitLab CI or Azure Pipelines, the host, the repository
and the request come from the job's environment. The token comes from
GITHUB_TOKEN, GITLAB_TOKEN or, for Azure Repos, SYSTEM_ACCESSTOKEN or
AZURE_DEVOPS_EXT_PAT, and is never written.`),
		Example: strings.TrimSpace(`
  tombolo preview --changed-since origin/main --output markdown > comment.md
  tombolo comment --file comment.md
  tombolo comment --file - --host github --repository acme/platform --number 7
  tombolo comment --file - --host azure --api-url https://dev.azure.com/acme \
    --repository platform/clusters --number 7`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := opts.check(); err != nil {
				return err
			}
			return factory.Run(cmd.Context(), opts, runF, commentRun)
		},
	}
	fs := cmd.Flags()
	kind := flags.NewEnum(&opts.Kind, host.Auto, host.OnGitHub, host.OnGitLab, host.OnAzure)
	fs.StringVar(&opts.File, "file", "", "the `file` with the comment; - is standard input")
	fs.StringVar(&opts.Key, "key", review.DefaultKey, "the `name` in the comment's marker, as in preview's --comment-key")
	fs.Var(kind, "host", "host of the request; auto takes it from the job's environment")
	fs.StringVar(&opts.URL, "api-url", "", "`URL` of the host's API, at Azure DevOps of the organization (default: GITHUB_API_URL, CI_API_V4_URL or SYSTEM_COLLECTIONURI)")
	fs.StringVar(&opts.Repository, "repository", "", "`name` of the repository, at Azure Repos with its project (default: GITHUB_REPOSITORY, CI_MERGE_REQUEST_PROJECT_ID, or SYSTEM_TEAMPROJECTID and BUILD_REPOSITORY_ID)")
	fs.IntVar(&opts.Number, "number", 0, "`number` of the request (default: GITHUB_EVENT_PATH, GITHUB_REF, CI_MERGE_REQUEST_IID or SYSTEM_PULLREQUEST_PULLREQUESTID)")
	fs.StringVar(&opts.Author, "author", "", "`name` of the account that owns the comment (default: the token's account)")
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
	return review.CheckKey("--key", o.Key)
}

func commentRun(ctx context.Context, o *Options) error {
	body, err := o.body()
	if err != nil {
		return err
	}
	request, err := o.Request("write comments")
	if err != nil {
		return err
	}
	p := o.place(request)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var did string
	err = o.Backoff.Do(ctx, func(err error) { o.Status().Doing("%v; trying again", err) }, func() (err error) {
		author := o.Author
		if author == "" {
			if author, err = request.Account(ctx, request.Kind); err != nil {
				return err
			}
		}
		did, err = upsert(ctx, p, author, review.Marker(o.Key), body)
		return err
	})
	if err != nil {
		return fault.NewPrecondition("post the comment", remedy(request, err), err)
	}
	o.Status().Done("the comment was %s", did)
	return nil
}

// remedy is what to do about a comment that could not be posted.
func remedy(r host.Request, err error) string {
	azure := host.AzureRemedy(err)
	switch {
	case r.Kind == host.OnAzure && azure != "":
		return azure
	case host.Refused(err) && r.Fork && r.Kind == host.OnGitHub:
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
		text, err = io.ReadAll(io.LimitReader(o.In, files.MostOfSettings))
	} else {
		file := o.File
		if !filepath.IsAbs(file) {
			file = filepath.Join(o.Dir, file)
		}
		text, err = files.ReadAny(file, files.MostOfSettings) // a shell may give a pipe
	}
	if err != nil {
		return "", fault.NewUsage(fmt.Sprintf("the comment cannot be read: %v", err), "name the file that preview wrote")
	}
	if !strings.HasPrefix(string(text), review.Marker(o.Key)+"\n") {
		return "", fault.NewUsage(fmt.Sprintf("%s does not begin with the marker of key %s", o.File, o.Key),
			"give --key as in preview's --comment-key")
	}
	return string(text), nil
}

// posted is a comment that is there.
type posted struct{ id, author, body string }

// place is where comments are.
type place interface {
	// comments on the request, the oldest first.
	comments(context.Context) ([]posted, error)
	create(ctx context.Context, body string) error
	update(ctx context.Context, id, body string) error
	remove(ctx context.Context, id string) error
}

// upsert makes or rewrites the author's comment that begins with the marker, and
// removes others that do: two jobs may have started at the same time. It says what
// it did.
func upsert(ctx context.Context, p place, author, marker, body string) (string, error) {
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
	if host.SameText(own[0].body, body) {
		return "left as it is", nil
	}
	return "rewritten", p.update(ctx, own[0].id, body)
}

// place is where the request's comments are.
func (o *Options) place(r host.Request) place {
	if r.Kind == host.OnAzure {
		return azure{r, o.Author != ""}
	}
	return newNotes(r)
}
