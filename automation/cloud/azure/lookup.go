package azure

import (
	"context"
	"maps"

	"tombolo/automation/cloud/azure/arm"
	"tombolo/automation/recovery"
	"tombolo/config"
	"tombolo/internal/armid"
	"tombolo/internal/names"
)

// listVersion is the version of the Resource Manager's own API for lists of resources, groups
// and providers: https://learn.microsoft.com/rest/api/resources/
const listVersion = "2021-04-01"

// LookupRight is what has to be allowed for a lookup.
func (Cloud) LookupRight() string { return "Microsoft.Resources/subscriptions/resources/read" }

// Lookup lists the resources and resource groups with the owner's tag. No query is made for
// Azure: all ids are derived.
func (a Cloud) Lookup(ctx context.Context, c *config.Cluster, owner string, _ []recovery.Query) ([]recovery.Sighting, error) {
	var found []recovery.Sighting
	err := a.look(ctx, "look up interrupted creations of", c, func(client arm.Client) error {
		all, err := owned(ctx, client, c, owner)
		for _, r := range all {
			found = append(found, recovery.Sighting{CloudID: r.ID, Tags: r.Tags})
		}
		return err
	})
	return found, err
}

// listed is a resource of a list.
type listed struct {
	ID        string            `json:"id"`
	Tags      map[string]string `json:"tags"`
	ManagedBy string            `json:"managedBy"`
}

// owned are the resources and groups of the subscription with the owner's tag.
func owned(ctx context.Context, client arm.Client, c *config.Cluster, owner string) ([]listed, error) {
	var out []listed
	for _, what := range []string{"resourcegroups", "resources"} {
		found, err := arm.List[listed](ctx, client, armid.Subscription(c.Cloud.Account)+"/"+what, listVersion, arm.Tagged(names.OwnerTag, owner))
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			out = append(out, marked(c, r, map[string]string{names.OwnerTag: owner}))
		}
	}
	return out, nil
}

// contents are the resources in a group of the subscription, with their tags; none when there
// is no such group.
func contents(ctx context.Context, client arm.Client, c *config.Cluster, group string) ([]listed, error) {
	found, err := arm.List[listed](ctx, client, armid.Group(c.Cloud.Account, group)+"/resources", listVersion, "")
	if arm.IsMissing(err) {
		return nil, nil
	}
	for i := range found {
		found[i] = marked(c, found[i], nil)
	}
	return found, err
}

// marked is a resource with tags besides its own. AKS copies a cluster's tags to what it
// makes: what is in its node resource group gets the tag by which AKS marks the group.
// https://learn.microsoft.com/azure/aks/use-tags
func marked(c *config.Cluster, r listed, besides map[string]string) listed {
	tags := maps.Clone(besides)
	if tags == nil {
		tags = map[string]string{}
	}
	maps.Copy(tags, r.Tags)
	if id, ok := armid.Parse(r.ID); ok && id.In(c.Cloud.Account, nodeGroupOf(c)) {
		tags[managedTag] = c.NameInCloud()
	}
	r.Tags = tags
	return r
}
