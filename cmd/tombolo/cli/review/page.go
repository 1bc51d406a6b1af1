package review

import (
	_ "embed"
	"html/template"
	"strings"

	"tombolo/automation/plan"
	"tombolo/automation/value"
	"tombolo/cmd/tombolo/cli/webpage"
	"tombolo/internal/wording"
)

//go:embed page.html
var pageText string

// Page is the whole change as one page without external resources.
func Page(s plan.Set) ([]byte, error) {
	return webpage.Render(pageText, template.FuncMap{
		"counted": counted, "takes": takes, "resource": resourceName, "sign": sign, "plural": wording.Count, "advice": advice, "place": place,
		"list":      func(names []string) string { return strings.Join(names, ", ") },
		"value":     func(v any) string { return written(v, true) },
		"diffValue": func(v any, d plan.Diff) string { return written(v, len(d.From) > 0) },
		"some":      func(v any) bool { return v != nil },
		"unknown":   func(v any) bool { _, is := v.(value.Unknown); return is },
	}, s)
}
