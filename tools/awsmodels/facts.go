package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// calls is the part of lab/aws/apimodel/calls.json that says what to read.
type calls struct {
	// Repository on GitHub that has the models, the commit that is read, and its version.
	Repository string `json:"repository"`
	Commit     string `json:"commit"`
	Version    string `json:"version"`
	Services   map[string]struct {
		// File of the repository, and its digest.
		File   string `json:"file"`
		Digest string `json:"digest"`
		// Calls whose errors are wanted.
		Calls []string `json:"calls"`
		// Open are shapes whose values AWS adds to all the time: they are kept
		// without them.
		Open []string `json:"open"`
	} `json:"services"`
	Types map[string]struct {
		Service string `json:"service"`
		// Sent are the calls whose inputs are wanted, each with the path to a part
		// of it: CreateLaunchTemplate/LaunchTemplateData.
		Sent []string `json:"sent"`
	} `json:"types"`
}

// service is what is kept of a service's model.
type service struct {
	File       string               `json:"file"`
	Operations map[string]operation `json:"operations"`
	Shapes     map[string]kept      `json:"shapes"`
}

type operation struct {
	Input  string   `json:"input,omitempty"`
	Errors []string `json:"errors,omitempty"`
}

// kept is what is kept of a shape: what a value must be.
type kept struct {
	Type     string            `json:"type"`
	Min      *float64          `json:"min,omitempty"`
	Max      *float64          `json:"max,omitempty"`
	Pattern  string            `json:"pattern,omitempty"`
	Enum     []string          `json:"enum,omitempty"`
	Required []string          `json:"required,omitempty"`
	Members  map[string]string `json:"members,omitempty"`
	Member   string            `json:"member,omitempty"`
	Key      string            `json:"key,omitempty"`
	Value    string            `json:"value,omitempty"`
}

// facts writes what the calls need of the models.
func facts(dir string, wanted []byte) ([]byte, error) {
	s := source{dir: dir}
	if err := json.Unmarshal(wanted, &s.calls); err != nil {
		return nil, fmt.Errorf("read the calls: %w", err)
	}
	services := map[string]service{}
	for name, of := range s.Services {
		m, err := s.read(of.File, of.Digest)
		if err != nil {
			return nil, err
		}
		out := service{File: of.File, Operations: map[string]operation{}, Shapes: map[string]kept{}}
		for _, call := range of.Calls {
			if err := out.addErrors(m, call); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		services[name] = out
		for _, sent := range sentTo(s.calls, name) {
			if err := out.addInput(m, sent, of.Open); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return document(s, wanted, services)
}

// sentTo are the calls of a service whose inputs are wanted.
func sentTo(c calls, service string) []string {
	found := map[string]bool{}
	for _, t := range c.Types {
		for _, sent := range t.Sent {
			if call, _, _ := strings.Cut(sent, "/"); t.Service == service {
				found[call] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func (s service) addErrors(m model, call string) error {
	of, known := m.Operations[call]
	if !known {
		return fmt.Errorf("the model %s has no call %s", s.File, call)
	}
	var codes []string
	for _, e := range of.Errors {
		code := m.Shapes[e.Shape].Error.Code
		if code == "" {
			code = e.Shape
		}
		codes = append(codes, code)
	}
	slices.Sort(codes)
	s.Operations[call] = operation{Errors: codes}
	return nil
}

func (s service) addInput(m model, call string, open []string) error {
	if err := s.addErrors(m, call); err != nil {
		return err
	}
	of := s.Operations[call]
	if of.Input = m.Operations[call].Input.Shape; of.Input != "" {
		s.Operations[call] = of
		s.addShape(m, of.Input, open)
	}
	return nil
}

// addShape adds a shape with those that it is made of.
func (s service) addShape(m model, name string, open []string) {
	if _, known := s.Shapes[name]; known || name == "" {
		return
	}
	from := m.Shapes[name]
	to := kept{
		Type: from.Type, Min: from.Min, Max: from.Max, Pattern: from.Pattern, Enum: from.Enum, Required: from.Required,
		Member: named(from.Member), Key: named(from.Key), Value: named(from.Value),
	}
	if slices.Contains(open, name) {
		to.Enum = nil
	}
	if len(from.Members) > 0 {
		to.Members = map[string]string{}
	}
	for member, of := range from.Members {
		to.Members[member] = of.Shape
	}
	s.Shapes[name] = to
	for _, part := range append(slices.Sorted(maps.Values(to.Members)), to.Member, to.Key, to.Value) {
		s.addShape(m, part, open)
	}
}

func named(r *reference) string {
	if r == nil {
		return ""
	}
	return r.Shape
}

// document writes the facts with a line for each call and each shape.
func document(s source, wanted []byte, services map[string]service) ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "{\n\"repository\": %q,\n\"commit\": %q,\n\"version\": %q,\n\"calls\": %q,\n\"services\": {", s.Repository, s.Commit, s.Version, digestOf(wanted))
	for i, name := range slices.Sorted(maps.Keys(services)) {
		of := services[name]
		fmt.Fprintf(&out, "%s\n%q: {\n\"file\": %q,\n\"operations\": {", comma(i), name, of.File)
		if err := lines(&out, of.Operations); err != nil {
			return nil, err
		}
		fmt.Fprint(&out, "\n},\n\"shapes\": {")
		if err := lines(&out, of.Shapes); err != nil {
			return nil, err
		}
		fmt.Fprint(&out, "\n}\n}")
	}
	fmt.Fprint(&out, "\n}\n}\n")
	return out.Bytes(), nil
}

func lines[V any](out *bytes.Buffer, values map[string]V) error {
	for i, name := range slices.Sorted(maps.Keys(values)) {
		line, err := json.Marshal(values[name])
		if err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
		fmt.Fprintf(out, "%s\n%q: %s", comma(i), name, line)
	}
	return nil
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}
