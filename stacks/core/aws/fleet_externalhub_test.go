package aws

import (
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/config"
)

// TestHubRoleARN follows from the hub's file, or is told by the spoke's.
func TestHubRoleARN(t *testing.T) {
	hub := &config.Cluster{Name: "mgmt", Cloud: config.Cloud{Account: "111122223333"}, GitOps: config.GitOps{Engine: config.ArgoCD}}
	assert.Equal(t, hubRoleARN(hub, "aws"), "arn:aws:iam::111122223333:role/mgmt-argocd")
	const told = "arn:aws:iam::999988887777:role/company-hub-argocd"
	spoke := &config.Cluster{Name: "demo", GitOps: config.GitOps{Engine: config.ArgoCD, ExternalHub: &config.ExternalHub{Name: "company-hub", RoleARN: told}}}
	assert.Equal(t, hubRoleARN(spoke, "aws"), told)
}
