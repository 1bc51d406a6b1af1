package standin

import (
	"maps"
	"slices"
)

// Taggable reports whether a type has tags.
func (t *Type) Taggable() bool {
	return t.HasInput("tags") && t.HasOutput(t.allTags)
}

// HasTags reports whether a resource has all of the tags.
func (r *Record) HasTags(tags map[string]string) bool {
	have := r.Outputs.Strs("tags")
	for key, value := range tags {
		if have[key] != value {
			return false
		}
	}
	return true
}

// mergeTags puts the provider's default tags under a resource's own, as the
// provider does in Check.
func (s *session) mergeTags(t *Type, in Props) {
	if !t.Taggable() || len(s.defaultTags) == 0 {
		return
	}
	if _, isUnknown := in["tags"].(Unknown); isUnknown {
		return
	}
	tags := object(s.defaultTags)
	maps.Copy(tags, in.Sub("tags"))
	in["tags"] = tags
}

// setTags puts the tags into the outputs. The inputs have the default tags
// since Check.
func (c *Call) setTags() {
	if !c.Type.Taggable() {
		return
	}
	c.Cloud.SetTags(c.Record, c.In().Sub("tags"))
}

// SetTags makes these the tags that the cloud has of the resource.
func (c *Cloud) SetTags(r *Record, tags Props) {
	r.Outputs["tags"] = map[string]any(tags.Clone())
	if c.catalogue.AllTags != "" {
		r.Outputs[c.catalogue.AllTags] = map[string]any(tags.Clone())
	}
}

// keepTags leaves the tags on a resource that its owner does not know of: an
// update changes what differs between the owner's state and its program.
func (c *Call) keepTags(known Props) {
	if !c.Type.Taggable() {
		return
	}
	tags := c.In().Clone().Sub("tags")
	for key, value := range c.Old.Outputs.Sub("tags") {
		if !known.Sub("tags").Has(key) && !tags.Has(key) {
			tags[key] = value
		}
	}
	c.Cloud.SetTags(c.Record, tags)
}

// inputsOf are a resource's inputs as a reader finds them: with the tags that
// others put on it.
func (t *Type) inputsOf(r *Record) Props {
	in := r.Inputs.Clone()
	if tags := r.Outputs.Sub("tags"); t.Taggable() && len(tags) > 0 && !maps.Equal(tags, in.Sub("tags")) {
		in["tags"] = map[string]any(tags.Clone())
	}
	return in
}

// TagPolicy is what an organisation wants of tags: a policy that denies calls whose request
// does not have a tag, by the condition Null on aws:RequestTag. Source:
// https://docs.aws.amazon.com/organizations/latest/userguide/orgs_manage_policies_scps_examples_tagging.html
type TagPolicy struct {
	// Calls that the policy denies, such as RunInstances.
	Calls []string
	// Keys of the tags, all of which a request has to have.
	Keys []string
}

// Lacks is a key that tags of a call do not have, "" when they have all or the policy is not
// about the call.
func (p TagPolicy) Lacks(call string, tags Props) string {
	if !slices.Contains(p.Calls, call) {
		return ""
	}
	for _, key := range p.Keys {
		if !tags.Has(key) {
			return key
		}
	}
	return ""
}

// checkTagPolicy denies what the organisation's policy denies.
func (c *Call) checkTagPolicy() error {
	call := c.Type.API.Create
	if key := c.Cloud.Tags.Lacks(call, c.In().Sub("tags")); key != "" {
		return c.Refusef("AccessDenied", "not authorized to perform %s with an explicit deny in a service control policy: the request has no tag %s", call, key)
	}
	return nil
}
