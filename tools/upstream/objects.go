package main

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"tombolo/tools/upstream/facts"
)

// kinds are the custom resources that the trees and `export operator` write.
// The fields of no other are kept: they are many thousands.
var kinds = []string{
	"EC2NodeClass", "NodePool", "ClusterSecretStore", "ExternalSecret", "PrometheusRule", "ServiceMonitor", "Gateway", "Certificate", "Stack",
}

// object is what is read of a manifest's object.
type object struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct {
		Group    string
		Names    struct{ Kind string }
		Versions []struct {
			Name            string
			Served, Storage bool
			Schema          struct {
				OpenAPIV3Schema schema `json:"openAPIV3Schema"`
			}
		}
	}
}

// schema is the part of a definition's schema that facts are made of.
type schema struct {
	Type                 string
	Required             []string
	Properties           map[string]schema
	Items                *schema
	AdditionalProperties any
	Preserve             bool `json:"x-kubernetes-preserve-unknown-fields"`
	IntOrString          bool `json:"x-kubernetes-int-or-string"`
}

// add adds what the objects of a manifest tell.
func add(out *facts.Chart, manifest string) error {
	for _, text := range documents(manifest) {
		var o object
		if err := yaml.Unmarshal([]byte(text), &o); err != nil {
			continue // an object of another shape
		}
		switch o.Kind {
		case "CustomResourceDefinition":
			define(out, o)
		case "ServiceAccount":
			out.ServiceAccounts = append(out.ServiceAccounts, o.Metadata.Name)
		default:
			var content any
			if err := yaml.Unmarshal([]byte(text), &content); err != nil {
				return fmt.Errorf("read %s %s: %w", o.Kind, o.Metadata.Name, err)
			}
			out.Images = append(out.Images, images(content)...)
		}
	}
	return nil
}

// defined adds the definitions of manifests, and nothing else of them.
func defined(out *facts.Chart, manifests []string) {
	for _, manifest := range manifests {
		for _, text := range documents(manifest) {
			var o object
			if yaml.Unmarshal([]byte(text), &o) == nil && o.Kind == "CustomResourceDefinition" {
				define(out, o)
			}
		}
	}
}

// images are those of all containers below a value.
func images(value any) []string {
	var out []string
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			if image, ok := inner.(string); ok && key == "image" {
				out = append(out, image)
			}
			out = append(out, images(inner)...)
		}
	case []any:
		for _, item := range value {
			out = append(out, images(item)...)
		}
	}
	return out
}

// define adds the fields of a definition's served versions, of which alphas and
// betas count only where there is no other.
func define(out *facts.Chart, o object) {
	if !slices.Contains(kinds, o.Spec.Names.Kind) {
		return
	}
	for _, v := range o.Spec.Versions {
		if !v.Served || strings.ContainsAny(v.Name, "ab") {
			continue
		}
		fields := facts.Fields{}
		walk(fields, v.Schema.OpenAPIV3Schema, "")
		out.Definitions[fmt.Sprintf("%s.%s/%s", o.Spec.Names.Kind, o.Spec.Group, v.Name)] = fields
	}
}

func walk(out facts.Fields, s schema, at string) {
	for key, p := range s.Properties {
		if at == "" && slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, key) {
			continue
		}
		path := strings.TrimPrefix(at+"/"+key, "/")
		field(out, p, path)
		if slices.Contains(s.Required, key) {
			out[path] += "!"
		}
	}
}

// field adds one field and what is below it.
func field(out facts.Fields, s schema, path string) {
	values, _ := s.AdditionalProperties.(map[string]any)
	switch {
	case s.IntOrString || s.Type == "" || s.Type == "object" && s.Preserve && len(s.Properties) == 0:
		out[path] = facts.Any
	case s.Type == "object" && len(s.Properties) > 0:
		out[path] = facts.Object
		walk(out, s, path)
	case s.Type == "object":
		out[path] = facts.Map
		if values != nil {
			field(out, again(values), path+"/{}")
		}
	case s.Type == "array":
		out[path] = facts.List
		if s.Items != nil {
			field(out, *s.Items, path+"/[]")
		}
	default:
		out[path] = s.Type
	}
}

// again reads a schema that was decoded without its type.
func again(values map[string]any) schema {
	var s schema
	text, err := yaml.Marshal(values)
	if err == nil {
		err = yaml.Unmarshal(text, &s)
	}
	if err != nil {
		return schema{}
	}
	return s
}
