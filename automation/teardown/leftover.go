package teardown

import (
	"fmt"
	"slices"
	"strings"
)

// Leftover is a cloud resource that is left over of a cluster.
type Leftover struct {
	// Kind for people, such as "load balancer".
	Kind string `json:"kind"`
	// ID in the cloud.
	ID string `json:"id"`
	// Name in the cloud, where it has one beside its id.
	Name string `json:"name,omitempty"`
	// CloudID is the id of the resource in the whole cloud, such as its ARN.
	CloudID string `json:"arn,omitempty"`
	// Proof says why it is the cluster's. What has none is named, and never deleted.
	Proof string `json:"proof,omitempty"`

	// Type is the provider's type token; empty when it is not known, and the
	// resource can neither be looked at nor deleted by it.
	Type string `json:"-"`
	// Rank says when a resource is deleted: those of a lower rank go before.
	Rank int `json:"-"`
	// Passes says that a controller, or the cloud, makes such a resource and deletes
	// it, which takes some time. What core makes does not pass: no controller deletes
	// it. A claim's volume does not pass either: it was deleted before the claim was
	// gone, or is to stay.
	Passes bool `json:"-"`
	// Data says that people keep something in the resource: a bucket, a file system,
	// a snapshot, or a volume that has outlived its claim.
	Data bool `json:"-"`
	// LostWith is what takes the resource along when core is destroyed, although it holds data:
	// the resource group of AKS's nodes, with the disks of claims that were to stay. ""
	// for what outlives core.
	LostWith string `json:"-"`
	// GoesFull says that the cloud deletes the resource with the data in it, and does not refuse
	// to, as it does for a bucket.
	GoesFull bool `json:"-"`
	// GoesWithCore says that the cloud has made the resource for the managed cluster
	// or one of its nodes, and takes it away with them.
	GoesWithCore bool `json:"-"`
}

// String names the resource for people.
func (l Leftover) String() string {
	if l.Name != "" && l.Name != l.ID {
		return fmt.Sprintf("%s %s (%s)", l.Kind, l.ID, l.Name)
	}
	return l.Kind + " " + l.ID
}

// Sort puts resources into the order in which they can be deleted.
func Sort(all []Leftover) {
	slices.SortStableFunc(all, func(a, b Leftover) int {
		if a.Rank != b.Rank {
			return a.Rank - b.Rank
		}
		return strings.Compare(a.String(), b.String())
	})
}
