// Package recorder is a Pulumi resource monitor for tests: it answers every
// registration and invoke from memory and keeps what was registered.
package recorder

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/golden"
)

// Resource is one registration.
type Resource struct {
	Type, Name, Parent string
	Inputs             resource.PropertyMap
	Provider           string
	DependsOn          []string
	RetainOnDelete     bool
	// DeleteBeforeReplace says that a replacement begins with the deletion.
	DeleteBeforeReplace bool
	Protect             bool
	// Waits is what each input was made from, as URNs.
	Waits         map[string][]string
	IgnoreChanges []string
	Custom        bool
}

// Answer answers an invoke by its arguments.
type Answer = func(args resource.PropertyMap) (resource.PropertyMap, error)

// Answering is the same answer to all arguments.
func Answering(found map[string]any) Answer {
	return func(resource.PropertyMap) (resource.PropertyMap, error) {
		return resource.NewPropertyMapFromMap(found), nil
	}
}

// Recorder implements pulumi.MockResourceMonitor. The zero value answers
// registrations with their inputs, and refuses every invoke but the one that reads the
// stack's state, which has nothing.
type Recorder struct {
	// Outputs adds properties to a registered resource's state, by type token.
	Outputs map[string]resource.PropertyMap
	// Invokes answers invokes, by token.
	Invokes map[string]Answer
	// Unborn says that no resource exists: none has an id, as in a preview of a new stack.
	Unborn bool

	mu        sync.Mutex
	resources []Resource
}

// NewResource implements pulumi.MockResourceMonitor.
func (r *Recorder) NewResource(a pulumi.MockResourceArgs) (string, resource.PropertyMap, error) {
	res := Resource{Type: a.TypeToken, Name: a.Name, Inputs: a.Inputs, Provider: a.Provider, Custom: a.Custom}
	if rpc := a.RegisterRPC; rpc != nil {
		res.Parent = rpc.GetParent()
		res.DependsOn = rpc.GetDependencies()
		res.IgnoreChanges = rpc.GetIgnoreChanges()
		res.RetainOnDelete = rpc.GetRetainOnDelete()
		res.DeleteBeforeReplace = rpc.GetDeleteBeforeReplace()
		res.Protect = rpc.GetProtect()
		res.Waits = map[string][]string{}
		for property, on := range rpc.GetPropertyDependencies() {
			res.Waits[property] = on.GetUrns()
		}
	}
	r.mu.Lock()
	r.resources = append(r.resources, res)
	r.mu.Unlock()

	state := a.Inputs.Copy()
	if a.TypeToken == "pulumi:index:Stash" { // as the engine answers
		state["output"] = state["input"]
	}
	for k, v := range r.Outputs[a.TypeToken] {
		state[k] = v
	}
	if _, ok := state["arn"]; !ok && strings.HasPrefix(a.TypeToken, "aws:") {
		state["arn"] = resource.NewProperty("arn:aws:test:eu-central-1:111122223333:" + a.Name)
	}
	if a.ID == "" && a.Custom && !r.Unborn {
		return a.Name + "-id", state, nil
	}
	return a.ID, state, nil
}

// ReadResources is the engine's function that reads the resources of a stack.
const ReadResources = "pulumi:pulumi:readStackResourceOutputs"

// Call implements pulumi.MockResourceMonitor.
func (r *Recorder) Call(a pulumi.MockCallArgs) (resource.PropertyMap, error) {
	if f, ok := r.Invokes[a.Token]; ok {
		return f(a.Args)
	}
	if a.Token == ReadResources { // as the engine answers for a stack that is new
		return resource.PropertyMap{"outputs": resource.NewProperty(resource.PropertyMap{})}, nil
	}
	return nil, fmt.Errorf("no answer recorded for the invoke %s", a.Token)
}

// Run executes a program against the recorder as stack of project tombolo.
func (r *Recorder) Run(stack string, program pulumi.RunFunc, opts ...pulumi.RunOption) error {
	return pulumi.RunErr(program, append(opts, pulumi.WithMocks("tombolo", stack, r))...)
}

// Preview is a pulumi.RunOption that makes the run a preview.
func Preview(info *pulumi.RunInfo) { info.DryRun = true }

// All lists the registrations in the order of their arrival.
func (r *Recorder) All() []Resource {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.resources)
}

