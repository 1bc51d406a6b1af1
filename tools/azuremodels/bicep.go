package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// document is a file types.json of Bicep's: a list of types that refer to each other by their
// places. Its form: https://github.com/Azure/bicep-types/blob/main/src/bicep-types/src/types.ts
type document []bicepType

type bicepType struct {
	Kind string `json:"$type"`
	Name string `json:"name"`
	// Value of a literal.
	Value any `json:"value"`
	// Limits of a text's or a list's length, and of a number.
	MinLength *float64 `json:"minLength"`
	MaxLength *float64 `json:"maxLength"`
	MinValue  *float64 `json:"minValue"`
	MaxValue  *float64 `json:"maxValue"`
	Pattern   string   `json:"pattern"`
	// What a resource, a union, a list and an object are made of.
	Body       reference                `json:"body"`
	Elements   json.RawMessage          `json:"elements"`
	Items      reference                `json:"itemType"`
	Properties map[string]bicepProperty `json:"properties"`
	Base       map[string]bicepProperty `json:"baseProperties"`
	Additional reference                `json:"additionalProperties"`
}

type bicepProperty struct {
	Type  reference `json:"type"`
	Flags int       `json:"flags"`
}

// The flags of a property.
const (
	required = 1 << iota
	readOnly
)

// reference to a type: #/12.
type reference struct {
	Ref string `json:"$ref"`
}

func parse(data []byte) (document, error) {
	var d document
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("parse the types: %w", err)
	}
	return d, nil
}

// at is the type that a reference leads to, and its place; -1 for none.
func (d document) at(r reference) (bicepType, int) {
	i, err := strconv.Atoi(strings.TrimPrefix(r.Ref, "#/"))
	if err != nil || i >= len(d) {
		return bicepType{}, -1
	}
	return d[i], i
}

// resource finds the body of a resource such as Microsoft.Network/virtualNetworks@2019-06-01.
func (d document) resource(name string) (bicepType, bool) {
	i := slices.IndexFunc(d, func(t bicepType) bool { return t.Kind == "ResourceType" && t.Name == name })
	if i < 0 {
		return bicepType{}, false
	}
	body, place := d.at(d[i].Body)
	return body, place >= 0
}

// members of an object. One with variants has those of all of them, of which none is required.
func (d document) members(t bicepType) (map[string]bicepProperty, error) {
	if t.Kind != "DiscriminatedObjectType" {
		return t.Properties, nil
	}
	all := map[string]bicepProperty{}
	var variants map[string]reference
	if err := json.Unmarshal(t.Elements, &variants); err != nil {
		return nil, fmt.Errorf("parse the variants of %s: %w", t.Name, err)
	}
	for _, variant := range variants {
		of, _ := d.at(variant)
		for name, p := range of.Properties {
			p.Flags &^= required
			all[name] = p
		}
	}
	for name, p := range t.Base {
		all[name] = p
	}
	return all, nil
}

// values of a union of literals; other elements, such as any text, are passed over: they are
// how the specifications say that values may be added later.
func (d document) values(t bicepType) ([]string, error) {
	var elements []reference
	if err := json.Unmarshal(t.Elements, &elements); err != nil {
		return nil, fmt.Errorf("parse a union: %w", err)
	}
	var list []string
	for _, e := range elements {
		if of, _ := d.at(e); of.Kind == "StringLiteralType" {
			list = append(list, fmt.Sprint(of.Value))
		}
	}
	slices.Sort(list)
	return list, nil
}
