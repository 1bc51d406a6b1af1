// Package drift says what was changed outside of a cluster's stacks: it compares both with the cloud and the cluster, by the events of a
// refresh that changes nothing, sorts what the cloud has and no state knows, and
// keeps the last report of each cluster.
package drift

import (
	"cmp"
	"slices"
	"time"
)

// Class of a difference.
type Class string

// The classes, in the order in which they are reported.
const (
	// Missing: the state has the resource, and the cloud or cluster does not.
	Missing Class = "missing"
	// Changed: it is there, and not as the program made it.
	Changed Class = "changed"
	// Unexpected: the cloud has a resource with the cluster's ownership tag
	// that no state knows.
	Unexpected Class = "unexpected"
)

// Classes lists all of them, in the order in which they are reported.
func Classes() []Class { return []Class{Missing, Changed, Unexpected} }

// Difference is one resource that is not as the stacks have it.
type Difference struct {
	Class Class `json:"class"`
	// Stack that has the resource; empty for what no stack knows.
	Stack string `json:"stack,omitempty"`
	// Type is Pulumi's token, such as aws:ec2/vpc:Vpc; for what is unexpected
	// the service and type in its CloudID, such as ec2:vpc.
	Type string `json:"resource"`
	// Name in the program; for what is unexpected the last part of its CloudID.
	Name string `json:"name"`
	// URN in the state, and ID in the cloud; both empty for what is unexpected.
	URN string `json:"urn,omitempty"`
	ID  string `json:"id,omitempty"`
	// CloudID of what is unexpected, such as its ARN.
	CloudID string `json:"arn,omitempty"`
	// Properties that differ, by path; only for what has changed.
	Properties []Property `json:"properties,omitempty"`
}

// Property is one value that is not as the program made it. Secrets are shown
// as "[secret]".
type Property struct {
	// Path in the resource's inputs, such as tags.owner.
	Path string `json:"path"`
	// Expected is the state's value; nil when the program sets none.
	Expected any `json:"expected,omitempty"`
	// Actual is the cloud's value; nil when there is none any more.
	Actual any `json:"actual,omitempty"`
}

// Stack is how far a stack was compared.
type Stack struct {
	// Stack is its name.
	Stack string `json:"stack"`
	// Resources that were compared.
	Resources int `json:"resources"`
	// Skipped says why it was not compared; empty when it was.
	Skipped string `json:"skipped,omitempty"`
	// Busy says who works on it, or that an operation on it was interrupted:
	// what differs may then be temporary.
	Busy string `json:"busy,omitempty"`
}

// LeftOut counts resources with the cluster's tag that no state has, and that a
// controller or the cloud makes, by their maker.
type LeftOut struct {
	Maker string `json:"maker"`
	Count int    `json:"count"`
}

// Report is what was found about one cluster.
type Report struct {
	// Cluster is its name.
	Cluster string `json:"cluster"`
	// At is when the comparison began.
	At time.Time `json:"at"`
	// Stacks in the order in which they are made. One that does not exist is
	// listed as skipped.
	Stacks []Stack `json:"stacks"`
	// Differences by class, stack and name.
	Differences []Difference `json:"differences"`
	// LeftOut of what is unexpected.
	LeftOut []LeftOut `json:"leftOut,omitempty"`
	// Error says why the comparison is incomplete; empty when it is not.
	Error string `json:"error,omitempty"`
	// Seconds that it took.
	Seconds float64 `json:"seconds"`
}

// Drifted says whether anything differs.
func (r Report) Drifted() bool { return len(r.Differences) > 0 }

// Count of the differences of a class.
func (r Report) Count(c Class) int {
	n := 0
	for _, d := range r.Differences {
		if d.Class == c {
			n++
		}
	}
	return n
}

// Add puts differences in their places.
func (r *Report) Add(found ...Difference) {
	r.Differences = append(r.Differences, found...)
	order := Classes()
	slices.SortStableFunc(r.Differences, func(a, b Difference) int {
		return cmp.Or(
			cmp.Compare(slices.Index(order, a.Class), slices.Index(order, b.Class)),
			cmp.Compare(b.Stack, a.Stack), // core before bootstrap
			cmp.Compare(a.Type, b.Type), cmp.Compare(a.Name, b.Name), cmp.Compare(a.CloudID, b.CloudID),
		)
	})
}