// OfType lists the registrations of one type, by name.
func (r *Recorder) OfType(token string) []Resource {
	var found []Resource
	for _, res := range r.All() {
		if res.Type == token {
			found = append(found, res)
		}
	}
	slices.SortFunc(found, func(a, b Resource) int { return strings.Compare(a.Name, b.Name) })
	return found
}

// Named finds a registration by type and name.
func (r *Recorder) Named(token, name string) (Resource, bool) {
	for _, res := range r.OfType(token) {
		if res.Name == name {
			return res, true
		}
	}
	return Resource{}, false
}

// String reads a property as text, "" when it is absent. Path elements are
// separated by dots; numbers index arrays.
func (res Resource) String(path string) string {
	v, ok := res.Value(path)
	if !ok {
		return ""
	}
	if v.IsSecret() {
		v = v.SecretValue().Element
	}
	if v.IsString() {
		return v.StringValue()
	}
	return fmt.Sprint(v.V)
}

// Value reads a property by path, such as "vpcConfig.subnetIds".
func (res Resource) Value(path string) (resource.PropertyValue, bool) {
	p, err := resource.ParsePropertyPath(path)
	if err != nil {
		return resource.PropertyValue{}, false
	}
	return p.Get(resource.NewProperty(res.Inputs))
}

// Problems lists what breaks the rules for components among the registered
// resources: names used twice for one type, and custom resources, other than
// providers and the probe, without a component of ours above them.
func (r *Recorder) Problems() []string {
	var problems []string
	seen := map[string]bool{}
	for _, res := range r.All() {
		key := res.Type + " " + res.Name
		if seen[key] {
			problems = append(problems, "registered twice: "+key)
		}
		seen[key] = true
		if res.Custom && res.Type != probeType && !strings.HasPrefix(res.Type, "pulumi:") && !strings.Contains(res.Parent, "tombolo:") {
			problems = append(problems, fmt.Sprintf("%s has no component as parent, but %q", key, res.Parent))
		}
	}
	return problems
}

// registration is what a golden file shows of a registration.
type registration struct {
	Resource string `json:"resource"`
	Inputs   any    `json:"inputs"`
	// Unknown are the inputs that the run does not know.
	Unknown       []string `json:"unknown,omitempty"`
	After         []string `json:"after,omitempty"`
	Protect       bool     `json:"protect,omitempty"`
	IgnoreChanges []string `json:"ignoreChanges,omitempty"`
}

// GoldenRegistrations compares the resources whose type begins with the prefix, in the order of
// their types and names, with a file in testdata: their inputs, what they wait for, and how
// the engine is to treat them.
func (r *Recorder) GoldenRegistrations(t testing.TB, prefix, name string) {
	t.Helper()
	var all []registration
	for _, res := range r.All() {
		if res.Custom && strings.HasPrefix(res.Type, prefix) {
			all = append(all, registered(res))
		}
	}
	slices.SortFunc(all, func(a, b registration) int { return strings.Compare(a.Resource, b.Resource) })
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Assert(t, string(text)+"\n", name)
}

func registered(res Resource) registration {
	out := registration{
		Resource: res.Type + " " + res.Name, Inputs: plain(res.Inputs),
		Protect: res.Protect, IgnoreChanges: res.IgnoreChanges,
	}
	for _, urn := range res.DependsOn {
		out.After = append(out.After, urn[strings.LastIndex(urn, "::")+len("::"):])
	}
	slices.Sort(out.After)
	out.After = slices.Compact(out.After)
	for property := range res.Waits {
		if _, known := res.Inputs[resource.PropertyKey(property)]; !known {
			out.Unknown = append(out.Unknown, property)
		}
	}
	slices.Sort(out.Unknown)
	return out
}

// plain are inputs as JSON has them, without secrets.
func plain(inputs resource.PropertyMap) any {
	return inputs.MapRepl(nil, func(v resource.PropertyValue) (any, bool) {
		if v.IsSecret() {
			return "[secret]", true
		}
		return nil, false
	})
}

// Golden compares a JSON document, indented, with a file in testdata.
func Golden(t testing.TB, name, document string) {
	t.Helper()
	var indented bytes.Buffer
	if err := json.Indent(&indented, []byte(document), "", "  "); err != nil {
		t.Fatalf("%s is no JSON: %v", name, err)
	}
	golden.Assert(t, indented.String()+"\n", name)
}

