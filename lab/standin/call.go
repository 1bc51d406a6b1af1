package standin

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// Call is one operation on one resource.
type Call struct {
	Cloud *Cloud
	*session
	Type      *Type
	operation string
	// Record is the resource as it becomes; old is how it was, nil on creation.
	Record, Old *Record
	// Known are the inputs that the caller of an update has in its state.
	Known Props
}

// In returns the inputs of the resource.
func (c *Call) In() Props { return c.Record.Inputs }

// Out returns the outputs of the resource.
func (c *Call) Out() Props { return c.Record.Outputs }

// name is the resource's own name or its id, for error texts.
func (c *Call) name() string {
	if p := c.Type.Autoname.Property; p != "" && c.Record.Inputs.Str(p) != "" {
		return c.Record.Inputs.Str(p)
	}
	return c.Record.ID
}

// Find returns the resource of a type that an id or ARN means, or nil.
func (c *Call) Find(typ, value string) *Record { return c.Cloud.Find(typ, c.Region, value) }

// Others yields the other resources of the call's type and region.
func (c *Call) Others() func(func(*Record) bool) {
	return func(yield func(*Record) bool) {
		for r := range c.Cloud.Each(c.Type.token, c.Region) {
			if r.Key() != c.Record.Key() && !yield(r) {
				return
			}
		}
	}
}

// Other is another resource of the call's type and region that has an output, or
// nil.
func (c *Call) Other(output, value string) *Record {
	for r := range c.Others() {
		if r.Outputs.Str(output) == value {
			return r
		}
	}
	return nil
}

// checkReferences refuses references to what does not exist.
func (c *Call) checkReferences() error {
	for _, ref := range c.Type.References {
		for _, value := range c.In().At(ref.Path...) {
			if c.Find(ref.To, value) == nil && ref.Missing.Code != "" {
				return c.Refuse(ref.Missing.About(value))
			}
		}
	}
	return nil
}

// dependants finds what refers to the call's resource: the ones that go with
// it, or an error for the first one that keeps it from being deleted.
func (c *Call) dependants() ([]*Record, error) {
	var cascade []*Record
	isTarget := func(value string) bool { return c.Cloud.Means(c.Record, value) }
	for _, holder := range c.Cloud.store.all() {
		typ := c.Cloud.catalogue.Types[holder.Type]
		if typ == nil || holder.Gone() || holder.Key() == c.Record.Key() {
			continue
		}
		for _, ref := range typ.References {
			if ref.To != c.Type.token || !slices.ContainsFunc(holder.Inputs.At(ref.Path...), isTarget) {
				continue
			}
			switch {
			case ref.Cascade, holder.Implied:
				cascade = append(cascade, holder)
			case !ref.Weak:
				refusal := c.Type.InUse
				if ref.Conflict != "" {
					refusal.Message = ref.Conflict
				}
				return nil, c.Refuse(refusal.About(c.Record.ID))
			}
		}
	}
	return cascade, nil
}

// Imply makes a resource that the cloud makes by itself along with another one.
func (c *Call) Imply(typ, id string, in, out Props) error {
	outputs := in.Clone()
	maps.Copy(outputs, out)
	return c.Cloud.Put(&Record{
		Type: typ, ID: id, Region: c.Region, Created: c.Cloud.Now(), Implied: true,
		Inputs: in.Clone(), Outputs: Normal(outputs.Clone()).(map[string]any),
	})
}

// Check asks functions one after the other, up to the first that refuses. Functions
// that there are not are left out.
func (c *Call) Check(checks ...func(c *Call) error) error {
	for _, check := range checks {
		if check == nil {
			continue
		}
		if err := check(c); err != nil {
			return err
		}
	}
	return nil
}

// Refuse makes the error of a call that the cloud refuses. With args, the
// message is a format for them.
func (c *Call) Refuse(why Refusal, args ...any) error {
	if len(args) > 0 {
		why.Message = fmt.Sprintf(why.Message, args...)
	}
	request := c.Type.request(c.operation, c.name(), c.Region)
	request.API.Update = cmp.Or(why.Call, request.API.Update)
	return c.Cloud.catalogue.Answers.Refused(request, why)
}

// Refusef is refuse with a message of its own.
func (c *Call) Refusef(code, format string, args ...any) error {
	return c.Refuse(Refusal{Code: code, Message: fmt.Sprintf(format, args...)})
}
