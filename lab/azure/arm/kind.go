package arm

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"tombolo/internal/armid"
	"tombolo/lab/standin"
)

// Kind is what Resource Manager knows of a type of resources.
type Kind struct {
	// Token of the type in Pulumi.
	Token string
	// Path of the ids by which azure-native asks for them, with inputs in braces. The last
	// one names the resource.
	Path string
	// Answered is the path as Azure returns it, where that differs in its letters.
	Answered string
	// ARM is the type in Azure, such as Microsoft.Network/virtualNetworks.
	ARM string
	// Name is what names match; NameRule says it in words.
	Name     *regexp.Regexp
	NameRule string
	// Parent is the token of the type that it is within, and ParentPath the path of its id.
	Parent, ParentPath string
	// Provider is the namespace that the subscription has to be registered for; empty where
	// every subscription is.
	Provider string
	// Free resources are in no group of their own: their scope is another resource.
	Free bool
	// Worldwide resources are in no region: their location is global.
	Worldwide bool
	// Copied names are the program's own, where none is given; others get random digits.
	Copied bool
	// Made names a resource that is given none. Default: its name in the program and random
	// digits.
	Made func(seed []byte, name string) (string, error)
}

// Type completes a type with what Resource Manager does for all of them. The type's own
// functions are called once that has been done. Create is optional, and returns no id.
func (k Kind) Type(t standin.Type) *standin.Type {
	names := parameters(k.Path)
	name := names[len(names)-1]
	t.Global = true
	t.Noun = k.ARM
	t.API = standin.API{Service: k.ARM}
	t.ForceNew = append(slices.Clone(names), t.ForceNew...)
	t.Autoname = k.naming(name)
	t.Identifies = func(r *standin.Record, id string) bool { return Same(r.ID, id) }
	own := t
	t.Put, t.Validate = nil, withModel(k.Token, t.Validate)
	t.Create = func(c *standin.Call) (string, error) { return k.create(c, name, own) }
	t.Update = func(c *standin.Call) error { return k.update(c, own) }
	t.Remove = func(c *standin.Call) error { return k.remove(c, own) }
	return &t
}

// randomDigits end a name that azure-native has made.
var randomDigits = regexp.MustCompile(`[0-9a-f]{8}$`)

// naming is azure-native's: the name in the program and eight digits, without a dash. Source:
// https://github.com/pulumi/pulumi-azure-native/blob/006a62afe453b416e5d5c98d2d91c4c7281f52f9/provider/pkg/provider/provider.go
func (k Kind) naming(property string) standin.Autoname {
	naming := standin.Autoname{Property: property, Make: k.Made, Made: randomDigits.MatchString}
	switch {
	case k.Copied:
		naming.Make = func(_ []byte, name string) (string, error) { return name, nil }
		naming.Made = func(string) bool { return false }
	case k.Made == nil:
		naming.Make = func(seed []byte, name string) (string, error) { return resource.NewUniqueName(seed, name, 8, 0, nil) }
	}
	return naming
}

// create refuses what Resource Manager refuses, has the type do its part, and returns the id
// that Azure answers with.
func (k Kind) create(c *standin.Call, property string, own standin.Type) (string, error) {
	id := Filled(k.Path, SubscriptionFor(c), c.In())
	if ByID(c.Cloud, k.Token, id) != nil {
		return "", fmt.Errorf("cannot create already existing resource '%s'", id)
	}
	c.Record.ID = id
	if k.Answered != "" {
		c.Record.ID = Filled(k.Answered, SubscriptionFor(c), c.In())
	}
	if err := k.admit(c, property); err != nil {
		return "", err
	}
	k.describe(c, property)
	if err := c.Check(own.Put); err != nil {
		return "", err
	}
	if own.Create != nil {
		if _, err := own.Create(c); err != nil {
			return "", err
		}
	}
	keepOutputs(c)
	return c.Record.ID, nil
}

// describe fills in what every resource has.
func (k Kind) describe(c *standin.Call, property string) {
	out := c.Out()
	out["name"], out["type"] = c.In().Str(property), k.ARM
	if location := out.Str("location"); location != "" {
		out["location"] = Normal(location)
	}
	if c.Type.HasOutput("systemData") {
		now := c.Record.Created.UTC().Format(time.RFC3339)
		by := map[string]any{"createdBy": ClientFor(c), "createdByType": "Application", "createdAt": now}
		by["lastModifiedBy"], by["lastModifiedByType"], by["lastModifiedAt"] = by["createdBy"], by["createdByType"], now
		out["systemData"] = by
	}
}

func (k Kind) update(c *standin.Call, own standin.Type) error {
	if err := c.Check(k.admitWrite, checkTags, k.checkContent); err != nil {
		return err
	}
	out, old := c.Out(), c.Old.Outputs
	out["name"] = old["name"]
	if location := old.Str("location"); location != "" {
		if given := c.In().Str("location"); given != "" && Normal(given) != location {
			return c.Refuse(standin.Refusal{Code: "InvalidResourceLocation", Status: 409, Message: fmt.Sprintf(
				"The resource '%s' already exists in location '%s' in resource group '%s'. A resource with the same name cannot be created in location '%s'. Please select a new resource name.",
				armid.NameOf(c.Record.ID), location, armid.NameOf(armid.GroupOf(c.Record.ID)), Normal(given))})
		}
		out["location"] = location
	}
	if err := c.Check(own.Put, own.Update); err != nil {
		return err
	}
	keepOutputs(c)
	return nil
}

// remove has the type check that Azure would delete the resource, and takes along what is
// within it.
func (k Kind) remove(c *standin.Call, own standin.Type) error {
	if err := authorize(c, k.ARM+"/delete", c.Record.ID); err != nil {
		return err
	}
	if err := c.Check(own.Remove); err != nil {
		return err
	}
	if c.Type.Teardown != nil {
		return nil // what is within goes in the end
	}
	return ForgetWithin(c.Cloud, c.Record.ID)
}

// keepOutputs drops inputs that Azure does not return, such as the group's name.
func keepOutputs(c *standin.Call) {
	for name := range c.Out() {
		if !c.Type.HasOutput(name) {
			delete(c.Out(), name)
		}
	}
}
