package eks

import (
	"tombolo/lab/aws/ec2"
	"tombolo/lab/standin"
)

// Interfaces are those by which a control plane reaches the nodes.
// Source: https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
func Interfaces(c *standin.Call) (all []*standin.Record) {
	for cluster := range c.Cloud.Each(ClusterType, c.Region) {
		config := cluster.Outputs.Sub("vpcConfig")
		groups := append(standin.Values(config.List("securityGroupIds")...), config.Str("clusterSecurityGroupId"))
		for _, id := range config.List("subnetIds") {
			all = append(all, ec2.Implied(c, cluster, ec2.ImpliedInterface{
				ID: ec2.DerivedID(cluster.ID, id), Kind: "interface", Description: "Amazon EKS " + cluster.ID,
				Subnet: c.Find(ec2.SubnetType, id), Groups: groups,
			}))
		}
	}
	return all
}
