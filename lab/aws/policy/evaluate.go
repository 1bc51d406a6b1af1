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

// Inquiry is what policies are asked: may somebody do an action to a resource?
type Inquiry struct {
	Action, Resource string
	// Principals are all the names of the caller, by kind: AWS, Federated or
	// Service.
	Principals map[string][]string
	// Context are the values of the condition keys, in lower case.
	Context map[string][]string
}

// policyVariable is ${key} or ${key, 'default'}.
var policyVariable = regexp.MustCompile(`\$\{([^},]*)(?:,\s*'([^}]*)')?\}`)

// expand replaces the policy variables of a text by their values, and treats
// values and the text between them. It fails when a variable has no single
// value: then nothing matches. Source: "IAM policy elements: Variables and
// tags" in the IAM User Guide.
func (q Inquiry) expand(text string, between, value func(string) string) (string, bool) {
	var out strings.Builder
	end, ok := 0, true
	for _, m := range policyVariable.FindAllStringSubmatchIndex(text, -1) {
		key := text[m[2]:m[3]]
		out.WriteString(between(text[end:m[0]]))
		end = m[1]
		switch values := q.Context[strings.ToLower(key)]; {
		case key == "*", key == "?", key == "$":
			out.WriteString(value(key))
		case len(values) == 1:
			out.WriteString(value(values[0]))
		case m[4] >= 0:
			out.WriteString(value(text[m[4]:m[5]]))
		default:
			ok = false
		}
	}
	out.WriteString(between(text[end:]))
	return out.String(), ok
}

// wildcards makes a regular expression of a text with * and ?.
func wildcards(text string) string {
	return strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(text))
}

// like reports whether all of a text matches an expression.
func like(expression, text string) bool {
	r, err := regexp.Compile(`^(?s:` + expression + `)$`)
	return err == nil && r.MatchString(text)
}
