// Package redacted has copies of states that hold no secret, so that who may not decrypt secrets
// can preview: a placeholder is in the place of each, and a program that runs on the copy leaves
// the properties that have one as they are. See docs/adr/0056-previews-decrypt-nothing.md.
package redacted

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/slice"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/automation/value"
)

// Secret is the type of Kubernetes' Secrets, whose data is a secret as a whole.
const Secret = "kubernetes:core/v1:Secret"

// Copy is a copy of a state.
type Copy struct {
	// Deployment has a placeholder for each secret, and no secrets provider.
	Deployment json.RawMessage
	// Unreadable are the URNs of resources that cannot be compared with the world, sorted:
	// Kubernetes' Secrets, and what a provider reaches by a secret.
	Unreadable []string
	// Held are the URNs of resources that have a secret among their inputs, sorted.
	Held []string

	// kept are the properties of Held that a program leaves as they are.
	kept map[named][]string
}

// named is a resource by its type and its name.
type named struct{ of, name string }

// Of copies the state of a stack; the zero Copy of none.
func Of(deployment json.RawMessage) (Copy, error) {
	var c Copy
	if len(deployment) == 0 {
		return c, nil
	}
	var state map[string]any
	d := json.NewDecoder(bytes.NewReader(deployment))
	d.UseNumber() // as they are written
	if err := d.Decode(&state); err != nil {
		return c, fmt.Errorf("read a state to copy it without its secrets: %w", err)
	}
	delete(state, "secrets_providers")
	for key, v := range state {
		if key != "resources" {
			state[key] = replaced(v, unknown)
		}
	}
	c.kept = map[named][]string{}
	names := map[named]int{}
	for _, r := range objects(state["resources"]) {
		names[nameOf(r)]++
	}
	reaching := map[string]bool{} // providers that have secrets, by URN and id
	for _, r := range objects(state["resources"]) {
		c.take(r, reaching)
	}
	for _, r := range objects(state["resources"]) {
		if urn := text(r, "urn"); text(r, "type") == Secret || reaching[text(r, "provider")] {
			c.Unreadable = append(c.Unreadable, urn)
		}
	}
	for of := range c.kept {
		if names[of] > 1 { // the program cannot tell which one has the secret
			return Copy{}, fmt.Errorf("two resources of the type %s have the name %s, one of them with a secret", of.of, of.name)
		}
	}
	slices.Sort(c.Held)
	slices.Sort(c.Unreadable)
	var err error
	if c.Deployment, err = json.Marshal(state); err != nil {
		return Copy{}, err
	}
	if bytes.Contains(c.Deployment, []byte(`"ciphertext":`)) { // in a place where nobody expects one
		return Copy{}, errors.New("something encrypted is left in the copy of the state")
	}
	return c, nil
}

func nameOf(r map[string]any) named { return named{text(r, "type"), value.NameOf(text(r, "urn"))} }

// take replaces the secrets of one resource, and notes where its inputs have some.
func (c *Copy) take(r map[string]any, reaching map[string]bool) {
	inputs, _ := r["inputs"].(map[string]any)
	markSecret(r)
	paths := secretsIn(inputs, nil)
	redact(r)
	if len(paths) == 0 {
		return
	}
	urn, of := text(r, "urn"), text(r, "type")
	c.Held = append(c.Held, urn)
	if strings.HasPrefix(of, "pulumi:providers:") {
		reaching[urn+"::"+text(r, "id")] = true
	}
	// What the program will say of the resource's options, so that these do not differ.
	ignored, _ := r["ignoreChanges"].([]any)
	for _, path := range paths {
		ignored = append(ignored, path)
	}
	r["ignoreChanges"] = ignored
	c.kept[nameOf(r)] = paths
}

// Around is a program that leaves as they are the properties that have secrets in the copied state.
func (c Copy) Around(program pulumi.RunFunc) pulumi.RunFunc {
	if len(c.kept) == 0 {
		return program
	}
	return func(ctx *pulumi.Context) error {
		err := ctx.RegisterStackTransformation(func(a *pulumi.ResourceTransformationArgs) *pulumi.ResourceTransformationResult {
			paths := c.kept[named{a.Type, a.Name}]
			if len(paths) == 0 {
				return nil
			}
			return &pulumi.ResourceTransformationResult{Props: a.Props, Opts: append(a.Opts, pulumi.IgnoreChanges(paths))}
		})
		if err != nil {
			return fmt.Errorf("keep the properties that have secrets: %w", err)
		}
		return program(ctx)
	}
}

// markSecret marks what is secret though the state does not say so: the data of a Secret that was
// taken in by others, and outputs that an option names.
func markSecret(r map[string]any) {
	var outputs []any
	if text(r, "type") == Secret {
		outputs = append(outputs, "data", "stringData")
	}
	additional, _ := r["additionalSecretOutputs"].([]any)
	for part, names := range map[string][]any{"inputs": outputs, "outputs": append(additional, outputs...)} {
		properties, _ := r[part].(map[string]any)
		for _, name := range names {
			name, _ := name.(string)
			if v, has := properties[name]; has && v != nil {
				properties[name] = map[string]any{resource.SigKey: resource.SecretSig}
			}
		}
	}
}

// redact replaces the secrets of a resource.
func redact(r map[string]any) {
	of := text(r, "type")
	for part, v := range r {
		properties, ok := v.(map[string]any)
		if !ok || part != "inputs" && part != "outputs" {
			r[part] = replaced(v, unknown)
			continue
		}
		for key, v := range properties {
			properties[key] = replaced(v, placeholder(of, key))
		}
	}
}

// unknown is the JSON that stands for a secret. What is in one is not known, not even its type.
const unknown = `"[secret]"`

// placeholder stands for a property that is a secret, or that has one in it. Its type has to be
// right where a program reads it.
func placeholder(of, property string) string {
	if of == Secret && (property == "data" || property == "stringData") {
		return "{}"
	}
	return unknown
}

// replaced is a value with a secret of this JSON in the place of each.
func replaced(v any, with string) any {
	switch v := v.(type) {
	case map[string]any:
		if isSecret(v) {
			return map[string]any{resource.SigKey: resource.SecretSig, "plaintext": with}
		}
		for key, child := range v {
			v[key] = replaced(child, with)
		}
	case []any:
		for i, child := range v {
			v[i] = replaced(child, with)
		}
	}
	return v
}

// secretsIn are the paths of the secrets in a value, as options of resources name properties.
func secretsIn(v any, at resource.PropertyPath) []string {
	var out []string
	switch v := v.(type) {
	case map[string]any:
		if isSecret(v) {
			return []string{at.String()}
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, secretsIn(v[key], append(slices.Clone(at), key))...)
		}
	case []any:
		for i, child := range v {
			out = append(out, secretsIn(child, append(slices.Clone(at), i))...)
		}
	}
	return out
}

func isSecret(v map[string]any) bool {
	return v[resource.SigKey] == resource.SecretSig || v[resource.SigKey] == resource.OutputValueSig && v["secret"] == true
}

func objects(v any) []map[string]any {
	list, _ := v.([]any)
	return slice.Map(list, func(e any) map[string]any {
		m, _ := e.(map[string]any)
		return m
	})
}

func text(of map[string]any, key string) string {
	s, _ := of[key].(string)
	return s
}
