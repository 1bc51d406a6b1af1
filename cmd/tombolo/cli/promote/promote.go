// Package promote is the command tombolo promote: it opens the pull requests that promote branches
// of environments at Azure Repos, and moves the branches of those that are approved.
package promote

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tombolo/automation/promotion"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/host"
	"tombolo/cmd/tombolo/cli/treecheck"
	"tombolo/cmd/tombolo/render"
	"tombolo/internal/wording"
)

// Options of the command.
type Options struct {
	// Asked is the repository.
	host.Asked
	// Check compares the branches.
	Check *treecheck.Options

	In      io.Reader
	Backoff host.Backoff

	// Complete moves branches in place of opening requests.
	Complete bool
	// Approvals is how many people have to have voted for a request.
	Approvals int
	// TokenStdin reads the token from In.
	TokenStdin bool
}

// timeout bounds all calls together.
const timeout = 5 * time.Minute

// NewCmdPromote returns the command.
func NewCmdPromote(f *factory.Factory) *cobra.Command {
	opts := &Options{Asked: host.Asked{Lookup: f.Lookup}, Check: treecheck.NewOptions(f), In: f.Streams.In, Backoff: host.DefaultBackoff()}
	cmd := &cobra.Command{
		Use:   "promote [<tree> [<cluster or file>...]]",
		Short: "Promote branches of environments by pull requests at Azure Repos",
		Long: strings.TrimSpace(`
Open a pull request at Azure Repos for each promotion that check --promotion
finds: from the branch that one environment's clusters follow into that of the
next one. Its description says which commits, addons, apps and systems it brings.
If the request is open already, update its description. An open request that
brings nothing any more is abandoned.

With --complete, move each branch whose request is approved to the commit that
was approved. This is a fast-forward: no merge type of Azure Repos keeps all
commits as they are. The request must have the votes of --approvals people, none
against it, and all required policies of its branch met. Azure Repos moves the
branch only if it is still where it was compared.

The branches are those of the clone that <tree> is in, as it was last fetched. In
Azure Pipelines, the repository comes from the job's environment. The token comes
from SYSTEM_ACCESSTOKEN or AZURE_DEVOPS_EXT_PAT, or with --token-stdin from
standard input, and is never written.`),
		Example: strings.TrimSpace(`
  tombolo promote
  tombolo promote --complete --approvals 2
  tombolo promote ../platform --api-url https://dev.azure.com/acme \
    --repository platform/tree`),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				opts.Check.Tree, opts.Check.Names = args[0], args[1:]
			}
			switch {
			case opts.Approvals < 0:
				return fault.NewUsage(fmt.Sprintf("--approvals is %d", opts.Approvals), "give how many people have to approve a promotion, or 0")
			case cmd.Flags().Changed("approvals") && !opts.Complete:
				return fault.NewUsage("--approvals needs --complete", "add it, or leave --approvals out")
			}
			return promoteRun(cmd.Context(), opts)
		},
	}
	cmd.ValidArgsFunction = treecheck.Complete(f)
	fs := cmd.Flags()
	fs.BoolVar(&opts.Complete, "complete", false, "move the branches of the requests that are approved")
	fs.IntVar(&opts.Approvals, "approvals", 1, "with --complete, the `number` of people who may push and have voted for a request since its last change")
	fs.BoolVar(&opts.TokenStdin, "token-stdin", false, "read the token from standard input, such as Entra's for an identity that may move branches")
	fs.StringVar(&opts.Check.Remote, "remote", "", "compare the branches of this `remote` (default: origin)")
	fs.StringVar(&opts.URL, "api-url", "", "`URL` of the organization (default: SYSTEM_COLLECTIONURI)")
	fs.StringVar(&opts.Repository, "repository", "", "`name` of the repository with its project (default: SYSTEM_TEAMPROJECTID and BUILD_REPOSITORY_ID)")
	return cmd
}

// result is what came of a promotion.
type result struct {
	Type string `json:"type"` // promoted
	From string `json:"from"`
	To   string `json:"to"`
	// State is opened, updated, unchanged, moved, waiting, abandoned, none or diverged.
	State string `json:"state"`
	// Number and URL of the request; 0 and "" if there is none.
	Number int    `json:"number,omitempty"`
	URL    string `json:"url,omitempty"`
	// Waits is what a request lacks.
	Waits []string `json:"waits,omitempty"`
}

func promoteRun(ctx context.Context, o *Options) error {
	token, err := o.token()
	if err != nil {
		return err
	}
	steps, err := o.Check.Promotions(ctx)
	if err != nil {
		return err
	}
	may := "contribute to pull requests"
	if o.Complete {
		may += ", contribute to the branches, and bypass policies when pushing"
	}
	r, err := o.AzureRepository(token, may)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for _, s := range steps {
		var did result
		err := o.Backoff.Do(ctx, func(err error) { o.Check.Status().Doing("%v; trying again", err) }, func() (err error) {
			did, err = o.step(ctx, r, s)
			return err
		})
		if err != nil {
			return fault.NewPrecondition(fmt.Sprintf("promote %s to %s", s.From.Name, s.To.Name), remedy(err), err)
		}
		if err := o.say(s, did); err != nil {
			return err
		}
	}
	return treecheck.Diverged(steps)
}

