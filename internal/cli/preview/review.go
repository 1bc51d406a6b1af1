package preview

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/spf13/cobra"

	"tombolo/automation"
	"tombolo/automation/cloud"
	"tombolo/automation/plan"
	"tombolo/automation/rollout"
	"tombolo/config"
	"tombolo/internal/cli/factory"
	"tombolo/internal/cli/fault"
	"tombolo/internal/cli/flags"
	"tombolo/internal/cli/fleet"
	"tombolo/internal/cli/result"
	"tombolo/internal/cli/review"
	"tombolo/internal/cli/webpage"
	"tombolo/internal/render"
	"tombolo/internal/wording"
	"tombolo/stacks"
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
	// Approvals that the change has.
	Approvals Approvals
	// Policy is the policy file. Default: config.PolicyFile in the project's
	// directory, if it is there; as it was at the commit of --changed-since, for a
	// change is judged by the policy that it finds, and not by its own.
	Policy string
}

// DefaultKey is the key of a comment when none is given.
const DefaultKey = "preview"

func (o *Options) addFlags(cmd *cobra.Command, output *render.Format) {
	formats := flags.NewEnum(output, append(render.Formats(), render.Markdown)...)
	f := cmd.Flags()
	f.VarP(formats, "output", "o", "text, plain and json as everywhere; markdown is one comment for a pull request")
	factory.CompleteFlag(cmd, "output", formats.Values())
	f.StringVar(&o.Key, "comment-key", DefaultKey, "the `name` in the comment's marker; each name has a comment of its own")
	f.IntVar(&o.MaxSize, "max-size", review.GitHubSize, "the longest comment in `bytes`; GitLab takes 1000000")
	f.StringVar(&o.HTML, "html", "", "write everything into a `file`, as one page without external resources")
	f.BoolVar(&o.ExitCode, "exit-code", false, "exit with 11 when anything changes, with 12 when something of it is dangerous")
	f.Var(&o.Approvals, "approvals", "how many `people` have approved the change, for the policy; auto asks the Git host, in a job for the request")
	f.StringVar(&o.Policy, "policy", "", "the policy `file` (default: the project's "+config.PolicyFile+", as it was at the commit of --changed-since)")
}

// wanted says whether something asks for more than plans.
func (r Review) wanted() bool { return r.HTML != "" || r.ExitCode || r.Policy != "" }

// keyPattern keeps a key from ending the marker that it is in.
var keyPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// CheckKey says what is wrong with the key of a comment.
func CheckKey(flag, key string) error {
	if !keyPattern.MatchString(key) || strings.Contains(key, "--") {
		return fault.NewUsage(fmt.Sprintf("%s is %q", flag, key), "use letters, digits and single . _ - in it")
	}
	return nil
}

func (r Review) check() error {
	switch {
	case r.MaxSize < review.LeastSize:
		return fault.NewUsage(fmt.Sprintf("--max-size is %d", r.MaxSize), fmt.Sprintf("give %d or more", review.LeastSize))
	}
	return CheckKey("--comment-key", r.Key)
}

// reviewRun previews, and judges what all clusters together would become.
func (o *Options) reviewRun(ctx context.Context) error {
	if o.Markdown() { // the comment alone is data
		o.Out = o.Streams.ErrOut
	}
	policy, err := o.policy(ctx)
	if err != nil {
		return err
	}
	approvals := 0
	if policy != nil { // otherwise no rule needs them
		if approvals, err = o.approvals(ctx); err != nil {
			return err
		}
	}
	all, err := o.Choose()
	if err != nil {
		return err
	}
	seen := &collector{readers: map[string]*plan.Reader{}}
	set := plan.Set{Since: o.ChangedSince}
	failed := fleet.With(ctx, o.Fleet, seen.before(o.Driver), func(s *fleet.Session[Driver]) error {
		if err := o.removed(ctx, s.Driver, &set); err != nil || len(all) == 0 {
			return err
		}
		return s.Run(ctx, all, fleet.Tasks{Work: func(ctx context.Context, t fleet.Terminal, c *config.Cluster) (rollout.Work, error) {
			r, err := s.Driver.Preview(ctx, c, automation.PreviewOptions{Refresh: o.Refresh})
			seen.finished(c.Name, r, err)
			if err != nil || o.Markdown() {
				return result.Work(r), err
			}
			return result.Work(r), o.write(t.Out, r, result.Plans(s.Progress, r))
		}})
	})
	if ctx.Err() != nil {
		return failed // an incomplete result is not used
	}
	o.gather(&set, all, seen)
	if policy != nil {
		if err := set.Judge(policy, approvals); err != nil {
			return err
		}
	}
	return o.conclude(set, failed)
}

