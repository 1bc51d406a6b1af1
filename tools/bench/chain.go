package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/backend"
	"tombolo/automation/trace/tracetest"
	"tombolo/stacks"
)

// chain is how long a cluster takes to make at the cloud's typical durations, against the longest
// chain of calls that wait for each other.
type chain struct {
	Latency float64 `json:"latency"`
	// Up is the time of the up, and Longest that of the chain, in seconds.
	Up      float64 `json:"up"`
	Longest float64 `json:"longest"`
	// Calls of the chain, one after the other.
	Calls []call `json:"calls"`
}

// call is the creation of a resource, from the engine's begin to its end.
type call struct {
	Stack   string  `json:"stack"`
	Type    string  `json:"type"`
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

// measureChain makes one cluster at typical durations, and reads the time of each resource from the
// trace of the run and what waits for what from the states.
func measureChain(ctx context.Context, o options) (*chain, error) {
	const name = "bench01"
	o.latency = typical
	c, err := newCheckout(ctx, o, name)
	if err != nil {
		return nil, err
	}
	defer c.remove()
	var collector tracetest.Collector
	server := httptest.NewServer(&collector)
	defer server.Close()
	cmd := c.command(ctx, c.tombolo, "up", name, "--lab", "--yes")
	cmd.Env = append(slices.Clone(cmd.Env), "OTEL_EXPORTER_OTLP_ENDPOINT="+server.URL, "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf")
	up, err := measure(ctx, cmd)
	if err != nil {
		return nil, err
	}
	out := &chain{Latency: typical, Up: up.Wall}
	took := map[string]float64{}
	for _, span := range collector.Spans() {
		if urn := span.Attributes["pulumi.resource.urn"]; urn != "" {
			took[urn] = span.End.Sub(span.Start).Seconds()
		}
	}
	for _, k := range stacks.Kinds() { // bootstrap takes core's outputs, so it waits for all of core
		state, err := c.state(ctx, stacks.Name(name, k))
		if err != nil {
			return nil, err
		}
		out.Calls = append(out.Calls, longest(stacks.Name(name, k), state.All(), took)...)
	}
	for _, one := range out.Calls {
		out.Longest += one.Seconds
	}
	if len(out.Calls) == 0 {
		return nil, fmt.Errorf("the trace has no span of a resource among its %d", len(collector.Spans()))
	}
	o.progress.Printf("✔ a cluster in %.1f s, the longest chain takes %.1f s", out.Up, out.Longest)
	return out, nil
}

// longest is the chain of resources that takes longest, from the first to the last. A resource
// waits for what it depends on, and for its provider.
func longest(stack string, all []apitype.ResourceV3, took map[string]float64) []call {
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
			calls = append(calls, call{Stack: stack, Type: string(r.Type), Name: r.URN.Name(), Seconds: took[urn]})
		}
	}
	slices.Reverse(calls)
	return calls
}

// state of a stack, as the CLI exports it.
func (c *checkout) state(ctx context.Context, stack string) (*backend.State, error) {
	cmd, err := c.pulumi(ctx, "stack", "export", "--stack", stack)
	if err != nil {
		return nil, err
	}
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	var raw apitype.UntypedDeployment
	if err := json.Unmarshal(out, &raw); err != nil {
		return nil, err
	}
	return backend.ParseState(stack, raw)
}

func (c *chain) write(b *bytes.Buffer, load float64) {
	fmt.Fprintf(b, "\n## The longest chain\n\n"+
		"`tombolo up <cluster> --lab --yes` in the lab's light profile, where AWS takes %g of its typical time. The chain is that of the resources which wait for each other and take longest, "+
		"from the engine's begin to its end of each; bootstrap waits for all of core. The aim is at most 1.05 times the chain.\n\n"+
		"The up took %s, the chain takes %s: **%.2f**. The load average was %.1f at the end. Of the chain, these take at least a second:\n\n"+
		"| stack | resource | time |\n|---|---|---:|\n", c.Latency, inMinutes(c.Up), inMinutes(c.Longest), c.Up/c.Longest, load)
	for _, one := range c.Calls {
		if one.Seconds >= 1 {
			fmt.Fprintf(b, "| `%s` | `%s` %s | %s |\n", one.Stack, one.Type, one.Name, inMinutes(one.Seconds))
		}
	}
}
