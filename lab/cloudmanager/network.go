package cloudmanager

import (
	"strings"

	"tombolo/lab/aws/eks"
	"tombolo/lab/standin"
)

const (
	clusterType = "aws:eks/cluster:Cluster"
	subnetType  = "aws:ec2/subnet:Subnet"
)

// network is where a cluster is.
type network struct {
	vpc string
	// region of the cluster, and its version of Kubernetes, major.minor.
	region, version string
	// securityGroup is the cluster's, which its nodes have too.
	securityGroup string
	// auto says that it has EKS Auto Mode.
	auto bool
	// subnets of the VPC, in the order of their creation.
	subnets []subnet
}

// subnet of the network that a cluster is in.
type subnet struct {
	id, zone string
	tags     map[string]string
}

// image is the AMI that nodes of the cluster get now.
func (n network) image() string { return eks.NodeImage(n.region, n.version) }

// network tells where the cluster is; false where the cloud has none of its name.
func (w *watch) network() (network, bool) {
	for _, cluster := range w.cloud.Find(clusterType, nil) {
		if cluster.ID == w.cluster {
			config := standin.Props(cluster.Properties).Sub("vpcConfig")
			vpc := config.Str("vpcId")
			region := strings.Split(cluster.Text("arn")+":::", ":")[3]
			return network{
				vpc: vpc, securityGroup: config.Str("clusterSecurityGroupId"), subnets: w.subnetsOf(vpc),
				region: region, version: cluster.Text("version"), auto: eks.AutoMode(standin.Props(cluster.Properties)),
			}, true
		}
	}
	return network{}, false
}

func (w *watch) subnetsOf(vpc string) []subnet {
	var found []subnet
	for _, r := range w.cloud.Find(subnetType, nil) {
		if r.Text("vpcId") == vpc {
			found = append(found, subnet{id: r.ID, zone: r.Text("availabilityZone"), tags: standin.Props(r.Properties).Strs("tags")})
		}
	}
	return found
}
