package preview

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/automation"
	"tombolo/automation/plan"
	"tombolo/automation/rollout"
	"tombolo/cmd/tombolo/cli/change"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/flags"
	"tombolo/cmd/tombolo/cli/fleet"
	"tombolo/cmd/tombolo/cli/result"
	"tombolo/cmd/tombolo/cli/review"
	"tombolo/cmd/tombolo/cli/webpage"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/internal/wording"
)

// Review has the options of a preview for reviewers.
type Review struct {
	// Key of the comment's marker.
	Key string
	// MaxSize of the comment, in bytes.
	MaxSize int
	// HTML is the file of the page with everything; "" for none.
	HTML string
	// ExitCode makes the exit code say whether anything changes.
	ExitCode bool
	// Plan is the file for the plan that people approve; "" for none. Its digest is
	// added to PlanOutput as DIGEST=<digest>, if that is not "".
	Plan, PlanOutput string
	change.Judge
}

func (o *Options) addFlags(cmd *cobra.Command, output *render.Format) {
	formats := flags.NewEnum(output, append(render.Formats(), render.Markdown)...)
	f := cmd.Flags()
	f.VarP(formats, "output", "o", "text, plain and json as everywhere; markdown is one comment for a pull request")
	factory.CompleteFlag(cmd, "output", formats.Values())
	f.StringVar(&o.Key, "comment-key", review.DefaultKey, "the `name` in the comment's marker; each name has a comment of its own")
	f.IntVar(&o.MaxSize, "max-size", review.GitHubSize, fmt.Sprintf("the longest comment in `bytes`; GitLab takes %d, Azure DevOps %d", review.GitLabSize, review.AzureSize))
	f.StringVar(&o.HTML, "html", "", "write everything into a `file`, as one page without external resources")
	f.BoolVar(&o.ExitCode, "exit-code", false, "exit with 11 when anything changes, with 12 when something of it is dangerous")
	f.StringVar(&o.Plan, "plan", "", "write the plan into a `file`, for up --plan")
	f.StringVar(&o.PlanOutput, "plan-output", "", "with --plan, add DIGEST=<digest> to a `file`, such as $GITHUB_OUTPUT")
	o.AddPolicyFlags(cmd)
}

// wanted says whether something asks for more than plans.
func (r *Review) wanted() bool { return r.HTML != "" || r.ExitCode || r.Policy != "" || r.Plan != "" }

func (r *Review) check(*cobra.Command, []string) error {
	switch {
	case r.PlanOutput != "" && r.Plan == "":
		return fault.NewUsage("--plan-output is used only with --plan", "pass --plan <file>")
	case r.MaxSize < review.LeastSize:
		return fault.NewUsage(fmt.Sprintf("--max-size is %d", r.MaxSize), fmt.Sprintf("give %d or more", review.LeastSize))
	}
	return review.CheckKey("--comment-key", r.Key)
}

// reviewRun previews, and judges what all clusters together would become.
func (o *Options) reviewRun(ctx context.Context) error {
	if o.Markdown() { // the comment alone is data
		o.Out = o.Streams.ErrOut
	}
	rules, err := o.Rules(ctx, o.Fleet)
	if err != nil {
		return err
	}
	all, err := o.Choose()
	if err != nil {
		return err
	}
	if err := o.warn(all); err != nil {
		return err
	}
	seen := &change.Collector{}
	set := plan.Set{Since: o.ChangedSince}
	failed := fleet.With(ctx, o.Fleet, change.Before(seen, o.Driver), func(s *fleet.Session[Driver]) error {
		if err := o.removed(ctx, s.Driver, &set); err != nil || len(all) == 0 {
			return err
		}
		return s.Run(ctx, all, fleet.Tasks{Work: func(ctx context.Context, t fleet.Terminal, c *config.Cluster) (rollout.Work, error) {
			r, err := s.Driver.Preview(ctx, c, automation.PreviewOptions{
				Refresh: o.Refresh, Plan: o.Plan != "", WithoutSecrets: o.WithoutSecrets,
			})
			seen.Finished(c.Name, r, err)
			if err != nil || o.Markdown() {
				return result.Work(r), err
			}
			return result.Work(r), o.write(t.Out, r, result.Plans(s.Progress, r))
		}})
	})
	if ctx.Err() != nil {
		return failed // an incomplete result is not used
	}
	seen.Gather(ctx, &set, o.Fleet, all)
	if o.WithoutSecrets && len(all) > 0 {
		set.Unseen = append(set.Unseen, "no secret was read: a change of one is not shown")
	}
	if err := rules.Judge(&set); err != nil {
		return err
	}
	if failed == nil && o.Plan != "" {
		if set.Digest, err = o.writePlan(seen.Plans(all)); err != nil {
			return err
		}
	}
	return o.conclude(set, failed)
}

