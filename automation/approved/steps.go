package approved

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"k8s.io/apimachinery/pkg/api/resource"

	"tombolo/automation/value"
)

// Preview is what a preview of one stack has told.
type Preview struct {
	// Steps that the engine has announced, with secrets masked.
	Steps []apitype.StepEventMetadata
	// Outputs of the stack as they would be, masked; OutputsDiffer says that they are
	// others than now.
	Outputs       map[string]any
	OutputsDiffer bool
	// Document is what the CLI wrote with --json, and with --show-secrets when the
	// digests are keyed.
	Document string
	// MadeUp are names that providers have made up, each followed by what is written in
	// its place.
	MadeUp []string
	// Later are texts that a preview has in place of what core's up decides. A value with
	// one of them in it is not known.
	Later []string
}

// unknown is the mark of a value that is not known.
const unknown = "tombolo:unknown"

// documentStep is a step in the document.
type documentStep struct {
	Op       string         `json:"op"`
	URN      string         `json:"urn"`
	OldState map[string]any `json:"oldState"`
	NewState map[string]any `json:"newState"`
}

// StepsOf are the steps of a preview. like, if not nil, is the stack of an approved plan
// whose steps follow core's up: what is unknown there is unknown here too.
func (k Key) StepsOf(p Preview, like *Stack) ([]Step, error) {
	steps, err := p.steps()
	if err != nil {
		return nil, err
	}
	inputs := inputsOf(steps)
	t := tracer{key: k, names: strings.NewReplacer(p.MadeUp...), later: p.Later, like: like}
	for _, m := range p.Steps {
		if !isStep(m) {
			continue
		}
		has, ok := inputs[stepKey{m.URN, string(m.Op)}]
		if !ok {
			return nil, fmt.Errorf("the document of the preview has no step %s %s", m.Op, m.URN)
		}
		t.add(m.URN, string(m.Op), has)
	}
	for _, s := range steps {
		if state, differs := s.newState(); differs {
			t.add(s.URN, OpState, state)
		}
	}
	if p.OutputsDiffer {
		t.add("", OpOutputs, p.Outputs)
	}
	return t.sorted(), t.err
}

// steps are those of the document.
func (p Preview) steps() ([]documentStep, error) {
	var document struct {
		Steps []documentStep `json:"steps"`
	}
	// More than the document may follow: the SDK's own remarks.
	if err := json.NewDecoder(strings.NewReader(p.Document)).Decode(&document); err != nil {
		return nil, fmt.Errorf("read the document of a preview: %w", err)
	}
	return document.Steps, nil
}

func inputsOf(steps []documentStep) map[stepKey]any {
	inputs := map[stepKey]any{}
	for _, s := range steps {
		inputs[stepKey{s.URN, s.Op}] = s.inputs() // with a refresh, the last is the step
	}
	return inputs
}

// inputs of the resources as they would be, by step.
func (p Preview) inputs() (map[stepKey]any, error) {
	steps, err := p.steps()
	return inputsOf(steps), err
}

// isStep says whether the engine would do something: it neither leaves a resource as it
// is, nor looks at it alone. Providers that the engine makes by itself are none: they are
// nothing in the world, the CLI does not show them, and their versions are the program's.
func isStep(m apitype.StepEventMetadata) bool {
	switch m.Op {
	case apitype.OpSame, apitype.OpRead, apitype.OpReadReplacement, apitype.OpReadDiscard, apitype.OpRefresh:
		return false
	}
	name := value.NameOf(m.URN)
	return !strings.Contains(m.URN, "::pulumi:providers:") || !strings.HasPrefix(name, "default")
}

// inputs of the resource as they would be; of one that goes, as they are.
func (s documentStep) inputs() any {
	state := s.NewState
	if state == nil {
		state = s.OldState
	}
	return state["inputs"]
}

// aside are entries of a state that say nothing of a resource's options, or that a step
// learns only when it runs.
var aside = []string{
	"id", "inputs", "outputs", "created", "modified", "sourcePosition", "stackTrace", "dependencies", "propertyDependencies", "urn", "type",
}

