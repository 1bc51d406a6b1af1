package bench

import (
	"encoding/json"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"gotest.tools/v3/assert"

	"tombolo/automation/backend"
	"tombolo/automation/trace/tracetest"
	"tombolo/stacks"
)

// call is the creation of a resource, from the engine's begin to its end.
type call struct {
	Kind, Name string
	Seconds    float64
}

// BenchmarkChain makes one cluster at typical durations, against the longest chain of calls that
// wait for each other: the time of each resource is in the trace of the run, and what waits for
// what in the states.
func BenchmarkChain(b *testing.B) {
	const name = "bench01"
	c := newCheckout(b, typical, name)
	var collector tracetest.Collector
	server := httptest.NewServer(&collector)
	defer server.Close()
	cmd := c.command(c.ctx, c.tombolo, "up", name, "--lab", "--yes")
	cmd.Env = append(slices.Clone(cmd.Env), "OTEL_EXPORTER_OTLP_ENDPOINT="+server.URL, "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf")
	up := c.measure(cmd)
	up.report(b, "up")
	took := map[string]float64{}
	for _, span := range collector.Spans() {
		if urn := span.Attributes["pulumi.resource.urn"]; urn != "" {
			took[urn] = span.End.Sub(span.Start).Seconds()
		}
	}
	var chain float64
	for _, k := range stacks.Kinds() { // bootstrap takes core's outputs, so it waits for all of core
		for _, one := range longest(c.state(stacks.Name(name, k)).All(), took) {
			chain += one.Seconds
			if one.Seconds >= 1 {
				b.Logf("%s %s %s: %.0f s", stacks.Name(name, k), one.Kind, one.Name, one.Seconds)
			}
		}
	}
	assert.Assert(b, chain > 0, "the trace has no span of a resource among its %d", len(collector.Spans()))
	b.ReportMetric(chain, "chain-sec")
	b.ReportMetric(up.Wall/chain, "up/chain")
}

// longest is the chain of resources that takes longest, from the first to the last. A resource
// waits for what it depends on, and for its provider.
func longest(all []apitype.ResourceV3, took map[string]float64) []call {
	type end struct {
		at     float64
		before string
	}
	byURN, ends := map[string]apitype.ResourceV3{}, map[string]end{}
	for _, r := range all {
		byURN[string(r.URN)] = r
	}
	var endOf func(urn string) float64
	endOf = func(urn string) float64 {
		if known, ok := ends[urn]; ok {
			return known.at
		}
		r := byURN[urn]
		waits := []string{string(backend.ProviderOf(r))}
		for _, d := range r.Dependencies {
			waits = append(waits, string(d))
		}
		var last end
		for _, d := range waits {
			if _, ok := byURN[d]; !ok {
				continue
			}
			if at := endOf(d); at > last.at {
				last = end{at, d}
			}
		}
		if r.Custom { // a component lasts as long as what it is made of
			last.at += took[urn]
		}
		ends[urn] = last
		return last.at
	}
	var final string
	for _, r := range all {
		if urn := string(r.URN); final == "" || endOf(urn) > endOf(final) {
			final = urn
		}
	}
	var calls []call
	for urn := final; urn != ""; urn = ends[urn].before {
		if r := byURN[urn]; r.Custom && took[urn] > 0 {
			calls = append(calls, call{string(r.Type), r.URN.Name(), took[urn]})
		}
	}
	slices.Reverse(calls)
	return calls
}

// state of a stack, as the CLI exports it.
func (c *checkout) state(stack string) *backend.State {
	c.b.Helper()
	out, err := output(c.pulumi("stack", "export", "--stack", stack))
	assert.NilError(c.b, err)
	var raw apitype.UntypedDeployment
	assert.NilError(c.b, json.Unmarshal(out, &raw))
	state, err := backend.ParseState(stack, raw)
	assert.NilError(c.b, err)
	return state
}

// TestLongestChain: through dependencies, components and providers; what takes longest alone is
// not in it.
func TestLongestChain(t *testing.T) {
	urn := func(name string) resource.URN { return resource.URN("urn:pulumi:s::p::t::" + name) }
	of := func(name string, custom bool, provider string, waits ...string) apitype.ResourceV3 {
		r := apitype.ResourceV3{URN: urn(name), Type: "t", Custom: custom}
		if provider != "" {
			r.Provider = string(urn(provider)) + "::id"
		}
		for _, w := range waits {
			r.Dependencies = append(r.Dependencies, urn(w))
		}
		return r
	}
	took := map[string]float64{}
	for name, seconds := range map[string]float64{
		"network": 1, "alone": 10, "cluster": 9, "nodes": 3, "component": 100, "provider": 0, "object": 2,
	} {
		took[string(urn(name))] = seconds
	}
	calls := longest([]apitype.ResourceV3{
		of("network", true, ""), of("alone", true, ""),
		of("cluster", true, "", "network", "elsewhere"),
		of("component", false, "", "cluster"),
		of("nodes", true, "", "network"),
		of("provider", true, "", "component", "nodes"),
		of("object", true, "provider"),
	}, took)
	assert.DeepEqual(t, calls, []call{
		{"t", "network", 1}, {"t", "cluster", 9}, {"t", "object", 2},
	})
}
