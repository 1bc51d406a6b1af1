package config

import "slices"

var reservedValueKeys = []string{
	"cluster_name", "environment", "cloud", "region", "account_id", "partition",
	"cluster_arn", "cluster_endpoint", "cluster_version",
	"oidc_issuer", "oidc_provider_arn",
	"vpc_id", "vpc_cidr", "private_subnet_ids", "public_subnet_ids",
	"cluster_security_group_id", "node_role_arn",
	"gitops_path",
}

// ReservedValueKeys are the keys of the infra ConfigMap that Tombolo publishes
// itself; a cluster file's values must not use them.
func ReservedValueKeys() []string { return slices.Clone(reservedValueKeys) }