// Constructor makes a component.
type Constructor[A, C any] = func(*pulumi.Context, string, A, ...pulumi.ResourceOption) (C, error)

// Make runs a component's constructor as the program of a stack.
func Make[A, C any](stack, name string, construct Constructor[A, C], args A, opts ...pulumi.RunOption) (*Recorder, error) {
	r := &Recorder{}
	return r, r.Run(stack, func(ctx *pulumi.Context) error {
		_, err := construct(ctx, name, args)
		return err
	}, opts...)
}

// Refuses expects a component's constructor to refuse good arguments once one of the changes is made to them,
// before it registers anything. The error has a text for each change, and one for all.
func Refuses[A, C any](t *testing.T, name string, construct Constructor[*A, C], always string, good func() *A, changes map[string]func(*A)) {
	t.Helper()
	for want, change := range changes {
		args := good()
		change(args)
		r, err := Make("demo", name, construct, args)
		assert.Check(t, is.ErrorContains(err, always))
		assert.Check(t, is.ErrorContains(err, want))
		assert.Check(t, len(r.All()) == 0, "%q: something was registered", want)
	}
}

// Probing is the program of a stack that makes a component, and probes what it puts out.
func Probing[A, C any](name string, construct Constructor[A, C], args A, outputs func(C) pulumi.Map) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		c, err := construct(ctx, name, args)
		if err != nil {
			return err
		}
		return Probe(ctx, outputs(c))
	}
}

const probeType = "test:index:Probe"

// Probe registers a resource with a component's outputs as inputs. What it was
// registered with are their values, and what it depends on is what they wait
// for.
func Probe(ctx *pulumi.Context, outputs pulumi.Map) error {
	return ctx.RegisterResource(probeType, "probe", outputs, &pulumi.CustomResourceState{})
}

// Probed is the probe that was registered.
func (r *Recorder) Probed() Resource {
	found, _ := r.Named(probeType, "probe")
	return found
}

// Expect reports the properties, by path, that have another value.
func (res Resource) Expect(t testing.TB, want map[string]string) {
	t.Helper()
	for path, value := range want {
		if got := res.String(path); got != value {
			t.Errorf("%s %s: %s is %q, expected %q", res.Type, res.Name, path, got, value)
		}
	}
}

// ExpectAfter reports the resources, by the ends of their URNs, that the
// property does not wait for.
func (res Resource) ExpectAfter(t testing.TB, property string, names ...string) {
	t.Helper()
	for _, name := range names {
		if !slices.ContainsFunc(res.Waits[property], func(urn string) bool { return strings.HasSuffix(urn, "::"+name) }) {
			t.Errorf("%s of %s does not wait for %s, but for %q", property, res.Name, name, res.Waits[property])
		}
	}
}

// Sound fails the test when the program failed, with its error, or has
// problems, and returns the recorder.
func (r *Recorder) Sound(t testing.TB, err error) *Recorder {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if problems := r.Problems(); len(problems) > 0 {
		t.Errorf("problems: %v", problems)
	}
	return r
}

// WaitsFor says whether the resource depends on one whose URN has the part.
func (res Resource) WaitsFor(part string) bool {
	return slices.ContainsFunc(res.DependsOn, func(urn string) bool { return strings.Contains(urn, part) })
}

// SecretData is the decoded data of a Kubernetes Secret, which must be a secret of
// Pulumi's, too.
func (res Resource) SecretData(t testing.TB) map[string]string {
	t.Helper()
	data, _ := res.Value("data")
	if !data.ContainsSecrets() {
		t.Errorf("the data of %s is no Pulumi secret: state would show it", res.Name)
	}
	if data.IsSecret() {
		data = data.SecretValue().Element
	}
	out := map[string]string{}
	for key, value := range data.ObjectValue() {
		if value.IsSecret() {
			value = value.SecretValue().Element
		}
		text, err := base64.StdEncoding.DecodeString(value.StringValue())
		if err != nil {
			t.Errorf("%s of %s: %v", key, res.Name, err)
		}
		out[string(key)] = string(text)
	}
	return out
}