// policy is the policy for the change; nil without one.
func (o *Options) policy(ctx context.Context) (*config.Policy, error) {
	if o.Policy == "" && o.ChangedSince != "" {
		text, found, err := o.FileAtBase(ctx, config.PolicyFile)
		if err != nil || !found {
			return nil, err
		}
		return config.ParsePolicy(config.PolicyFile, []byte(text))
	}
	file := o.Policy
	if file == "" {
		root, err := o.Root()
		if err != nil {
			return nil, err
		}
		file = filepath.Join(root, config.PolicyFile)
	}
	p, err := config.LoadPolicy(file)
	if errors.Is(err, fs.ErrNotExist) {
		if o.Policy == "" {
			return nil, nil
		}
		return nil, fault.NewUsage(fmt.Sprintf("--policy %s: there is no such file", o.Policy), "name the policy file")
	}
	return p, err
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

// gather puts what was seen of each cluster into the set.
func (o *Options) gather(set *plan.Set, all []*config.Cluster, seen *collector) {
	for _, c := range all {
		cluster := plan.Cluster{Name: c.Name, Wave: c.Wave, Labels: c.RegistrationLabels(), Secrets: c.SecretUses(), Err: seen.errorOf(c.Name)}
		if o.Changed != nil {
			for _, reason := range o.Changed.Clusters[c.Name] {
				cluster.Reasons = append(cluster.Reasons, reason.String())
			}
		}
		for _, k := range stacks.Kinds() {
			if s, ok := seen.stack(c, k); ok {
				cluster.Stacks = append(cluster.Stacks, s)
			}
		}
		cluster.Settle()
		cluster.Trace()
		set.Clusters = append(set.Clusters, cluster)
	}
	set.Unchanged = o.Unchanged
	set.Sort()
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

func (o *Options) verdict(set plan.Set) error {
	if unmet := set.Unmet(); len(unmet) > 0 {
		names := make([]string, len(unmet))
		for i, v := range unmet {
			names[i] = fmt.Sprintf("%s (%s)", v.Rule, v.Decision)
		}
		return &fault.Error{
			Class: fault.Policy, Problem: fmt.Sprintf("%s does not let the change pass: %s", set.Policy, strings.Join(names, ", ")),
			Remedy: "change what the rules are about, or run again when two people have approved what they may: with --approvals auto, or 2",
		}
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

// collector gathers what previews say, stack by stack.
type collector struct {
	automation.Observer
	mu      sync.Mutex
	readers map[string]*plan.Reader
	results map[string]automation.Result
	errs    map[string]string
}

// before has the collector see events before the driver's observer does.
func (c *collector) before(open func(context.Context, automation.Observer) (Driver, error)) func(context.Context, automation.Observer) (Driver, error) {
	c.results, c.errs = map[string]automation.Result{}, map[string]string{}
	return func(ctx context.Context, o automation.Observer) (Driver, error) {
		c.Observer = o
		return open(ctx, c)
	}
}

// StackStarted forgets the events of an earlier attempt.
func (c *collector) StackStarted(stack, operation string) {
	c.mu.Lock()
	c.readers[stack] = &plan.Reader{}
	c.mu.Unlock()
	c.Observer.StackStarted(stack, operation)
}

// EngineEvent reads the event, and passes it on.
func (c *collector) EngineEvent(stack string, e events.EngineEvent) {
	c.mu.Lock()
	if c.readers[stack] == nil {
		c.readers[stack] = &plan.Reader{}
	}
	c.readers[stack].Read(e)
	c.mu.Unlock()
	c.Observer.EngineEvent(stack, e)
}

func (c *collector) finished(cluster string, r automation.Result, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.results[cluster] = r
	if err != nil {
		c.errs[cluster] = err.Error()
	}
}

// errorOf says why the preview of a cluster is incomplete; "" when it is not.
func (c *collector) errorOf(cluster string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.results[cluster]; !ok {
		return "it was not previewed"
	}
	return c.errs[cluster]
}

func (c *collector) stack(of *config.Cluster, k stacks.Kind) (plan.Stack, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := stacks.Name(of.Name, k)
	reader := c.readers[name]
	if reader == nil {
		return plan.Stack{}, false
	}
	s := reader.Stack(cloud.Of(of, nil), name, string(k))
	if r, ok := c.results[of.Name].Stack(k); ok {
		s.Placeholders = r.Placeholders
	}
	return s, true
}
