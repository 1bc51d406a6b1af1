package standin

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Change changes properties of a resource as a person does with the
// cloud's own tools. A resource is named by its id or its own name, a property by its
// path, such as tags.Owner; the value nil removes a property. What the cloud
// would refuse is refused.
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
	in := r.Inputs.Clone()
	for _, path := range SortedKeys(changes) {
		if err := in.set(typ.steps(path), changes[path]); err != nil {
			return Item{}, fmt.Errorf("%s: %w", path, err)
		}
	}
	if problems := c.catalogue.check(typ, in); len(problems) > 0 {
		return Item{}, fmt.Errorf("%s: %s", problems[0].Path, problems[0].Reason)
	}
	if diff := typ.diff(r.Outputs, r.Inputs, in, nil); len(diff.Replaces) > 0 {
		return Item{}, fmt.Errorf("%s cannot change %s of an existing %s; delete it instead", c.catalogue.Cloud, diff.Replaces[0], typ.Noun)
	}
	changed, err := c.update(ctx, &session{Region: r.Region}, typ, r.ID, r.Inputs, in)
	if err != nil {
		return Item{}, err
	}
	return changed.item(c.catalogue.Names), nil
}

// Remove deletes a resource, named by its id or its own name, as a person does
// with the cloud's own tools. What the cloud would refuse is refused.
func (c *Cloud) Remove(ctx context.Context, token, name string) (Item, error) {
	typ, r, err := c.named(token, name)
	if err == nil {
		err = c.remove(ctx, &session{Region: r.Region}, typ, r.ID)
	}
	if err != nil {
		return Item{}, fmt.Errorf("delete %s %s: %w", token, name, err)
	}
	return r.item(c.catalogue.Names), nil
}

// Has says whether there is a resource of a type, in any region, with an id or a name.
func (c *Cloud) Has(token, name string) bool {
	_, _, err := c.named(token, name)
	return err == nil
}

// named finds the only resource of a type, in any region, with an id or a name.
func (c *Cloud) named(token, name string) (*Type, *Record, error) {
	typ, err := c.typeOf(token)
	if err != nil {
		return nil, nil, err
	}
	var found []*Record
	for _, r := range c.Snapshot(typ.token) {
		identified := r.ID == name || typ.Identifies != nil && typ.Identifies(r, name)
		if !r.Gone() && (identified || r.displayName(c.catalogue.Names) == name) {
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

// steps are the keys of a path. A tag's key may have dots.
func (t *Type) steps(path string) []string {
	first, rest, nested := strings.Cut(path, ".")
	if field := t.schema.inputs.fields[first]; nested && field != nil && field.Kind() == reflect.Map {
		return []string{first, rest}
	}
	return strings.Split(path, ".")
}

// set puts a value at a path of maps; nil removes what is there.
func (p Props) set(path []string, value any) error {
	key := path[0]
	if len(path) > 1 {
		inner, ok := p[key].(map[string]any)
		if p.Has(key) && !ok {
			return fmt.Errorf("%s is no object: give all of it as JSON", key)
		}
		if inner == nil {
			inner = map[string]any{}
		}
		p[key] = inner
		return Props(inner).set(path[1:], value)
	}
	if value == nil {
		delete(p, key)
		return nil
	}
	p[key] = Normal(value)
	return nil
}
