package aws

import (
	"context"
	"fmt"
	"slices"
)

// Client calls the account's API in one region, as the controllers of a cluster
// do. What AWS refuses is refused. It is safe for concurrent use.
type Client struct {
	cloud   *Cloud
	session *session
}

// Resource is a resource of the account, as a Client finds it.
type Resource struct {
	// ID of the resource, as Pulumi has it.
	ID string
	// Properties by the names of the AWS provider for Pulumi.
	Properties map[string]any
}

// Text is a property that is a text, or empty.
func (r Resource) Text(property string) string { return props(r.Properties).str(property) }

// Client returns a client of a region.
func (c *Cloud) Client(region string) *Client {
	return &Client{cloud: c, session: &session{region: region}}
}

// Create makes a resource of a type, such as aws:ec2/instance:Instance. Inputs
// are those of the AWS provider for Pulumi; its defaults stand for what is not
// given, but for names.
func (c *Client) Create(ctx context.Context, token string, inputs map[string]any) (Resource, error) {
	typ := c.cloud.types[token]
	if typ == nil {
		return Resource{}, fmt.Errorf("the AWS stand-in does not know the resource type %s", token)
	}
	in, _ := normal(map[string]any(props(inputs).clone())).(map[string]any)
	for key, value := range typ.defaults {
		props(in).setDefault(key, cloneValue(value))
	}
	problems := append(typ.schema.check(in), validateTags(in)...)
	if len(problems) == 0 && typ.validate != nil {
		problems = typ.validate(in)
	}
	if len(problems) > 0 {
		return Resource{}, fmt.Errorf("creating %s: %s: %s", typ.noun, problems[0].path, problems[0].reason)
	}
	r, err := c.cloud.create(ctx, c.session, typ, in)
	if err != nil {
		return Resource{}, err
	}
	return r.resource(), nil
}

// Delete deletes a resource. One that does not exist is no error.
func (c *Client) Delete(ctx context.Context, token, id string) error {
	return c.cloud.remove(ctx, c.session, c.cloud.types[token], id)
}

// Find lists the resources of a type that have all of the tags, in the order of
// their creation.
func (c *Client) Find(token string, tags map[string]string) []Resource {
	c.cloud.mu.Lock()
	defer c.cloud.mu.Unlock()
	var found []Resource
	for r := range c.cloud.each(token, c.session.region) {
		have := r.Outputs.strs("tags")
		if !slices.ContainsFunc(sortedKeys(tags), func(key string) bool { return have[key] != tags[key] }) {
			found = append(found, r.resource())
		}
	}
	return found
}

func (r *record) resource() Resource {
	return Resource{ID: r.ID, Properties: r.Outputs.clone()}
}

// ClusterNetwork is where a cluster is.
type ClusterNetwork struct {
	VPC string
	// SecurityGroup is the cluster's, which its nodes have too.
	SecurityGroup string
	// Subnets of the VPC, in the order of their creation.
	Subnets []ClusterSubnet
}

// ClusterSubnet is a subnet of the network that a cluster is in.
type ClusterSubnet struct {
	ID, Zone string
	Tags     map[string]string
}

// Network tells where a cluster is; false where there is no such cluster.
func (c *Client) Network(cluster string) (ClusterNetwork, bool) {
	c.cloud.mu.Lock()
	defer c.cloud.mu.Unlock()
	r := c.cloud.find(clusterType, c.session.region, cluster)
	if r == nil {
		return ClusterNetwork{}, false
	}
	config := r.Outputs.sub("vpcConfig")
	network := ClusterNetwork{VPC: config.str("vpcId"), SecurityGroup: config.str("clusterSecurityGroupId")}
	for subnet := range c.cloud.each(subnetType, c.session.region) {
		if subnet.Inputs.str("vpcId") == network.VPC {
			network.Subnets = append(network.Subnets, ClusterSubnet{
				ID: subnet.ID, Zone: subnet.Outputs.str("availabilityZone"), Tags: subnet.Outputs.strs("tags"),
			})
		}
	}
	return network, true
}
