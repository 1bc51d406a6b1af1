// Package core is the program of the core stack: the network, the managed cluster
// and the cloud identities of its services. Each cloud has a package below this one.
package core

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/config"
	"tombolo/stacks/catalog"
	"tombolo/stacks/core/aws"
	"tombolo/stacks/core/azure"
	"tombolo/stacks/core/live"
	"tombolo/stacks/handoff"
	"tombolo/stacks/owner"
)

// cloud is what core does in one cloud.
type cloud struct {
	// build registers what a cluster consists of. The resources are those that its state had
	// before.
	build func(ctx *pulumi.Context, c, hub *config.Cluster, own owner.Owner, had live.Resources) (handoff.Handoff, error)
	// live is what resources tell of the file that they were made from; nil when they are of
	// no cluster in the cloud. liveKeys are the outputs that build and live look at.
	live     func(*config.Cluster, live.Resources) *config.Live
	liveKeys func() []string
	// roles are those that others can make in place of core; nil for a cloud without.
	roles func(c *config.Cluster, issuer string) ([]catalog.RoleDocument, error)
}

// clouds are all of them. A cloud is added here, and nowhere else in the stacks.
func clouds() map[config.Provider]cloud {
	return map[config.Provider]cloud{
		config.AWS:   {aws.Build, aws.Live, aws.LiveKeys, aws.RoleDocuments},
		config.Azure: {azure.Build, azure.Live, azure.LiveKeys, nil},
	}
}

// providers are the names of the clouds, sorted.
func providers() []config.Provider { return slices.Sorted(maps.Keys(clouds())) }

// Run builds the cluster in its cloud and exports the hand-off. The hub is the
// cluster that config.LoadHub returns; the backend is the URL of the state.
func Run(ctx *pulumi.Context, c, hub *config.Cluster, backend string) error {
	in, ok := clouds()[c.Cloud.Provider]
	if !ok {
		var known []string
		for _, p := range providers() {
			known = append(known, string(p))
		}
		return fmt.Errorf("core of %s: cloud provider %q is not known; use %s", c.Name, c.Cloud.Provider, strings.Join(known, " or "))
	}
	had, err := live.Read(ctx, liveKeys())
	if err != nil {
		return fmt.Errorf("core of %s: %w", c.Name, err)
	}
	if err := refuseImpossible(c, had); err != nil {
		return fmt.Errorf("core of %s: %w", c.Name, err)
	}
	own, err := owner.New(ctx, backend)
	if err != nil {
		return fmt.Errorf("core of %s: %w", c.Name, err)
	}
	made, err := in.build(ctx, c, hub, own, had)
	if err != nil {
		return fmt.Errorf("core of %s: %w", c.Name, err)
	}
	made.Owner = pulumi.String(own.ID).ToStringOutput()
	return handoff.Export(ctx, made)
}

// liveKeys are those of all clouds: the file may be for another one than the cluster is in.
func liveKeys() []string {
	var keys []string
	for _, p := range providers() {
		keys = append(keys, clouds()[p].liveKeys()...)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// Live is what the resources of a core stack tell of the cluster file that they were made
// from, for a comparison with the file; nil when no cluster lives.
func Live(c *config.Cluster, all live.Resources) *config.Live {
	for _, p := range providers() {
		if found := clouds()[p].live(c, all); found != nil {
			return found
		}
	}
	return nil
}

// Roles are those that others can make in place of core; none in a cloud that has no such
// roles. issuer is the URL of the cluster's OIDC issuer, "" when it is not known.
func Roles(c *config.Cluster, issuer string) ([]catalog.RoleDocument, error) {
	roles := clouds()[c.Cloud.Provider].roles
	if roles == nil {
		return nil, nil
	}
	return roles(c, issuer)
}

// refuseImpossible fails when the file asks the live cluster for what it can never
// become. The driver has said so before, with the file's text; plain Pulumi has not.
func refuseImpossible(c *config.Cluster, had live.Resources) error {
	if err := config.Compare(Live(c, had), c).Problems(c).Err(); err != nil {
		return fmt.Errorf("%w; nothing was changed", err)
	}
	return nil
}
