package standin

import (
	"context"
	"fmt"
)

// Client calls the account's API in one region, as the controllers of a cluster
// do. What the cloud refuses is refused. It is safe for concurrent use.
type Client struct {
	cloud   *Cloud
	session *session
}

// Resource is a resource of the account, as a Client finds it.
type Resource struct {
	// ID of the resource, as Pulumi has it.
	ID string
	// Properties by the names of the cloud's provider for Pulumi.
	Properties map[string]any
}

// Text is a property that is a text, or empty.
func (r Resource) Text(property string) string { return Props(r.Properties).Str(property) }

// Client returns a client of a region.
func (c *Cloud) Client(region string) *Client {
	return &Client{cloud: c, session: &session{Region: region}}
}

// As returns a client that calls as somebody else than the credentials' own caller.
func (c *Client) As(caller string) *Client {
	return &Client{cloud: c.cloud, session: &session{Region: c.session.Region, Caller: caller}}
}

// Create makes a resource of a type, such as aws:ec2/instance:Instance. Inputs
// are those of the cloud's provider for Pulumi; its defaults stand for what is not
// given, but for names.
func (c *Client) Create(ctx context.Context, token string, inputs map[string]any) (Resource, error) {
	typ := c.cloud.catalogue.Types[token]
	if typ == nil {
		return Resource{}, fmt.Errorf("the %s stand-in does not know the resource type %s", c.cloud.catalogue.Cloud, token)
	}
	in, _ := Normal(map[string]any(Props(inputs).Clone())).(map[string]any)
	for key, value := range typ.Defaults {
		Props(in).SetDefault(key, cloneValue(value))
	}
	if problems := c.cloud.catalogue.check(typ, in); len(problems) > 0 {
		return Resource{}, fmt.Errorf("creating %s: %s: %s", typ.Noun, problems[0].Path, problems[0].Reason)
	}
	r, err := c.cloud.create(ctx, c.session, typ, in)
	if err != nil {
		return Resource{}, err
	}
	return r.resource(), nil
}

// Update changes inputs of a resource, by its id; others stay as they are.
func (c *Client) Update(ctx context.Context, token, id string, changes map[string]any) error {
	typ := c.cloud.catalogue.Types[token]
	r := c.cloud.read(typ, c.session, id)
	if r == nil {
		return fmt.Errorf("updating %s (%s): it does not exist any more", typ.Noun, id)
	}
	in, _ := Normal(map[string]any(Merged(r.Inputs, Props(changes).Clone()))).(map[string]any)
	if problems := c.cloud.catalogue.check(typ, in); len(problems) > 0 {
		return fmt.Errorf("updating %s (%s): %s: %s", typ.Noun, id, problems[0].Path, problems[0].Reason)
	}
	_, err := c.cloud.update(ctx, c.session, typ, r.ID, r.Inputs, in)
	return err
}

// Delete deletes a resource. One that does not exist is no error.
func (c *Client) Delete(ctx context.Context, token, id string) error {
	return c.cloud.remove(ctx, c.session, c.cloud.catalogue.Types[token], id)
}

// Find lists the resources of a type that have all of the tags, in the order of
// their creation.
func (c *Client) Find(token string, tags map[string]string) []Resource {
	defer c.cloud.Lock()()
	var found []Resource
	for r := range c.cloud.Each(token, c.session.Region) {
		if r.HasTags(tags) {
			found = append(found, r.resource())
		}
	}
	return found
}

func (r *Record) resource() Resource {
	return Resource{ID: r.ID, Properties: r.Outputs.Clone()}
}
