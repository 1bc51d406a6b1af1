package drift

import (
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

// Cloud is what a comparison asks of a provider of clouds.
type Cloud interface {
	// ClusterType is the type of the managed cluster, without which nothing in
	// bootstrap can be asked for.
	ClusterType() string
	// Maker is what makes resources with such tags besides the stacks; "" when
	// it is not known.
	Maker(tags map[string]string) string
	// SetByOthers says whether a property of a type's resources is for others to set
	// after their creation, as an autoscaler sets the size of a group.
	SetByOthers(typ, property string) bool
	// Name reads a resource's CloudID.
	Name(arn string) Named
}

// Named is what the CloudID of a resource says.
type Named struct {
	// Type of the resource, and its Name or id.
	Type, Name string
	// Unique says that no resource of another type has such a name.
	Unique bool
}

// Makers are what makes resources for a cluster besides its stacks, by a tag that each of them
// sets.
type Makers []struct{ Tag, Maker string }

// Of is the first one that sets a tag among these; "" when it is not known.
func (m Makers) Of(tags map[string]string) string {
	for _, one := range m {
		if _, ok := tags[one.Tag]; ok {
			return one.Maker
		}
	}
	return ""
}

// Sighting is a cloud resource that carries the cluster's ownership tag.
type Sighting struct {
	CloudID string
	Tags    map[string]string
}

// Known is what states have of the cloud.
type Known struct{ ids, arns map[string]bool }

// Know gathers all ids of states' resources.
func Know(states ...[]apitype.ResourceV3) Known {
	k := Known{ids: map[string]bool{}, arns: map[string]bool{}}
	for _, resources := range states {
		for _, r := range resources {
			k.ids[sameInAnyCase(string(r.ID))] = true
			// A pod identity association is the one that calls it otherwise.
			for _, key := range []string{"arn", "associationArn"} {
				if arn, ok := r.Outputs[key].(string); ok {
					k.arns[arn] = true
				}
			}
			// A tag may be on a resource of another owner: that is not unexpected.
			if id, ok := r.Inputs["resourceId"].(string); ok {
				k.ids[id] = true
			}
		}
	}
	return k
}

// sameInAnyCase is one text for all the ways to write an id. Azure's ids are paths, which
// are the same in any case of their letters:
// https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules
func sameInAnyCase(id string) string {
	if strings.HasPrefix(id, "/subscriptions/") {
		return strings.ToLower(id)
	}
	return id
}

// has says whether a state has the resource: by what tells it apart from all others
// in the cloud.
func (k Known) has(arn string, named Named) bool {
	return k.arns[arn] || k.ids[sameInAnyCase(arn)] || named.Unique && k.ids[named.Name]
}

// Sort tells what is unexpected among the sightings from what a state has, and
// from what is made by the cloud or a controller.
func Sort(cloud Cloud, seen []Sighting, known Known) (found []Difference, left []LeftOut) {
	counts := map[string]int{}
	for _, s := range seen {
		named := cloud.Name(s.CloudID)
		if known.has(s.CloudID, named) {
			continue
		}
		if maker := cloud.Maker(s.Tags); maker != "" {
			counts[maker]++
			continue
		}
		found = append(found, Difference{
			Class: Unexpected, CloudID: s.CloudID, Type: named.Type, Name: named.Name,
		})
	}
	for _, maker := range slices.Sorted(maps.Keys(counts)) {
		left = append(left, LeftOut{Maker: maker, Count: counts[maker]})
	}
	return found, left
}