// removed asks the backend what it has of clusters whose files are gone.
func (o *Options) removed(ctx context.Context, d Driver, set *plan.Set) error {
	if o.Changed == nil || len(o.Changed.Removed) == 0 {
		return nil
	}
	root, err := o.Root()
	if err != nil {
		return err
	}
	infos, err := d.List(ctx, filepath.Join(root, "clusters"))
	if err != nil {
		return fmt.Errorf("look for the stacks of removed cluster files: %w", err)
	}
	for _, file := range o.Changed.Removed {
		r := plan.Removed{File: file, Cluster: strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))}
		for _, info := range infos {
			if info.Name != r.Cluster {
				continue
			}
			for _, s := range info.Stacks {
				r.Stacks = append(r.Stacks, plan.Left{Name: s.Name, Resources: s.Resources})
			}
		}
		set.Removed = append(set.Removed, r)
	}
	return nil
}

// conclude writes the result, and returns the error for the exit code.
func (o *Options) conclude(set plan.Set, failed error) error {
	if o.Markdown() {
		comment := review.Comment(set, review.Options{Key: o.Key, MaxSize: o.MaxSize})
		if _, err := io.WriteString(o.Streams.Out, comment); err != nil {
			return fmt.Errorf("write the comment: %w", err)
		}
	}
	if o.HTML != "" {
		text, err := review.Page(set)
		if err == nil {
			err = webpage.Write(o.HTML, text)
		}
		if err != nil {
			return err
		}
		o.Status().Done("the page is in %s", o.HTML)
	}
	if failed != nil {
		return failed
	}
	return o.verdict(set)
}

// planFileDocument is the document of the plan's file in the JSON format.
type planFileDocument struct {
	Type   string `json:"type"`
	File   string `json:"file"`
	Digest string `json:"digest"`
}

// writePlan writes the plan that people approve, and returns its digest.
func (o *Options) writePlan(all []change.Planned) (string, error) {
	p, err := change.Plan(all, o.Refresh)
	if err != nil {
		return "", err
	}
	digest, err := p.Write(o.Plan)
	if err != nil {
		return "", err
	}
	if err := o.addDigest(digest); err != nil {
		return "", err
	}
	o.Status().Done("the plan is in %s: %s, digest %s", o.Plan, p.Summary(), digest)
	if !o.JSON() {
		return digest, nil
	}
	return digest, render.WriteJSON(o.Out, planFileDocument{Type: "plan-file", File: o.Plan, Digest: digest})
}

// addDigest tells later steps of a job the digest.
func (o *Options) addDigest(digest string) error {
	if o.PlanOutput == "" {
		return nil
	}
	f, err := os.OpenFile(o.PlanOutput, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(f, "DIGEST="+digest)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fault.NewPrecondition("the digest of the plan cannot be written", "make the file of --plan-output writable", err)
	}
	return nil
}

func (o *Options) verdict(set plan.Set) error {
	if err := change.Refuse(set); err != nil {
		return err
	}
	dangerous := len(set.Dangerous())
	switch {
	case !o.ExitCode || !set.Changes():
		return nil
	case dangerous > 0:
		return &fault.Error{Class: fault.Dangerous, Problem: "the change is dangerous in " + wording.Count(dangerous, "place")}
	}
	return &fault.Error{Class: fault.Changes, Problem: whatChanges(set)}
}

func whatChanges(set plan.Set) string {
	var parts []string
	if n := len(set.Changed()); n > 0 {
		parts = append(parts, wording.Count(n, "cluster")+" would change")
	}
	if n := len(set.Removed); n > 0 {
		parts = append(parts, wording.Count(n, "cluster file")+" removed")
	}
	return strings.Join(parts, ", ")
}
