package controlplane

import "strings"

// privateDomain is of the names of private endpoints. No resolver knows it, by RFC 6761.
const privateDomain = ".k8s.lab.test"

// PrivateHost is the name of a cluster's private endpoint, which its API has a certificate for.
func PrivateHost(cluster string) string { return strings.ToLower(cluster) + privateDomain }

// ClusterOf is the cluster with the private endpoint of a name.
func ClusterOf(host string) (string, bool) { return strings.CutSuffix(host, privateDomain) }
