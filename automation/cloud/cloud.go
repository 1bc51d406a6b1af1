// Package cloud is the seam between the driver and the clouds that clusters are on.
// Each room of the driver says by an interface of its own what it asks of a cloud;
// a package below here answers all of it for one provider. automation/clouds has all of
// them, and takes their SDKs along.
package cloud

import (
	"tombolo/automation/adoption"
	"tombolo/automation/drift"
	"tombolo/automation/plan"
	"tombolo/automation/preflight"
	"tombolo/automation/pulumicli"
	"tombolo/automation/recovery"
	"tombolo/automation/teardown"
	"tombolo/automation/upgrade"
	"tombolo/config"
)

// Cloud is everything that the driver asks of a provider of clouds.
type Cloud interface {
	adoption.Cloud
	drift.Cloud
	plan.Cloud
	preflight.Cloud
	recovery.Cloud
	teardown.Cloud
	upgrade.Cloud
}

// Set is all clouds. clouds.All returns it; tests have one of their own.
type Set struct {
	// Of is the provider of a cluster's cloud. The CLI runs the programs that ask the cloud;
	// it may be nil where the cloud is not asked.
	Of func(c *config.Cluster, cli *pulumicli.CLI) Cloud
	// LoginEnv are the variables with which programs that clouds have for their clusters'
	// tokens sign in as the providers do; only those that the environment does not have.
	LoginEnv func(env func(string) string) map[string]string
}
