// Package webpage writes the HTML pages of commands. The styles and scripts of a
// page are in its template, and its policy forbids the browser to load anything.
package webpage

import (
	"bytes"
	"fmt"
	"html/template"

	"tombolo/internal/file"
)

// Render executes the template of a page.
func Render(text string, functions template.FuncMap, data any) ([]byte, error) {
	t, err := template.New("page").Funcs(functions).Parse(text)
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
