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

// Judge has the policy judge the change, which so many people have approved. A
// rule that nothing matches has no verdict.
func (s *Set) Judge(p *config.Policy, approvals int) error {
	s.Policy = path.Base(p.File)
	for _, rule := range p.Rules {
		v := Verdict{
			Rule: rule.Name, Reason: rule.Reason, Decision: rule.Decision,
			Met: rule.Decision == config.SecondApproval && approvals >= approvalsOf,
		}
		var err error
		if v.Matches, err = s.matches(rule.Match); err != nil {
			return fmt.Errorf("rule %s of %s: %w", rule.Name, p.File, err)
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

func (s Set) matches(m config.PolicyMatch) ([]string, error) {
	selector, err := labels.Parse(m.Clusters)
	if err != nil {
		return nil, fmt.Errorf("selector %q: %w", m.Clusters, err)
	}
	var out []string
	for _, c := range s.Clusters {
		if !selector.Matches(labels.Set(c.Labels)) {
			continue
		}
		for _, stack := range c.Stacks {
			for _, r := range stack.Resources {
				if isMatch(m, r) {
					out = append(out, fmt.Sprintf("%s: %s %s %s", c.Name, r.Op, r.Type, r.Name))
				}
			}
		}
	}
	return out, nil
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
