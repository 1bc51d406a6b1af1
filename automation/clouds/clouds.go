// Package clouds has all clouds that clusters are in, and takes their SDKs along. Another
// cloud is another package below automation/cloud, and a line in of.
package clouds

import (
	"tombolo/automation/cloud"
	"tombolo/automation/cloud/aws"
	"tombolo/automation/cloud/azure"
	"tombolo/automation/pulumicli"
	"tombolo/config"
)

// All are the clouds, for the driver and the commands, which do not import this package.
func All() cloud.Set { return cloud.Set{Of: of, LoginEnv: azure.LoginEnv} }

func of(c *config.Cluster, cli *pulumicli.CLI) cloud.Cloud {
	return map[config.Provider]cloud.Cloud{config.AWS: aws.Cloud{Pulumi: cli}, config.Azure: azure.Cloud{Pulumi: cli}}[c.Cloud.Provider]
}
