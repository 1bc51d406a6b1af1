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
	"tombolo/stacks/core/aws"
	"tombolo/stacks/core/live"
	"tombolo/stacks/handoff"
	"tombolo/stacks/owner"
)

// builder registers what a cluster consists of in one cloud.
// The resources are those that its state had before.
type builder func(ctx *pulumi.Context, c, hub *config.Cluster, own owner.Owner, had live.Resources) (handoff.Handoff, error)

// builders are the clouds. A cloud is added here, and nowhere else in the stacks.
func builders() map[config.Provider]builder {
	return map[config.Provider]builder{config.AWS: aws.Build}
}

// Run builds the cluster in its cloud and exports the hand-off. The hub is the
// cluster that config.LoadHub returns; the backend is the URL of the state.
func Run(ctx *pulumi.Context, c, hub *config.Cluster, backend string) error {
	build, ok := builders()[c.Cloud.Provider]
	if !ok {
		var known []string
		for _, p := range slices.Sorted(maps.Keys(builders())) {
			known = append(known, string(p))
		}
		return fmt.Errorf("core of %s: cloud provider %q is not known; use %s", c.Name, c.Cloud.Provider, strings.Join(known, " or "))
	}
	had, err := live.Read(ctx, aws.LiveKeys())
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
	made, err := build(ctx, c, hub, own, had)
	if err != nil {
		return fmt.Errorf("core of %s: %w", c.Name, err)
	}
	made.Owner = pulumi.String(own.ID).ToStringOutput()
	return handoff.Export(ctx, made)
}

// Live is what the resources of a core stack tell of the cluster file that they were made
// from, for a comparison with the file; nil when no cluster lives.
func Live(c *config.Cluster, all live.Resources) *config.Live {
	read := map[config.Provider]func(*config.Cluster, live.Resources) *config.Live{config.AWS: aws.Live}[c.Cloud.Provider]
	if read == nil {
		return nil
	}
	return read(c, all)
}

// RoleDocument is a role of a cluster as its owner has to make it.
type RoleDocument = aws.RoleDocument

// IssuerPlace stands in trust policies for an OIDC issuer that is not known.
const IssuerPlace = aws.IssuerPlace

// Roles are those that others can make in place of core; none in a cloud that has no such
// roles. issuer is the URL of the cluster's OIDC issuer, "" when it is not known.
func Roles(c *config.Cluster, issuer string) ([]RoleDocument, error) {
	if c.Cloud.Provider != config.AWS {
		return nil, nil
	}
	return aws.RoleDocuments(c, issuer)
}

// refuseImpossible fails when the file asks the live cluster for what it can never
// become. The driver has said so before, with the file's text; plain Pulumi has not.
func refuseImpossible(c *config.Cluster, had live.Resources) error {
	if err := config.Compare(Live(c, had), c).Problems(c).Err(); err != nil {
		return fmt.Errorf("%w; nothing was changed", err)
	}
	return nil
}
