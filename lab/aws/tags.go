package aws

import "maps"

// taggable reports whether a type has tags.
func (t *resourceType) taggable() bool {
	_, in := t.schema.inputs.fields["tags"]
	_, out := t.schema.outputs.fields["tagsAll"]
	return in && out
}

// mergeTags puts the provider's default tags under a resource's own, as the
// provider does in Check.
func (s *session) mergeTags(t *resourceType, in props) {
	if !t.taggable() || len(s.defaultTags) == 0 {
		return
	}
	if _, isUnknown := in["tags"].(unknown); isUnknown {
		return
	}
	tags := object(s.defaultTags)
	maps.Copy(tags, in.sub("tags"))
	in["tags"] = tags
}

// setTags puts the tags into the outputs. The inputs have the default tags
// since Check.
func (c *call) setTags() {
	if !c.typ.taggable() {
		return
	}
	c.r.setTags(c.in().sub("tags"))
}

// validateTags checks tags against AWS's limits: 50 tags, keys of 128 and values
// of 256 characters, no keys that begin with aws:.
func validateTags(in props) []problem {
	var problems []problem
	tags := in.sub("tags")
	if len(tags) > 50 {
		problems = append(problems, problem{"tags", "a resource can have at most 50 tags"})
	}
	for _, key := range sortedKeys(tags) {
		value, _ := tags[key].(string)
		switch {
		case len(key) == 0 || len(key) > 128:
			problems = append(problems, problem{"tags", "a tag's key has 1 to 128 characters: " + key})
		case len(value) > 256:
			problems = append(problems, problem{"tags", "a tag's value has at most 256 characters: " + key})
		case len(key) >= 4 && key[:4] == "aws:":
			problems = append(problems, problem{"tags", "a tag's key must not begin with aws: " + key})
		}
	}
	return problems
}