// token is that of standard input; "" for that of the environment.
func (o *Options) token() (string, error) {
	if !o.TokenStdin {
		return "", nil
	}
	line, err := bufio.NewReader(io.LimitReader(o.In, 1<<16)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the token from standard input: %w", err)
	}
	if line = strings.TrimSpace(line); line == "" {
		return "", fault.NewPrecondition("standard input has no token", "look at what the command before the pipe says", nil)
	}
	return line, nil
}

// step does what is to do for one promotion. It can be done again.
func (o *Options) step(ctx context.Context, r host.Request, s promotion.Step) (result, error) {
	did := result{Type: "promoted", From: s.From.Name, To: s.To.Name, State: "none"}
	if s.Diverged() {
		did.State = "diverged"
		return did, nil
	}
	pull, err := r.FindPull(ctx, s.From.Name, s.To.Name)
	if err != nil {
		return did, err
	}
	if pull == nil && !s.Same() && !o.Complete {
		pull, err = r.OpenPull(ctx, s.From.Name, s.To.Name, title(s), text(s))
		if err != nil {
			return did, err
		}
		did.State, did.Number, did.URL = "opened", pull.Number, pull.Page()
		return did, nil
	}
	if pull == nil {
		return did, nil
	}
	did.Number, did.URL = pull.Number, pull.Page()
	switch {
	case o.Complete && s.Same():
		return did, nil
	case o.Complete:
		did.State, did.Waits, err = o.complete(ctx, pull, s)
	case s.Same():
		did.State, err = abandon(ctx, pull, s)
	default:
		did.State, err = update(ctx, pull, s)
	}
	return did, err
}

func title(s promotion.Step) string { return fmt.Sprintf("Promote %s to %s", s.From.Name, s.To.Name) }

// completion is what every description ends with.
const completion = "\n`tombolo promote --complete` completes this request when it is approved, by a fast-forward. Do not use a button: each makes commits that the other branches do not have.\n"

func text(s promotion.Step) string {
	return treecheck.PromotionText(s, host.AzureText-len(completion)) + completion
}

// update has the request say what it brings now. What somebody else has written stays.
func update(ctx context.Context, pull *host.Pull, s promotion.Step) (string, error) {
	if !treecheck.IsPromotionText(pull.Text) || pull.Title == title(s) && host.SameText(pull.Text, text(s)) {
		return "unchanged", nil
	}
	return "updated", pull.Update(ctx, title(s), text(s))
}

// abandon closes a request that brings nothing: its commits came to the target in another way, such
// as by --complete. One whose source has moved on since the fetch is kept.
func abandon(ctx context.Context, pull *host.Pull, s promotion.Step) (string, error) {
	if !treecheck.IsPromotionText(pull.Text) || pull.Head != s.From.Commit {
		return "unchanged", nil
	}
	return "abandoned", pull.Abandon(ctx)
}

// complete moves the branch to the commit that was approved, if it was, and else says what it waits for.
func (o *Options) complete(ctx context.Context, pull *host.Pull, s promotion.Step) (string, []string, error) {
	approve, against, err := pull.Voters(ctx)
	if err != nil {
		return "", nil, err
	}
	unmet, err := pull.UnmetPolicies(ctx)
	if err != nil {
		return "", nil, err
	}
	var waits []string
	if pull.Draft {
		waits = append(waits, "it is a draft")
	}
	if pull.Head != s.From.Commit {
		waits = append(waits, s.From.Name+" has moved on since it was fetched")
	}
	if len(approve) < o.Approvals {
		waits = append(waits, fmt.Sprintf("%s of %d", wording.Count(len(approve), "approval"), o.Approvals))
	}
	for _, name := range against {
		waits = append(waits, name+" is against it")
	}
	for _, policy := range unmet {
		waits = append(waits, "the policy "+policy)
	}
	if len(waits) > 0 {
		return "waiting", waits, nil
	}
	return "moved", nil, pull.MoveBranch(ctx, s.To.Name, s.To.Commit, s.From.Commit)
}

// say tells what was done.
func (o *Options) say(s promotion.Step, did result) error {
	if o.Check.JSON() {
		return render.WriteJSON(o.Check.Out, did)
	}
	between, status := fmt.Sprintf("pull request %d from %s to %s", did.Number, s.From.Name, s.To.Name), o.Check.Status()
	switch {
	case did.State == "diverged": // the error says it
	case did.Number == 0 && s.Same():
		status.Done("%s and %s are at the same commit", s.From.Name, s.To.Name)
	case did.Number == 0:
		status.Doing("there is no pull request from %s to %s; `tombolo promote` opens it", s.From.Name, s.To.Name)
	case did.State == "waiting":
		status.Doing("%s waits: %s", between, strings.Join(did.Waits, "; "))
	case did.State == "moved":
		status.Done("%s is at commit %s of %s, by %s", s.To.Name, s.From.Commit, s.From.Name, between)
	case did.State == "none":
		status.Done("%s and %s are at the same commit; `tombolo promote` closes the %s", s.From.Name, s.To.Name, between)
	default:
		status.Done("%s: %s, %s", between, did.State, did.URL)
	}
	return nil
}

// remedy is what to do about a failure.
func remedy(err error) string {
	if refused := new(host.NotMovedError); errors.As(err, &refused) {
		return refused.Remedy()
	}
	if azure := host.AzureRemedy(err); azure != "" {
		return azure
	}
	if errors.As(err, new(*host.Error)) {
		return "look whether the organization and the repository are right, and whether the token may contribute to pull requests"
	}
	return "look whether Azure DevOps can be reached from here"
}
