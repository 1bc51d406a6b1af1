package recorder

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Make runs a component's constructor as the program of a stack.
func Make[A, C any](stack, name string, construct func(*pulumi.Context, string, A, ...pulumi.ResourceOption) (C, error), args A, opts ...pulumi.RunOption) (*Recorder, error) {
	r := &Recorder{}
	return r, r.Run(stack, func(ctx *pulumi.Context) error {
		_, err := construct(ctx, name, args)
		return err
	}, opts...)
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
