package policy

import (
	"regexp"
	"strings"
)

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
