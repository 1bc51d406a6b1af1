package standin

import "slices"

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
