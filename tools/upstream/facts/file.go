package facts

import (
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed" // for the file
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// File has the facts of all charts: JSON, a line for each value, for people to
// compare, compressed, since it is large and no one writes it by hand.
const File = "facts.json.gz"

//go:embed facts.json.gz
var file []byte

// Text of the facts, by chart and version. The same facts give the same text.
func Text(charts []Chart) ([]byte, error) {
	charts = slices.Clone(charts)
	slices.SortFunc(charts, func(a, b Chart) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version))
	})
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(charts); err != nil {
		return nil, fmt.Errorf("encode facts: %w", err)
	}
	return out.Bytes(), nil
}

// Pack compresses the text of facts. The same text gives the same bytes: the header
// has neither a name nor a time.
func Pack(text []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("compress facts: %w", err)
	}
	return out.Bytes(), nil
}

// Unpack is the text of what Pack wrote.
func Unpack(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("read facts: %w", err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read facts: %w", err)
	}
	return text, nil
}

func load() ([]Chart, error) {
	text, err := Unpack(file)
	if err != nil {
		return nil, err
	}
	var all []Chart
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("read facts: %w", err)
	}
	return all, nil
}
