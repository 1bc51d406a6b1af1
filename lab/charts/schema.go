package charts

import (
	"encoding/json"
	"fmt"
	"slices"

	"tombolo/tools/upstream/facts"
)

const (
	schemaFile = "values.schema.json"
	// additionsFile has what a stand-in requires beside the facts, with its
	// source. It is no file of the chart.
	additionsFile = "additions.json"
)

// addSchema adds the schema of a stand-in's values: what the facts of the chart
// say, and the additions. A chart with a schema, or that stands in for none, stays
// as it is.
func addSchema(content map[string][]byte, c Chart) error {
	additions := content[additionsFile]
	delete(content, additionsFile)
	if content[schemaFile] != nil {
		return nil
	}
	upstream, ok, err := facts.Find(c.Name, c.Version)
	if err != nil {
		return err
	}
	if !ok {
		return unknownVersion(c)
	}
	schema, err := upstream.Schema()
	if err != nil {
		return err
	}
	if additions != nil {
		schema["allOf"] = []json.RawMessage{additions}
	}
	content[schemaFile], err = json.Marshal(schema)
	if err != nil {
		return fmt.Errorf("encode the schema of values: %w", err)
	}
	return nil
}

// unknownVersion is an error when there are facts of another version.
func unknownVersion(c Chart) error {
	all, err := facts.All()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(f facts.Chart) bool { return f.Name == c.Name })
	if i < 0 {
		return nil
	}
	return fmt.Errorf("the project knows version %s of it, not %s: run `go run ./tools/upstream -write` and build tombolo anew", all[i].Version, c.Version)
}
