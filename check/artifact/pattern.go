package artifact

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"tombolo/check/tree"
)

// capture is a part of a pathPattern, and where an artifact uses it.
var capture = regexp.MustCompile(`\{([^{}]*)\}`)

var captureName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Render returns the artifacts: those of the spec, or of each directory that its pathPattern matches.
func (s Spec) Render(sources map[string]*tree.Files) ([]Output, *Problem) {
	if s.PathPattern == "" {
		return s.Outputs, nil
	}
	alias, pattern, _ := strings.Cut(strings.TrimPrefix(s.PathPattern, "@"), "/")
	wrong := func(format string, args ...any) *Problem {
		return &Problem{[]string{"spec", "pathPattern"}, s.PathPattern, fmt.Sprintf(format, args...), "correct it, or the directories: none of the artifacts is made"}
	}
	matcher, names, err := compile(pattern)
	if err != nil || sources[alias] == nil {
		return nil, wrong("pathPattern cannot be read: %v", err)
	}
	var out []Output
	for _, dir := range sources[alias].Dirs() {
		m := matcher.FindStringSubmatch(dir)
		if m == nil {
			continue
		}
		raw, lower := map[string]string{}, map[string]string{}
		for i, name := range names {
			raw[name], lower[name] = m[i+1], strings.ToLower(m[i+1])
			if len(validation.IsValidLabelValue(lower[name])) > 0 {
				return nil, wrong("pathPattern matches %s, and %q cannot be the value of a label", dir, m[i+1])
			}
		}
		for _, o := range s.Outputs {
			rendered, missing := o.render(raw, lower)
			if missing != nil {
				return nil, missing
			}
			if len(validation.IsDNS1123Subdomain(rendered.Name)) > 0 {
				return nil, wrong("pathPattern matches %s, and %q is no name of an object", dir, rendered.Name)
			}
			if slices.ContainsFunc(out, func(other Output) bool { return other.Name == rendered.Name }) {
				return nil, wrong("two directories give the artifact %q, one of them %s", rendered.Name, dir)
			}
			out = append(out, rendered)
		}
	}
	return out, nil
}

// compile returns what matches directories, and the names of its parts in their order.
func compile(pattern string) (*regexp.Regexp, []string, error) {
	var names []string
	for _, m := range capture.FindAllStringSubmatch(pattern, -1) {
		if !captureName.MatchString(m[1]) || slices.Contains(names, m[1]) {
			return nil, nil, fmt.Errorf("%q is no name for a part, or is there twice", m[1])
		}
		names = append(names, m[1])
	}
	literal := capture.Split(pattern, -1)
	for i, text := range literal {
		if strings.ContainsAny(text, "{}") {
			return nil, nil, fmt.Errorf("a bracket of %q has no other", pattern)
		}
		literal[i] = regexp.QuoteMeta(text)
	}
	matcher, err := regexp.Compile("^" + strings.Join(literal, "([^/]+)") + "$")
	return matcher, names, err
}

// render puts what was matched into an artifact: in lower case into its name, as it is into its paths.
func (o Output) render(raw, lower map[string]string) (Output, *Problem) {
	out, missing := o, ""
	put := func(text string, values map[string]string) string {
		return capture.ReplaceAllStringFunc(text, func(part string) string {
			value, ok := values[strings.Trim(part, "{}")]
			if !ok {
				missing = part
			}
			return value
		})
	}
	out.Name = put(o.Name, lower)
	out.Copy = slices.Clone(o.Copy)
	for i, op := range o.Copy {
		out.Copy[i].From, out.Copy[i].To, out.Copy[i].written = put(op.From, raw), put(op.To, raw), op.From
	}
	if missing != "" {
		return out, &Problem{[]string{"spec", "artifacts", "[]", "name"}, o.Name, fmt.Sprintf("artifact %q uses %s, which is no part of pathPattern", o.Name, missing), "name a part of pathPattern"}
	}
	return out, nil
}

// Made are the names of the artifacts that a spec makes without looking at its sources.
func (s Spec) Made() []string {
	var out []string
	for _, o := range s.Outputs {
		if s.PathPattern == "" || !capture.MatchString(o.Name) {
			out = append(out, o.Name)
		}
	}
	return out
}
