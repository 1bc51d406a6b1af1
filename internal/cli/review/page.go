package review

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"strings"

	"tombolo/automation/plan"
	"tombolo/automation/value"
)

// pageText is the template of the page. Its styles are in it, and its policy
// forbids the browser to load anything.
//
//go:embed page.html
var pageText string

// Page is the whole change as one page without external resources.
func Page(s plan.Set) ([]byte, error) {
	t, err := template.New("preview").Funcs(template.FuncMap{
		"counted": counted, "takes": takes, "resource": resourceName, "sign": sign, "plural": Plural,
		"list":      func(names []string) string { return strings.Join(names, ", ") },
		"value":     func(v any) string { return written(v, true) },
		"diffValue": func(v any, d plan.Diff) string { return written(v, len(d.From) > 0) },
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
func WritePage(path string, s plan.Set) error {
	text, err := Page(s)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".preview-*.html")
	if err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	defer os.Remove(file.Name())
	_, err = file.Write(text)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Chmod(file.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}
