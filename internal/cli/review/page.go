package review

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strings"

	"tombolo/automation/change"
	"tombolo/automation/value"
	"tombolo/internal/file"
	"tombolo/internal/wording"
)

// pageText is the template of the page. Its styles are in it, and its policy
// forbids the browser to load anything.
//
//go:embed page.html
var pageText string

// Page is the whole change as one page without external resources.
func Page(s change.Set) ([]byte, error) {
	t, err := template.New("preview").Funcs(template.FuncMap{
		"counted": counted, "takes": takes, "resource": resourceName, "sign": sign, "plural": wording.Count,
		"list":      func(names []string) string { return strings.Join(names, ", ") },
		"value":     func(v any) string { return written(v, true) },
		"diffValue": func(v any, d change.Diff) string { return written(v, len(d.From) > 0) },
		"some":      func(v any) bool { return v != nil },
		"unknown":   func(v any) bool { _, is := v.(value.Unknown); return is },
	}).Parse(pageText)
	if err != nil {
		return nil, fmt.Errorf("read the template of the page: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, s); err != nil {
		return nil, fmt.Errorf("write the page: %w", err)
	}
	return b.Bytes(), nil
}

// WritePage puts the page into a file, whole or not at all.
func WritePage(path string, s change.Set) error {
	text, err := Page(s)
	if err != nil {
		return err
	}
	if err := file.Replace(path, text, 0o644); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}
