package aws

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// Change changes properties of a resource as somebody does who works past
// Pulumi. A resource is named by its id or its own name, a property by its
// path, such as tags.Owner; the value nil removes a property. What AWS would
// refuse is refused.
func (c *Cloud) Change(ctx context.Context, token, name string, changes map[string]any) (Item, error) {
	item, err := c.change(ctx, token, name, changes)
	if err != nil {
		return Item{}, fmt.Errorf("change %s %s: %w", token, name, err)
	}
	return item, nil
}

func (c *Cloud) change(ctx context.Context, token, name string, changes map[string]any) (Item, error) {
	typ, r, err := c.named(token, name)
	if err != nil {
		return Item{}, err
	}
	in := r.Inputs.clone()
	for _, path := range sortedKeys(changes) {
		if err := in.set(typ.steps(path), changes[path]); err != nil {
			return Item{}, fmt.Errorf("%s: %w", path, err)
		}
	}
	problems := append(typ.schema.check(in), validateTags(in)...)
	if len(problems) == 0 && typ.validate != nil {
		problems = typ.validate(in)
	}
	if len(problems) > 0 {
		return Item{}, fmt.Errorf("%s: %s", problems[0].path, problems[0].reason)
	}
	if diff := typ.diff(r.Outputs, r.Inputs, in, nil); len(diff.Replaces) > 0 {
		return Item{}, fmt.Errorf("AWS cannot change %s of an existing %s; delete it instead", diff.Replaces[0], typ.noun)
	}
	changed, err := c.update(ctx, &session{region: r.Region}, typ, r.ID, r.Inputs, in)
	if err != nil {
		return Item{}, err
	}
	return changed.item(), nil
}

// Remove deletes a resource, named by its id or its own name, as somebody does
// who works past Pulumi. What AWS would refuse is refused.
func (c *Cloud) Remove(ctx context.Context, token, name string) (Item, error) {
	typ, r, err := c.named(token, name)
	if err == nil {
		err = c.remove(ctx, &session{region: r.Region}, typ, r.ID)
	}
	if err != nil {
		return Item{}, fmt.Errorf("delete %s %s: %w", token, name, err)
	}
	return r.item(), nil
}

// named finds the only resource of a type, in any region, with an id or a name.
func (c *Cloud) named(token, name string) (*resourceType, *record, error) {
	typ, err := c.typeOf(token)
	if err != nil {
		return nil, nil, err
	}
	var found []*record
	for _, r := range c.snapshot(typ.token) {
		identified := r.ID == name || typ.identifies != nil && typ.identifies(r, name)
		if !r.gone() && (identified || r.displayName() == name) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return nil, nil, errors.New("there is none; see `tombolo lab status`")
	case 1:
		return typ, found[0], nil
	}
	ids := make([]string, len(found))
	for i, r := range found {
		ids[i] = r.ID
	}
	return nil, nil, fmt.Errorf("there are several, name one by its id: %s", strings.Join(ids, ", "))
}

func (c *Cloud) typeOf(name string) (*resourceType, error) {
	token, err := resolved(name, sortedKeys(c.types), "resource type")
	return c.types[token], err
}

// resolved finds a token by itself, or by its end, such as Vpc, where no other
// has the same.
func resolved(name string, tokens []string, what string) (string, error) {
	if slices.Contains(tokens, name) {
		return name, nil
	}
	var found []string
	for _, token := range tokens {
		if strings.HasSuffix(token, ":"+name) {
			found = append(found, token)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("the AWS stand-in does not know the %s %s; did you mean %s?", what, name, nearest(name, tokens))
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%s is the end of several %ss, use one of %s", name, what, strings.Join(found, ", "))
}

// nearest is the token that is spelled most like a name.
func nearest(name string, tokens []string) string {
	return slices.MinFunc(tokens, func(a, b string) int {
		return levenshtein.Distance(name, shortened(a, name), nil) - levenshtein.Distance(name, shortened(b, name), nil)
	})
}

// shortened is a token, or only its end for a name that has no more than that.
func shortened(token, name string) string {
	if strings.Contains(name, ":") {
		return token
	}
	return token[strings.LastIndexByte(token, ':')+1:]
}

func (r *record) item() Item {
	return Item{Type: r.Type, ID: r.ID, Name: r.displayName(), Region: r.Region, Created: r.Created}
}

// steps are the keys of a path. A tag's key may have dots.
func (t *resourceType) steps(path string) []string {
	first, rest, nested := strings.Cut(path, ".")
	if field := t.schema.inputs.fields[first]; nested && field != nil && field.Kind() == reflect.Map {
		return []string{first, rest}
	}
	return strings.Split(path, ".")
}

// set puts a value at a path of maps; nil removes what is there.
func (p props) set(path []string, value any) error {
	key := path[0]
	if len(path) > 1 {
		inner, ok := p[key].(map[string]any)
		if p.has(key) && !ok {
			return fmt.Errorf("%s is no object: give all of it as JSON", key)
		}
		if inner == nil {
			inner = map[string]any{}
		}
		p[key] = inner
		return props(inner).set(path[1:], value)
	}
	if value == nil {
		delete(p, key)
		return nil
	}
	p[key] = normal(value)
	return nil
}
