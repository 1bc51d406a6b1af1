package aws

import (
	"maps"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
)

const tagType = "aws:ec2/tag:Tag"

// tagQuota is the number of tags of a resource.
const tagQuota = 50

// taggingTypes are tags on resources that something else owns.
//
// The owner sees such a tag when it reads its resource: after a refresh it has
// the tag in its state and not in its program, and the next update takes it
// away, as the AWS provider's documentation warns. Without a refresh it knows
// nothing of the tag, and leaves it.
func taggingTypes() map[string]*resourceType {
	return map[string]*resourceType{
		tagType: {
			constructor: ec2.NewTag,
			noun:        "EC2 Tag",
			api:         api{service: "EC2", create: "CreateTags", update: "CreateTags", remove: "DeleteTags"},
			// internal/tags/tag_gen.go
			forceNew: []string{"key", "resourceId"},
			create:   createTag,
			update:   putTag,
			remove:   removeTag,
			takes:    timing{create: time.Second, update: time.Second, remove: time.Second},
		},
	}
}

func createTag(c *call) (string, error) {
	return c.in().str("resourceId") + "," + c.in().str("key"), putTag(c)
}

// putTag sets a tag, whoever set it before.
func putTag(c *call) error {
	id, key := c.in().str("resourceId"), c.in().str("key")
	if strings.HasPrefix(key, "aws:") {
		return c.refusef("InvalidParameterValue", "Value ( %s ) for parameter key is invalid. Tag keys starting with 'aws:' are reserved for internal use", key)
	}
	targets := c.tagTargets(id)
	if len(targets) == 0 {
		return c.refusef("InvalidID", "The ID '%s' is not valid", id)
	}
	for _, r := range targets {
		tags := r.Outputs.clone().sub("tags")
		if !tags.has(key) && len(tags) >= tagQuota {
			return c.refusef("TagLimitExceeded", "The maximum number of Tags for a resource has been reached.")
		}
		tags[key] = c.in().str("value")
		if err := c.retag(r, tags); err != nil {
			return err
		}
	}
	return nil
}

// removeTag deletes a tag that has still the value that it was given.
func removeTag(c *call) error {
	key := c.r.Inputs.str("key")
	for _, r := range c.tagTargets(c.r.Inputs.str("resourceId")) {
		tags := r.Outputs.clone().sub("tags")
		if tags.str(key) != c.r.Inputs.str("value") {
			continue
		}
		delete(tags, key)
		if err := c.retag(r, tags); err != nil {
			return err
		}
	}
	return nil
}

// tagTargets are the records of a resource of EC2. A default security group has
// two: what EC2 made, and what a program adopted.
func (c *call) tagTargets(id string) []*record {
	var targets []*record
	for _, r := range c.cloud.store.all() {
		typ := c.cloud.types[r.Type]
		if r.ID == id && r.Region == c.region && !r.gone() && typ != nil && typ.api.service == "EC2" && typ.taggable() {
			targets = append(targets, r)
		}
	}
	return targets
}

func (c *call) retag(r *record, tags props) error {
	tagged := r.clone()
	tagged.setTags(tags)
	return c.cloud.store.put(tagged)
}

// setTags makes these the tags that AWS has of the resource.
func (r *record) setTags(tags props) {
	r.Outputs["tags"] = map[string]any(tags.clone())
	r.Outputs["tagsAll"] = map[string]any(tags.clone())
}

// keepTags leaves the tags on a resource that its owner does not know of: an
// update changes what differs between the owner's state and its program.
func (c *call) keepTags(known props) {
	if !c.typ.taggable() {
		return
	}
	tags := c.in().clone().sub("tags")
	for key, value := range c.old.Outputs.sub("tags") {
		if !known.sub("tags").has(key) && !tags.has(key) {
			tags[key] = value
		}
	}
	c.r.setTags(tags)
}

// inputsOf are a resource's inputs as a reader finds them: with the tags that
// others put on it.
func (t *resourceType) inputsOf(r *record) props {
	in := r.Inputs.clone()
	if tags := r.Outputs.sub("tags"); t.taggable() && len(tags) > 0 && !maps.Equal(tags, in.sub("tags")) {
		in["tags"] = map[string]any(tags.clone())
	}
	return in
}
