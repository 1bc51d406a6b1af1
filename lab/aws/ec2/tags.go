package ec2

import (
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"

	"tombolo/lab/standin"
)

// tagQuota is the number of tags of a resource.
const tagQuota = 50

// taggingTypes are tags on resources that something else owns.
//
// The owner sees such a tag when it reads its resource: after a refresh it has
// the tag in its state and not in its program, and the next update takes it
// away, as the AWS provider's documentation warns. Without a refresh it knows
// nothing of the tag, and leaves it.
func taggingTypes() map[string]*standin.Type {
	return map[string]*standin.Type{
		TagType: {
			Constructor: ec2.NewTag,
			Noun:        "EC2 Tag",
			API:         standin.API{Service: "EC2", Create: "CreateTags", Update: "CreateTags", Remove: "DeleteTags"},
			// internal/tags/tag_gen.go
			ForceNew: []string{"key", "resourceId"},
			Create:   createTag,
			Update:   putTag,
			Remove:   removeTag,
			Takes:    standin.Timing{Create: time.Second, Update: time.Second, Remove: time.Second},
		},
	}
}

func createTag(c *standin.Call) (string, error) {
	return c.In().Str("resourceId") + "," + c.In().Str("key"), putTag(c)
}

// putTag sets a tag, whoever set it before.
func putTag(c *standin.Call) error {
	id, key := c.In().Str("resourceId"), c.In().Str("key")
	if strings.HasPrefix(key, "aws:") {
		return c.Refusef("InvalidParameterValue", "Value ( %s ) for parameter key is invalid. Tag keys starting with 'aws:' are reserved for internal use", key)
	}
	targets := tagTargets(c, id)
	if len(targets) == 0 {
		return c.Refusef("InvalidID", "The ID '%s' is not valid", id)
	}
	for _, r := range targets {
		tags := r.Outputs.Clone().Sub("tags")
		if !tags.Has(key) && len(tags) >= tagQuota {
			return c.Refusef("TagLimitExceeded", "The maximum number of Tags for a resource has been reached.")
		}
		tags[key] = c.In().Str("value")
		if err := retag(c, r, tags); err != nil {
			return err
		}
	}
	return nil
}

// removeTag deletes a tag that has still the value that it was given.
func removeTag(c *standin.Call) error {
	key := c.Record.Inputs.Str("key")
	for _, r := range tagTargets(c, c.Record.Inputs.Str("resourceId")) {
		tags := r.Outputs.Clone().Sub("tags")
		if tags.Str(key) != c.Record.Inputs.Str("value") {
			continue
		}
		delete(tags, key)
		if err := retag(c, r, tags); err != nil {
			return err
		}
	}
	return nil
}

// tagTargets are the records of a resource of EC2. A default security group has
// two: what EC2 made, and what a program adopted.
func tagTargets(c *standin.Call, id string) []*standin.Record {
	var targets []*standin.Record
	for _, r := range c.Cloud.All() {
		typ := c.Cloud.TypeOf(r.Type)
		if r.ID == id && r.Region == c.Region && !r.Gone() && typ != nil && typ.API.Service == "EC2" && typ.Taggable() {
			targets = append(targets, r)
		}
	}
	return targets
}

func retag(c *standin.Call, r *standin.Record, tags standin.Props) error {
	tagged := r.Clone()
	c.Cloud.SetTags(tagged, tags)
	return c.Cloud.Put(tagged)
}
