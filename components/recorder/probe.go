package recorder

import (
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

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
