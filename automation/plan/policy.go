package plan

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"tombolo/config"
)

// approvalsOf is how many people must approve what needs a second approval.
const approvalsOf = 2

// Approvals are how many people have approved what changes a cluster.
type Approvals func(cluster string) (int, error)

// Judge has the policy judge the change. Approvals are asked for the clusters alone that a rule
// is about, each of which needs them. A rule that nothing matches has no verdict.
func (s *Set) Judge(p *config.Policy, approvals Approvals) error {
	s.Policy = path.Base(p.File)
	for _, rule := range p.Rules {
		v := Verdict{Rule: rule.Name, Reason: rule.Reason, Decision: rule.Decision, Met: rule.Decision == config.SecondApproval}
		clusters, err := v.match(*s, rule.Match)
		if err != nil {
			return fmt.Errorf("rule %s of %s: %w", rule.Name, p.File, err)
		}
		for _, cluster := range clusters {
			if !v.Met {
				break
			}
			n, err := approvals(cluster)
			if err != nil {
				return err
			}
			v.Met = n >= approvalsOf
		}
		if len(v.Matches) > 0 {
			s.Verdicts = append(s.Verdicts, v)
		}
	}
	return nil
}

// Unmet are the verdicts by which the change may not go on.
func (s Set) Unmet() []Verdict {
	return slices.DeleteFunc(slices.Clone(s.Verdicts), func(v Verdict) bool { return v.Met })
}

// match adds what a rule is about to its verdict, and returns the clusters that have it.
func (v *Verdict) match(s Set, m config.PolicyMatch) (clusters []string, err error) {
	selector, err := labels.Parse(m.Clusters)
	if err != nil {
		return nil, fmt.Errorf("selector %q: %w", m.Clusters, err)
	}
	for _, c := range s.Clusters {
		if !selector.Matches(labels.Set(c.Labels)) && (c.LabelsBefore == nil || !selector.Matches(labels.Set(c.LabelsBefore))) {
			continue
		}
		before := len(v.Matches)
		for _, stack := range c.Stacks {
			for _, r := range stack.Resources {
				if isMatch(m, r) {
					v.Matches = append(v.Matches, fmt.Sprintf("%s: %s %s %s", c.Name, r.Op, r.Type, r.Name))
				}
			}
		}
		if len(v.Matches) > before {
			clusters = append(clusters, c.Name)
		}
	}
	return clusters, nil
}

func isMatch(m config.PolicyMatch, r Resource) bool {
	danger := len(m.Dangers) == 0 || slices.Contains(m.Dangers, string(r.Danger)) ||
		r.Danger != "" && slices.Contains(m.Dangers, config.AnyDanger)
	op := len(m.Operations) == 0 || slices.Contains(m.Operations, string(r.Op))
	return danger && op && (len(m.Types) == 0 || slices.ContainsFunc(m.Types, func(pattern string) bool { return like(pattern, r.Type) }))
}

// like says whether a token fits a pattern, in which * is anything, slashes too.
func like(pattern, token string) bool {
	parts := strings.Split(pattern, "*")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(token)
}
