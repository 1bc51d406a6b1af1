// Package webpage writes the HTML pages of commands. What the pages have in common
// is in base.html; each has a template of its own for title, style and body. Styles
// and scripts are inside the page, and its policy forbids the browser to load anything.
package webpage

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"

	"tombolo/internal/file"
)

//go:embed base.html
var base string

// Render executes the template of a page, which defines "title", "style" and
// "body", and "scripts" when its policy allows scripts.
func Render(text string, functions template.FuncMap, data any) ([]byte, error) {
	t, err := template.New("base").Funcs(functions).Parse(base)
	if err == nil {
		_, err = t.New("page").Parse(text)
	}
	if err != nil {
		return nil, fmt.Errorf("read the template of the page: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return nil, fmt.Errorf("write the page: %w", err)
	}
	return b.Bytes(), nil
}

// Write puts a page into a file, whole or not at all.
func Write(path string, text []byte) error {
	if err := file.Replace(path, text, 0o644); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}
