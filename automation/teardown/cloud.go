package teardown

import (
	"context"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/config"
)

// Cloud is what a teardown asks of a provider of clouds: what carries a cluster's
// tags is found, and deleted.
type Cloud interface {
	// Data says what a type has to do with data that people keep.
	Data(token string) Data
	// Network is the id of the network that core has made; "" when it uses
	// another's.
	Network(core []apitype.ResourceV3) string
	// Find lists what the search finds, but for what is known; what the provider
	// can look at was looked at.
	Find(ctx context.Context, c *config.Cluster, q Search) ([]Leftover, error)
	// Remove deletes resources that were found.
	Remove(ctx context.Context, c *config.Cluster, all []Leftover) error
}

// Search is what to look for besides tags, and what to leave out.
type Search struct {
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
