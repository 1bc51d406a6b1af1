package policy

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// Verdict of policies. Source: "Policy evaluation logic" in the IAM User Guide.
type Verdict int

const (
	// silent policies say nothing to the case, which does not allow it.
	silent Verdict = iota
	// Allowed by a statement, and denied by none.
	Allowed
	// denied by a statement: nothing can allow it.
	denied
)

// Judge asks policy documents. One denial is stronger than any other statement.
func (q Inquiry) Judge(kind Kind, documents ...string) Verdict {
	result := silent
	for _, text := range documents {
		var d Document
		if Decode([]byte(text), &d) != nil {
			continue // refused when it was written
		}
		for _, s := range d.Statement {
			if !q.concerns(kind, s) {
				continue
			}
			if s.Effect == "Deny" {
				return denied
			}
			result = Allowed
		}
	}
	return result
}

// concerns reports whether a statement is about what is asked.
func (q Inquiry) concerns(kind Kind, s Statement) bool {
	if !chosen(s.Action, s.NotAction, q.matchesAction) || !q.meets(s.Condition) {
		return false
	}
	if kind == Trust {
		return q.named(s)
	}
	return chosen(s.Resource, s.NotResource, q.matchesResource)
}

// chosen reports whether something is among what a statement names, or not
// among what it leaves out.
func chosen(named, leftOut []string, matches func(string) bool) bool {
	if len(named) > 0 {
		return slices.ContainsFunc(named, matches)
	}
	return !slices.ContainsFunc(leftOut, matches)
}

func (q Inquiry) matchesAction(pattern string) bool {
	return like(wildcards(strings.ToLower(pattern)), strings.ToLower(q.Action))
}

func (q Inquiry) matchesResource(pattern string) bool {
	expression, ok := q.expand(pattern, wildcards, regexp.QuoteMeta)
	return ok && like(expression, q.Resource)
}

// named reports whether the caller is among a statement's principals.
func (q Inquiry) named(s Statement) bool {
	if s.Principal != nil {
		return q.among(s.Principal)
	}
	return !q.among(s.NotPrincipal)
}

func (q Inquiry) among(raw json.RawMessage) bool {
	var all string
	if json.Unmarshal(raw, &all) == nil {
		return all == "*"
	}
	var kinds map[string]OneOrMany
	if json.Unmarshal(raw, &kinds) != nil {
		return false
	}
	for kind, names := range kinds {
		if slices.ContainsFunc(names, func(name string) bool {
			return slices.Contains(q.Principals[kind], name) || kind == "AWS" && name == "*" && len(q.Principals[kind]) > 0
		}) {
			return true
		}
	}
	return false
}
