package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/automation/inputs"
	"tombolo/automation/plan"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/fleet"
	"tombolo/config"
)

// Judge has the policy judge a change. Commands embed it in their options.
type Judge struct {
	// Lookup reads a variable of the environment.
	Lookup func(string) (string, bool)
	// Approvals that the change has.
	Approvals Approvals
	// Policy is the policy file. Default: config.PolicyFile in the project's
	// directory, if it is there; as it was at the commit of --changed-since, for a
	// change is judged by the policy that it finds, and not by its own.
	Policy string
	// Brought finds the commits that have brought what an apply changes of a cluster; nil where
	// nothing is applied.
	Brought func(ctx context.Context, cluster string) (inputs.Line, error)
	// Applied is the commit that was applied to a cluster last, "" where none is known; nil where
	// nothing is applied.
	Applied func(ctx context.Context, cluster string) (string, error)
}

// AddPolicyFlags adds the flags.
func (j *Judge) AddPolicyFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(&j.Approvals, "approvals", "how many `people` have approved the change, for the policy; auto asks the Git host, about the job's request or about each one that an up applies")
	f.StringVar(&j.Policy, "policy", "", "the policy `file` (default: the project's "+config.PolicyFile+", as it was at the commit of --changed-since)")
}

// Rules are a policy with the number of people who have approved the change. Without a
// policy everything passes.
type Rules struct {
	policy    *config.Policy
	approvals plan.Approvals
	before    func(cluster string) (map[string]string, error)
}

// Rules reads the policy. The approvals are asked for when a rule needs them.
func (j *Judge) Rules(ctx context.Context, f *fleet.Fleet) (Rules, error) {
	var r Rules
	var err error
	if r.policy, err = j.policy(ctx, f); err != nil || r.policy == nil { // then no rule needs approvals
		return r, err
	}
	r.approvals = j.approvals(ctx, f.Status())
	r.before = func(cluster string) (map[string]string, error) { return j.labelsBefore(ctx, f, cluster) }
	return r, nil
}

// labelsBefore are the labels that a cluster had before the change; nil where that is not known.
func (j *Judge) labelsBefore(ctx context.Context, f *fleet.Fleet, cluster string) (map[string]string, error) {
	ref := f.ChangedSince
	if j.Applied != nil {
		var err error
		if ref, err = j.Applied(ctx, cluster); err != nil {
			return nil, err
		}
	}
	if ref == "" {
		return nil, nil
	}
	root, err := f.Root()
	if err != nil {
		return nil, err
	}
	labels, err := inputs.LabelsAt(ctx, inputs.Options{Root: root, Ref: ref}, cluster)
	if err != nil && j.Applied != nil && !j.Approvals.Auto {
		return nil, nil //nolint:nilerr // whoever passes a number may have a shallow clone
	}
	return labels, err
}

// Judge adds the verdicts to the change.
func (r Rules) Judge(set *plan.Set) error {
	if r.policy == nil {
		return nil
	}
	chosen := slices.ContainsFunc(r.policy.Rules, func(rule config.PolicyRule) bool { return rule.Match.Clusters != "" })
	for i := range set.Clusters {
		c := &set.Clusters[i]
		if !chosen || !slices.ContainsFunc(c.Stacks, func(s plan.Stack) bool { return len(s.Resources) > 0 }) {
			continue // no rule asks for labels
		}
		var err error
		if c.LabelsBefore, err = r.before(c.Name); err != nil {
			return err
		}
	}
	return set.Judge(r.policy, r.approvals)
}

// Refuse is the error of a change that the policy does not let pass; nil of another.
func Refuse(set plan.Set) error {
	unmet := set.Unmet()
	if len(unmet) == 0 {
		return nil
	}
	names := make([]string, len(unmet))
	for i, v := range unmet {
		names[i] = fmt.Sprintf("%s (%s)", v.Rule, v.Decision)
	}
	return &fault.Error{
		Class: fault.Policy, Problem: fmt.Sprintf("%s does not let the change pass: %s", set.Policy, strings.Join(names, ", ")),
		Remedy: "change what the rules are about, or run again when two people have approved what they may: with --approvals auto, or 2",
	}
}

// policy is the policy for the change; nil without one.
func (j *Judge) policy(ctx context.Context, f *fleet.Fleet) (*config.Policy, error) {
	if j.Policy == "" && f.ChangedSince != "" {
		text, found, err := f.FileAtBase(ctx, config.PolicyFile)
		if err != nil || !found {
			return nil, err
		}
		return config.ParsePolicy(config.PolicyFile, []byte(text))
	}
	file := j.Policy
	if file == "" {
		root, err := f.Root()
		if err != nil {
			return nil, err
		}
		file = filepath.Join(root, config.PolicyFile)
	}
	p, err := config.LoadPolicy(file)
	if errors.Is(err, fs.ErrNotExist) {
		if j.Policy == "" {
			return nil, nil
		}
		return nil, fault.NewUsage(fmt.Sprintf("--policy %s: there is no such file", j.Policy), "name the policy file")
	}
	return p, err
}