// newState is what the state would say of a resource besides its inputs, and whether
// that differs from now.
func (s documentStep) newState() (state map[string]any, differs bool) {
	if s.Op != string(apitype.OpSame) || s.OldState == nil || s.NewState == nil {
		return nil, false
	}
	was, state := maps.Clone(s.OldState), maps.Clone(s.NewState)
	for _, entry := range aside {
		delete(was, entry)
		delete(state, entry)
	}
	return state, !reflect.DeepEqual(was, state)
}

type stepKey struct{ urn, op string }

// tracer makes steps, until the first error.
type tracer struct {
	key   Key
	names *strings.Replacer
	later []string
	like  *Stack
	steps map[stepKey]Step
	err   error
}

func (t *tracer) add(urn, op string, inputs any) {
	settled := t.settled(inputs)
	if strings.Contains(urn, "kubernetes:") {
		settled = quantities(settled, false)
	}
	step := Step{URN: urn, Op: op}
	if t.like != nil {
		if i := slices.IndexFunc(t.like.Steps, func(s Step) bool { return s.URN == step.URN && s.Op == op }); i >= 0 {
			for _, pointer := range t.like.Steps[i].Unknown {
				settled = forget(settled, parse(pointer))
			}
		}
	}
	step.Unknown = unknowns(settled, "")
	digest, err := t.key.digest(settled)
	t.err = cmp.Or(t.err, err)
	step.Inputs = digest
	if t.steps == nil {
		t.steps = map[stepKey]Step{}
	}
	t.steps[stepKey{step.URN, op}] = step
}

func (t *tracer) sorted() []Step {
	return append([]Step{}, slices.SortedFunc(maps.Values(t.steps), func(a, b Step) int {
		return cmp.Or(cmp.Compare(a.URN, b.URN), cmp.Compare(a.Op, b.Op))
	})...)
}

// settled is a value with a mark for what is not known, and without the digits that
// differ in the next preview.
func (t *tracer) settled(v any) any {
	switch v := v.(type) {
	case string:
		if value.IsUnknown(v) || slices.ContainsFunc(t.later, func(text string) bool { return strings.Contains(v, text) }) {
			return unknown
		}
		return t.names.Replace(v)
	case []any:
		out := make([]any, len(v))
		for i, child := range v {
			out[i] = t.settled(child)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, child := range v {
			out[t.names.Replace(key)] = t.settled(child)
		}
		return out
	}
	return v
}

// quantities is a Kubernetes object whose amounts are written as Kubernetes writes them:
// the provider writes them so where it knows the cluster, and only there. Amounts are
// what limits, requests and hard have.
func quantities(v any, amounts bool) any {
	switch v := v.(type) {
	case []any:
		for i, child := range v {
			v[i] = quantities(child, false)
		}
	case map[string]any:
		for key, child := range v {
			v[key] = quantities(child, key == "limits" || key == "requests" || key == "hard")
			if amount, err := resource.ParseQuantity(fmt.Sprint(child)); amounts && err == nil {
				v[key] = amount.String()
			}
		}
	}
	return v
}

// unknowns are the pointers of what is not known in a value, sorted.
func unknowns(v any, at string) []string {
	var out []string
	switch v := v.(type) {
	case string:
		if v == unknown {
			out = append(out, at)
		}
	case []any:
		for i, child := range v {
			out = append(out, unknowns(child, at+"/"+strconv.Itoa(i))...)
		}
	case map[string]any:
		for key, child := range v {
			out = append(out, unknowns(child, at+"/"+escaper.Replace(key))...)
		}
	}
	slices.Sort(out)
	return out
}

// The escapes of JSON Pointers, RFC 6901, section 3.
var (
	escaper   = strings.NewReplacer("~", "~0", "/", "~1")
	unescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

func parse(pointer string) []string {
	if pointer == "" {
		return nil
	}
	parts := strings.Split(pointer[1:], "/")
	for i, part := range parts {
		parts[i] = unescaper.Replace(part)
	}
	return parts
}

// forget is a value with the mark at a place, also where an object has nothing there: an
// unknown value may turn out to be none.
func forget(v any, at []string) any {
	if len(at) == 0 {
		return unknown
	}
	switch in := v.(type) {
	case map[string]any:
		if child, has := in[at[0]]; has || len(at) == 1 {
			in[at[0]] = forget(child, at[1:])
		}
	case []any:
		if i, err := strconv.Atoi(at[0]); err == nil && i >= 0 && i < len(in) {
			in[i] = forget(in[i], at[1:])
		}
	}
	return v
}
