package teardown

import (
	"context"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/config"
	"tombolo/stacks/owner"
)

// Cloud is what a teardown asks of a provider of clouds: what carries a cluster's
// tags is found, and deleted.
type Cloud interface {
	// Data says what a type has to do with data that people keep.
	Data(token string) Data
	// Network is the id of the network that core has made; "" when it uses
	// another's.
	Network(core []apitype.ResourceV3) string
	// ControlPlane is the managed cluster that core has; the zero value without one.
	ControlPlane(core []apitype.ResourceV3) owner.ControlPlane
	// Find lists what is the cluster's, each with its proof, but for what is known; what
	// the provider can look at was looked at. Without an owner it lists besides, and
	// without a proof, what has the cluster's name.
	Find(ctx context.Context, c *config.Cluster, q Search) ([]Leftover, error)
	// Remove deletes resources that the search has found. One without a proof is an
	// error, and one that has another owner's tag is left.
	Remove(ctx context.Context, c *config.Cluster, q Search, all []Leftover) error
}

// Search says whose resources to look for, and what to leave out.
type Search struct {
	// Owner is the identity of the cluster; "" when its state has none.
	Owner string
	// ControlPlane that the state has or had. What controllers have made is the
	// cluster's as long as no other control plane has the name.
	ControlPlane owner.ControlPlane
	// Network that core has made; its load balancers' network interfaces are found
	// by it. "" for none.
	Network string
	// Known resources are left out.
	Known func(Leftover) bool
}

// Data says what a type of resources has to do with data that people keep.
type Data int

// What it has to do with it.
const (
	// NoData: nothing.
	NoData Data = iota
	// HoldsData: it is in the resource.
	HoldsData
	// GuardsData: the resource guards it, and goes with what holds it.
	GuardsData
)
