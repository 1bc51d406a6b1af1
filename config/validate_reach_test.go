package config

import (
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestSpokeWithoutAWay: a spoke that lets its hub in nowhere has a warning, when both files
// are there.
func TestSpokeWithoutAWay(t *testing.T) {
	const (
		made     = "cidr: 10.0.0.0/16\n  zones: [eu-central-1a, eu-central-1b]"
		lets     = `kubernetes.endpoint: lets nobody in from the hub "mgmt", whose Argo CD works with this cluster by its Kubernetes API; `
		byBlock  = "add its network, 10.0.0.0/16, to privateCidrs; without a connection between the networks, set public: true with the addresses of its NAT gateways in allowedCidrs"
		byGroup  = "let in the security group of its nodes by securityGroups, or their network by privateCidrs"
		together = "existing: {vpc: vpc-0a1b2c3d, privateSubnets: [subnet-0a1b2c3d, subnet-1a1b2c3d]}"
	)
	public := "public: true, allowedCidrs: [203.0.113.0/24]"
	for _, test := range []struct{ name, hub, spoke, endpoint, want string }{
		{"the default", made, made, "", byBlock},
		{"another network", made, made, "privateCidrs: [10.8.0.0/16]", byBlock},
		{"the hub's network", made, made, "privateCidrs: [10.0.64.0/18]", ""},
		{"a group", made, made, "securityGroups: [sg-0a1b2c3d]", ""},
		{"public", made, made, public, ""},
		{"one network", together, together, "", byGroup},
		{"one network, and public", together, together, public, byGroup},
		{"one network, and public alone", together, together, "private: false, " + public, ""},
		{"one network, and a block", together, together, "privateCidrs: [10.0.0.0/16]", ""},
		{"others' networks", together, strings.Replace(together, "vpc-0", "vpc-1", 1), "", byGroup + "; without a connection"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			hub, spoke := readGood(t, "mgmt.yaml"), readGood(t, "spoke.yaml")
			write(t, dir, "mgmt.yaml", strings.Replace(hub, made, test.hub, 1))
			spoke = strings.Replace(spoke, made, test.spoke, 1)
			write(t, dir, "spoke.yaml", strings.Replace(spoke, "kubernetes:\n", "kubernetes:\n  endpoint: {"+test.endpoint+"}\n", 1))
			c := loadFile(t, filepath.Join(dir, "spoke.yaml"))
			var said []string
			for _, w := range c.Warnings {
				if w.Path == "kubernetes.endpoint" {
					said = append(said, w.Warning())
				}
			}
			if test.want == "" {
				assert.Check(t, is.Len(said, 0))
				return
			}
			assert.Assert(t, is.Len(said, 1))
			assert.Check(t, is.Contains(said[0], "spoke.yaml:"))
			assert.Check(t, is.Contains(said[0], lets+test.want))
		})
	}
}

// TestSpokeAcrossClouds: a hub reaches a spoke of another cloud by the token of a service
// account, where the network lets it.
func TestSpokeAcrossClouds(t *testing.T) {
	const (
		token   = spokeGitOps + "  argocd: {credentials: service-account}\n"
		noName  = `kubernetes.endpoint: is private, with a name that this cluster's network alone knows: the Argo CD of the hub "mgmt" in another cloud does not find it; set privateDnsZone: none`
		noBlock = `kubernetes.endpoint: is private, and lets in no address of the hub "mgmt" in another cloud, whose Argo CD works with this cluster by its Kubernetes API; add the hub's network, `
		noRole  = `gitops.hub: "mgmt" is in Azure, where its Argo CD has no IAM role that could assume this cluster's; add gitops.argocd.credentials: service-account`
	)
	public := "public: true, allowedCidrs: [203.0.113.0/24]"
	for _, test := range []struct{ name, spoke, endpoint, gitops, refusal, warning string }{
		{"Azure, public", "azure", public, spokeGitOps, "", ""},
		{"Azure, private", "azure", "private: true", spokeGitOps, noName, ""},
		{"Azure, private with a public name", "azure", "privateDnsZone: none", spokeGitOps, "", "see that the name of the API leads to its private address there"},
		{"AWS, public", "aws", "private: false, " + public, token, "", ""},
		{"AWS, both", "aws", public, token, "", ""},
		{"AWS, private", "aws", "", token, noBlock, ""},
		{"AWS, private with a group", "aws", "securityGroups: [sg-0a1b2c3d]", token, noBlock, ""},
		{"AWS, private with the hub's network", "aws", "privateCidrs: [10.0.0.0/8]", token, "", ""},
		{"AWS, by a role", "aws", public, spokeGitOps, noRole, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			aws, azure := readGood(t, "spoke.yaml"), readGood(t, "azure-spoke.yaml")
			hub, spoke := readGood(t, "mgmt.yaml"), azure
			if test.spoke == "aws" {
				hub, spoke = asHub(t, azure, hub), aws
			}
			write(t, dir, "mgmt.yaml", hub)
			write(t, dir, "spoke.yaml", across(t, spoke, test.endpoint, test.gitops))
			c, err := Load(filepath.Join(dir, "spoke.yaml"))
			if test.refusal != "" {
				assert.ErrorContains(t, err, test.refusal)
				return
			}
			assert.NilError(t, err)
			var said []string
			for _, w := range c.Warnings {
				if w.Path == string(endpointPath) {
					said = append(said, w.Warning())
				}
			}
			assert.Check(t, is.Equal(len(said) > 0, test.warning != ""), "%v", said)
			assert.Check(t, is.Contains(strings.Join(said, ""), test.warning))
		})
	}
}

const spokeGitOps = "gitops:\n  engine: argocd\n  hub: mgmt\n"

// asHub is a spoke's file as that of a hub in Azure, with the gitops section of the hub mgmt.
func asHub(t *testing.T, spoke, hub string) string {
	t.Helper()
	_, gitops, ok := strings.Cut(hub, "gitops:\n")
	assert.Assert(t, ok && strings.HasSuffix(spoke, spokeGitOps))
	gitops = strings.Replace(gitops, "    accounts: [\"222233334444\"]\n", "", 1)
	spoke = strings.NewReplacer("name: azure-spoke", "name: mgmt", "10.32.0.0/16", "10.0.0.0/16").Replace(spoke)
	return strings.TrimSuffix(spoke, spokeGitOps) + "gitops:\n" + gitops
}

// across is a spoke's file with this endpoint and gitops section; its network is not the hub's.
func across(t *testing.T, spoke, endpoint, gitops string) string {
	t.Helper()
	assert.Assert(t, strings.HasSuffix(spoke, spokeGitOps))
	spoke = strings.NewReplacer("name: azure-spoke", "name: spoke", "10.0.0.0/16", "10.32.0.0/16",
		"  endpoint: {public: true, allowedCidrs: [203.0.113.0/24]}\n", "").Replace(spoke)
	spoke = strings.Replace(spoke, "kubernetes:\n", "kubernetes:\n  endpoint: {"+endpoint+"}\n", 1)
	return strings.TrimSuffix(spoke, spokeGitOps) + gitops
}
