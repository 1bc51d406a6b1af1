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
			c, err := Load(filepath.Join(dir, "spoke.yaml"))
			assert.NilError(t, err)
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
