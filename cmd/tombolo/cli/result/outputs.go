package result

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tombolo/automation"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/render"
	"tombolo/internal/names"
)

// Outputs are the values of a stack's outputs. Secrets are masked.
type Outputs map[string]any

// OutputsOf masks what is secret.
func OutputsOf(found map[string]automation.Output) Outputs {
	values := make(Outputs, len(found))
	for key, output := range found {
		values[key] = output.Value
		if output.Secret {
			values[key] = names.Secret
		}
	}
	return values
}

// Only are all without a key, and otherwise the one with it. missing and known are what the error
// says without it.
func (o Outputs) Only(key, missing, known string) (Outputs, error) {
	value, ok := o[key]
	switch {
	case key == "":
		return o, nil
	case !ok:
		return nil, fault.NewUsage(fmt.Sprintf("%s no output %q", missing, key), known+": "+strings.Join(slices.Sorted(maps.Keys(o)), ", "))
	}
	return Outputs{key: value}, nil
}

// Write writes the one with the key as it is, and without a key a table.
func (o Outputs) Write(b factory.Base, key string) error {
	if key != "" {
		_, err := fmt.Fprintln(b.Out, format(o[key]))
		return err
	}
	var rows [][]string
	for _, key := range slices.Sorted(maps.Keys(o)) {
		rows = append(rows, []string{key, format(o[key])})
	}
	return render.Table(b.Out, b.Table(), []string{"KEY", "VALUE"}, rows)
}

// format writes a text as it is and everything else as JSON.
func format(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(encoded)
}
