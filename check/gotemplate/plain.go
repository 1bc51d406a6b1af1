package gotemplate

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/valyala/fasttemplate"
)

// templated is what Argo CD takes for a template; another text stays as it is.
var templated = regexp.MustCompile(`{{.*}}`)

// Plain does with a text of an ApplicationSet without goTemplate what Argo CD does: the names of
// parameters become their texts, and all else between braces stays as it is written. It says what
// stays. Source: Replace in applicationset/utils/utils.go of argoproj/argo-cd v3.5.
func Plain(text string, parameters map[string]any) (out string, left []string, err error) {
	if !templated.MatchString(text) {
		return text, nil, nil
	}
	t, err := fasttemplate.NewTemplate(text, "{{", "}}")
	if err != nil {
		return "", nil, fmt.Errorf("template: %w", err)
	}
	out = t.ExecuteFuncString(func(w io.Writer, tag string) (int, error) {
		name := strings.TrimSpace(tag)
		value, ok := parameters[name].(string)
		if name == "" || !ok {
			left = append(left, name)
			return io.WriteString(w, "{{"+tag+"}}")
		}
		return io.WriteString(w, value)
	})
	return out, left, nil
}
