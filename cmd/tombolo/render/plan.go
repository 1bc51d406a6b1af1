package render

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/internal/wording"
)

// Plan is what a preview of a stack found.
type Plan struct {
	// Stack that was previewed.
	Stack string
	// Placeholders says that core's outputs do not exist yet, so that what
	// comes from them is unknown. The caller sets it.
	Placeholders bool
	// Steps in the order in which the engine announced them, without the
	// resources that stay as they are.
	Steps []PlanStep
	// Changes counts the resources by kind of change.
	Changes map[string]int
}

// PlanStep is one planned change of one resource.
type PlanStep struct {
	Op         string   `json:"op"`
	Type       string   `json:"resource"`
	Name       string   `json:"name"`
	URN        string   `json:"urn"`
	Properties []string `json:"changed,omitempty"`
	Unknown    []string `json:"unknown,omitempty"`

	inputs map[string]any
}

func (p *Plan) add(meta apitype.StepEventMetadata) {
	op := string(meta.Op)
	if silent(op) && meta.Op != apitype.OpReplace {
		return
	}
	if meta.Op == apitype.OpCreateReplacement || meta.Op == apitype.OpDeleteReplaced {
		return // counted and shown as one replacement
	}
	s := PlanStep{Op: op, Type: ResourceType(meta.Type), Name: urnName(meta.URN), URN: meta.URN, Properties: meta.Diffs}
	if meta.New != nil {
		s.inputs = flatten(meta.New.Inputs)
		maskSecretObject(s.Type, s.inputs)
		for _, path := range slices.Sorted(maps.Keys(s.inputs)) {
			if isUnknown(s.inputs[path]) {
				s.Unknown = append(s.Unknown, path)
			}
		}
	}
	p.Steps = append(p.Steps, s)
}

// PlanOptions say how a plan is written.
type PlanOptions struct {
	// Style of the text.
	Style Style
	// Width of the terminal in cells; 0 is no limit.
	Width int
	// Details shows the inputs of each resource.
	Details bool
}

// WritePlan lists the planned changes of a stack. Values that are not known
// yet are shown as such.
func WritePlan(w io.Writer, p Plan, o PlanOptions) {
	head := fmt.Sprintf("%s: %s", p.Stack, summary(p.Changes, true))
	fmt.Fprintln(w, o.Style.fit(head, o.Width))
	if p.Placeholders {
		text := "previewed without core's outputs: what comes from them is unknown until core exists"
		fmt.Fprintln(w, o.Style.fit("  "+text, o.Width))
	}
	widest := 0
	for _, s := range p.Steps {
		widest = max(widest, lipgloss.Width(s.Type))
	}
	for _, s := range p.Steps {
		p.writeStep(w, s, widest, o)
	}
}

func (p *Plan) writeStep(w io.Writer, s PlanStep, widest int, o PlanOptions) {
	sign := words(s.Op).sign
	if sign == "±" && !o.Style.Unicode {
		sign = "+-"
	}
	line := fmt.Sprintf("%s  %s", pad(s.Type, widest), s.Name)
	if len(s.Properties) > 0 && s.Op != string(apitype.OpCreate) {
		line += "  [" + strings.Join(s.Properties, ", ") + "]"
	}
	if len(s.Unknown) > 0 && p.Placeholders && !o.Details {
		line += fmt.Sprintf("  (%d unknown)", len(s.Unknown))
	}
	line = o.Style.fit(wording.Line(line), cells(o.Width, 5))
	fmt.Fprintf(w, "  %s %s\n", o.Style.paint(signColor(s.Op), pad(sign, 2)), line)
	if o.Details {
		p.writeInputs(w, s, o)
	}
}

func (p *Plan) writeInputs(w io.Writer, s PlanStep, o PlanOptions) {
	for _, path := range slices.Sorted(maps.Keys(s.inputs)) {
		line := wording.Line(fmt.Sprintf("%s: %s", path, p.value(s.inputs[path])))
		fmt.Fprintf(w, "       %s\n", o.Style.fit(line, cells(o.Width, 7)))
	}
}

// value writes a property's value, or that it is not known yet.
func (p *Plan) value(v any) string {
	switch {
	case isUnknown(v) && p.Placeholders:
		return "<unknown until core exists>"
	case isUnknown(v):
		return "<unknown until created>"
	}
	return formatValue(v)
}

// cells is the room left on a line after an indentation; 0 stays no limit.
func cells(width, indent int) int {
	if width <= 0 {
		return 0
	}
	return max(1, width-indent)
}

func signColor(op string) lipgloss.Color {
	switch apitype.OpType(op) {
	case apitype.OpCreate, apitype.OpImport:
		return green
	case apitype.OpDelete, apitype.OpReplace:
		return red
	}
	return yellow
}
