// Package cloud is the seam between the driver and the clouds that clusters are on.
// Each room of the driver says by an interface of its own what it asks of a cloud;
// a package below here answers all of it for one provider. Another cloud is another
// package, and a line in Of.
package cloud

import (
	"tombolo/automation/adoption"
	"tombolo/automation/cloud/aws"
	"tombolo/automation/cloud/azure"
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

// Of is the provider of a cluster's cloud. The CLI runs the programs that ask the
// cloud; it may be nil where the cloud is not asked.
func Of(c *config.Cluster, cli *pulumicli.CLI) Cloud {
	return map[config.Provider]Cloud{config.AWS: aws.Cloud{Pulumi: cli}, config.Azure: azure.Cloud{Pulumi: cli}}[c.Cloud.Provider]
}

// LoginEnv are the variables with which programs that clouds have for their clusters' tokens
// sign in as the providers do; only those that the environment does not have.
func LoginEnv(env func(string) string) map[string]string { return azure.LoginEnv(env) }
