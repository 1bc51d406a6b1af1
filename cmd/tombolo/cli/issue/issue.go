// Package issue is the command tombolo issue.
package issue

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/host"
	"tombolo/cmd/tombolo/render"
	"tombolo/internal/file"
)

// Options of the command.
type Options struct {
	Status func() render.Status
	Host   func() (Host, error)
	// Backoff with a host that cannot answer.
	Backoff host.Backoff

	// File has the issue's text, in Markdown.
	File string
	// Key tells the issue from others.
	Key string
	// Title of a new issue.
	Title string
	// Type of the work item at Azure DevOps.
	Type string
}

// defaultType is a type of work items that each process of Azure DevOps has, and whose
// form shows the description. Source:
// learn.microsoft.com/azure/devops/boards/work-items/guidance/choose-process.
const defaultType = "Task"

// keys are what a marker in an issue's text may hold.
var keys = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// NewCmdIssue returns the command.
func NewCmdIssue(f *factory.Factory) *cobra.Command {
	opts := &Options{Status: f.Status, Backoff: host.DefaultBackoff()}
	opts.Host = func() (Host, error) { return opts.hostOf(f.Lookup) }
	cmd := &cobra.Command{
		Use:   "issue",
		Short: "Open, update or close an issue at GitHub, GitLab or Azure DevOps",
		Long: strings.TrimSpace(`
Open an issue with the text of a file. If an issue with the same key is open,
update its text instead, unless it is the same. An empty file closes the issue.

In GitHub Actions, the repository is the workflow's repository. The token is
GITHUB_TOKEN, and must be allowed to write issues. In GitLab CI, the project is
the pipeline's project. The token is GITLAB_TOKEN, with the scope api. In Azure
Pipelines, the issue is a work item of the pipeline's project, with the tag
tombolo-<key>. The token is SYSTEM_ACCESSTOKEN, and the build service must be
allowed to edit work items.`),
		Example: strings.TrimSpace(`
  tombolo drift --all --report drift.md
  tombolo issue --file drift.md --key drift --title Drift`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !keys.MatchString(opts.Key) {
				return fault.NewUsage(fmt.Sprintf("--key is %q", opts.Key), "give a word in small letters, such as drift")
			}
			return issueRun(cmd.Context(), opts)
		},
	}
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	cmd.Flags().StringVar(&opts.File, "file", "", "`file` with the issue's text, in Markdown; an empty one closes the issue")
	cmd.Flags().StringVar(&opts.Key, "key", "", "`word` that identifies the issue")
	cmd.Flags().StringVar(&opts.Title, "title", "", "`title` of a new issue")
	cmd.Flags().StringVar(&opts.Type, "work-item-type", defaultType, "`type` of the work item at Azure DevOps")
	for _, name := range []string{"file", "key", "title"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // a flag that is not defined above
		}
	}
	return cmd
}

func issueRun(ctx context.Context, o *Options) error {
	text, err := file.ReadAny(o.File, file.MostOfSettings) // a shell may give a pipe
	if err != nil {
		return fault.NewPrecondition("the issue's text cannot be read", "write it with `tombolo drift --report`", err)
	}
	place, err := o.Host()
	if err != nil {
		return err
	}
	var did string
	err = o.Backoff.Do(ctx, func(err error) { o.Status().Doing("%v; trying again", err) }, func() (err error) {
		did, err = o.keep(ctx, place, string(text))
		return err
	})
	if err != nil {
		return err
	}
	o.Status().Done("%s", did)
	return nil
}

// keep makes the issue say the text, and says what it did. It can be done again.
func (o *Options) keep(ctx context.Context, place Host, text string) (string, error) {
	marker := fmt.Sprintf("<!-- tombolo issue %s -->", o.Key)
	open, err := place.Find(ctx, marker)
	if err != nil {
		return "", fmt.Errorf("looking for the issue %s: %w", o.Key, err)
	}
	body := marker + "\n" + text
	empty := strings.TrimSpace(text) == ""
	switch {
	case empty && open == nil:
		return fmt.Sprintf("there is no issue %s, and nothing to say", o.Key), nil
	case empty:
		if err := place.Close(ctx, *open); err != nil {
			return "", fmt.Errorf("closing the issue %s: %w", o.Key, err)
		}
		return "closed " + open.URL, nil
	case open == nil:
		opened, err := place.Open(ctx, o.Title, body)
		if err != nil {
			return "", fmt.Errorf("opening the issue %s: %w", o.Key, err)
		}
		return "opened " + opened.URL, nil
	case place.Says(*open, body):
		return open.URL + " says so already", nil
	}
	if err := place.Update(ctx, *open, body); err != nil {
		return "", fmt.Errorf("updating the issue %s: %w", o.Key, err)
	}
	return "updated " + open.URL, nil
}
