package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// described is what is kept of a file: its resources, and the objects that they consist of.
type described struct {
	doc       document
	resources map[string]resource
	objects   map[string]map[string]property
	places    map[int]string
}

// resource is what is kept of one.
type resource struct {
	// Name is what its name has to be.
	Name property `json:"name"`
	// Body is the object that is sent.
	Body string `json:"body"`
}

// property is what is kept of one: what its value must be. One without anything takes any.
type property struct {
	Required  bool     `json:"required,omitempty"`
	ReadOnly  bool     `json:"readOnly,omitempty"`
	Enum      []string `json:"enum,omitempty"`
	Pattern   string   `json:"pattern,omitempty"`
	MinLength *float64 `json:"minLength,omitempty"`
	MaxLength *float64 `json:"maxLength,omitempty"`
	Min       *float64 `json:"min,omitempty"`
	Max       *float64 `json:"max,omitempty"`
	MinItems  *float64 `json:"minItems,omitempty"`
	MaxItems  *float64 `json:"maxItems,omitempty"`
	// Object that the value is; Items of a list, Values of a map.
	Object string    `json:"object,omitempty"`
	Items  *property `json:"items,omitempty"`
	Values *property `json:"values,omitempty"`
}

// facts writes what the types need of the files.
func facts(s source) ([]byte, error) {
	files := map[string]*described{}
	for _, token := range slices.Sorted(maps.Keys(s.wanted.Types)) {
		of := s.wanted.Types[token]
		if files[of.File] == nil {
			data, err := s.read(of.File)
			if err != nil {
				return nil, err
			}
			doc, err := parse(data)
			if err != nil {
				return nil, fmt.Errorf("read %s: %w", of.File, err)
			}
			files[of.File] = &described{doc: doc, resources: map[string]resource{}, objects: map[string]map[string]property{}, places: map[int]string{}}
		}
		if err := files[of.File].addResource(of.Resource); err != nil {
			return nil, fmt.Errorf("%s: %w", token, err)
		}
	}
	return write(s.wanted, files)
}

// addResource adds a resource without the part that is the same in all of them.
func (d *described) addResource(name string) error {
	body, known := d.doc.resource(name)
	if !known {
		return fmt.Errorf("there is no resource %s", name)
	}
	shape, err := d.property(bicepProperty{Type: body.Properties["name"].Type})
	if err != nil {
		return err
	}
	plain := body
	plain.Name, plain.Properties = name, maps.Clone(body.Properties)
	for _, same := range []string{"id", "name", "type", "apiVersion"} {
		delete(plain.Properties, same)
	}
	d.resources[name] = resource{Name: shape, Body: name}
	return d.addObject(name, plain)
}

func (d *described) addObject(name string, t bicepType) error {
	members, err := d.doc.members(t)
	if err != nil {
		return err
	}
	object := map[string]property{}
	d.objects[name] = object // before its members: an object can be within itself
	for _, member := range slices.Sorted(maps.Keys(members)) {
		of := members[member]
		if object[member], err = d.property(of); err != nil {
			return fmt.Errorf("%s: %w", member, err)
		}
	}
	return nil
}

func (d *described) property(p bicepProperty) (property, error) {
	out := property{Required: p.Flags&required != 0, ReadOnly: p.Flags&readOnly != 0}
	if out.ReadOnly {
		return property{ReadOnly: true}, nil
	}
	t, place := d.doc.at(p.Type)
	var err error
	switch t.Kind {
	case "StringType":
		out.Pattern, out.MinLength, out.MaxLength = t.Pattern, t.MinLength, t.MaxLength
	case "IntegerType":
		out.Min, out.Max = t.MinValue, t.MaxValue
	case "StringLiteralType":
		out.Enum = []string{fmt.Sprint(t.Value)}
	case "UnionType":
		out.Enum, err = d.doc.values(t)
	case "ArrayType":
		out.MinItems, out.MaxItems = t.MinLength, t.MaxLength
		out.Items, err = d.part(t.Items)
	case "ObjectType", "DiscriminatedObjectType":
		if len(t.Properties)+len(t.Base) == 0 {
			out.Values, err = d.part(t.Additional)
			break
		}
		out.Object, err = d.object(t, place)
	case "", "BooleanType", "AnyType":
	default:
		err = fmt.Errorf("a type of the kind %s is not known here", t.Kind)
	}
	return out, err
}

// part is what a list or a map has; nil for anything.
func (d *described) part(of reference) (*property, error) {
	p, err := d.property(bicepProperty{Type: of})
	if err != nil || p.isFree() {
		return nil, err
	}
	return &p, nil
}

func (p property) isFree() bool {
	data, err := json.Marshal(p)
	return err == nil && string(data) == "{}"
}

// object adds an object once, by a name that no other one has.
func (d *described) object(t bicepType, place int) (string, error) {
	if name, known := d.places[place]; known {
		return name, nil
	}
	name := t.Name
	for i := 2; d.objects[name] != nil; i++ {
		name = fmt.Sprintf("%s-%d", t.Name, i)
	}
	d.places[place] = name
	return name, d.addObject(name, t)
}

// write writes the facts with a line for each resource and each object.
func write(w wanted, files map[string]*described) ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "{\n\"repository\": %q,\n\"commit\": %q,\n\"types\": %q,\n\"files\": {", w.Repository, w.Commit, w.digest)
	for i, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&out, "%s\n%q: {\n\"digest\": %q,\n\"resources\": {", comma(i), name, w.Files[name])
		if err := lines(&out, files[name].resources); err != nil {
			return nil, err
		}
		fmt.Fprint(&out, "\n},\n\"objects\": {")
		if err := lines(&out, files[name].objects); err != nil {
			return nil, err
		}
		fmt.Fprint(&out, "\n}\n}")
	}
	fmt.Fprint(&out, "\n}\n}\n")
	return out.Bytes(), nil
}

func lines[V any](out *bytes.Buffer, values map[string]V) error {
	for i, name := range slices.Sorted(maps.Keys(values)) {
		var line bytes.Buffer
		encoder := json.NewEncoder(&line)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(values[name]); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
		fmt.Fprintf(out, "%s\n%q: %s", comma(i), name, bytes.TrimSpace(line.Bytes()))
	}
	return nil
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}
