package config

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config/egress"
	"tombolo/config/strict"
	"tombolo/tests/files"
)

// authority is a certificate in PEM that ends at a time.
func authority(t *testing.T, end time.Time) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	assert.NilError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: end.AddDate(-1, 0, 0), NotAfter: end, IsCA: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	assert.NilError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: egress.CertificateBlock, Bytes: der}))
}

// withEgress is the base file with more keys.
func withEgress(t *testing.T, more string, replace ...string) (*Cluster, error) {
	t.Helper()
	content := files.Read(t, baseFile)
	dir := t.TempDir()
	write(t, dir, "base.yaml", strings.NewReplacer(replace...).Replace(content)+more)
	return Load(filepath.Join(dir, "base.yaml"))
}

func inFile(certificates string) string {
	return "egress:\n  certificateAuthority: |\n    " + strings.ReplaceAll(strings.TrimSpace(certificates), "\n", "\n    ") + "\n"
}

// TestAuthorityExpires: a certificate counts until its last day.
func TestAuthorityExpires(t *testing.T) {
	good := authority(t, today().Add(time.Hour))
	c, err := withEgress(t, inFile("# ours\n"+good+"# and theirs\n"+good))
	assert.NilError(t, err)
	assert.Equal(t, c.Egress.Certificates(), good+good)
	_, err = withEgress(t, inFile(good+authority(t, today().AddDate(0, 0, -3))))
	assert.Check(t, is.ErrorContains(err, "egress.certificateAuthority: has a certificate, number 2, that expired on "+today().AddDate(0, 0, -3).Format(time.DateOnly)+"; replace it"))
	assert.Check(t, !strings.Contains(err.Error(), "BEGIN"), "a wrong value, which may hold a key, is shown")
}

// TestNoProxy: what the cluster itself is made of is reached directly.
func TestNoProxy(t *testing.T) {
	const proxy = "egress:\n  proxy: {url: \"http://proxy.corp.example:3128\", noProxy: [.corp.example]}\n"
	for _, test := range []struct {
		name    string
		replace []string
		want    []string
		not     []string
	}{
		{
			"own network", nil,
			[]string{"169.254.169.254", "169.254.170.23", ".svc", ".cluster.local.", "172.20.0.0/16", "10.0.0.0/16", ".eks.amazonaws.com", "s3.eu-central-1.amazonaws.com", ".s3.eu-central-1.amazonaws.com", ".corp.example"},
			[]string{"10.100.0.0/16"},
		},
		{
			"endpoints",
			[]string{"  zones: [eu-central-1a, eu-central-1b]", "  zones: [eu-central-1a, eu-central-1b]\n  endpoints: [ecr.api, ecr.dkr, eks-auth, sts]"},
			[]string{"api.ecr.eu-central-1.amazonaws.com", ".dkr.ecr.eu-central-1.amazonaws.com", "eks-auth.eu-central-1.api.aws", "sts.eu-central-1.amazonaws.com"},
			[]string{"s3.eu-central-1.amazonaws.com"},
		},
		{
			"network of others",
			[]string{"  cidr: 10.0.0.0/16\n  zones: [eu-central-1a, eu-central-1b]", "  existing: {vpc: vpc-0a1b2c3d, privateSubnets: [subnet-0a1b2c3d, subnet-1a1b2c3d]}"},
			[]string{"10.100.0.0/16", "172.20.0.0/16"},
			[]string{"10.0.0.0/16", "s3.eu-central-1.amazonaws.com"},
		},
		{
			"no private endpoint",
			[]string{`  version: "1.35"`, "  version: \"1.35\"\n  endpoint: {private: false, public: true, allowedCidrs: [203.0.113.0/24]}"},
			nil,
			[]string{".eks.amazonaws.com"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := withEgress(t, proxy, test.replace...)
			assert.NilError(t, err)
			got := c.NoProxy()
			for _, want := range test.want {
				assert.Check(t, is.Contains(got, want))
			}
			for _, not := range test.not {
				for _, host := range got {
					assert.Check(t, host != not)
				}
			}
			assert.DeepEqual(t, c.FileNoProxy(got), []string{".corp.example"})
			assert.DeepEqual(t, c.NodeEgress().NoProxy, got)
		})
	}
}

// TestNoWayToImages: without NAT the engine's images come from a mirror or by a proxy, or
// the file is warned of.
func TestNoWayToImages(t *testing.T) {
	const closed = "  zones: [eu-central-1a, eu-central-1b]\n  nat: none\n  endpoints: [ec2, ecr.api, ecr.dkr, eks, eks-auth, logs, s3, sts]"
	for more, warned := range map[string]bool{
		"": true,
		"egress: {proxy: {url: \"http://proxy.corp.example:3128\"}}\n":       false,
		"egress: {images: {mirrors: {ghcr.io: mirror.corp.example/ghcr}}}\n": false,
		inFile(authority(t, today().AddDate(1, 0, 0))):                       true,
	} {
		c, err := withEgress(t, more, "  zones: [eu-central-1a, eu-central-1b]", closed)
		assert.NilError(t, err)
		found := slices.ContainsFunc(c.Warnings, func(p strict.Problem) bool {
			return strings.Contains(p.Warning(), "network.nat: leaves nodes no way to registries on the internet")
		})
		assert.Check(t, is.Equal(found, warned), "%s: %v", more, c.Warnings)
	}
	// With a proxy fewer endpoints are needed.
	_, err := withEgress(t, "egress: {proxy: {url: \"http://proxy.corp.example:3128\"}}\n",
		"  zones: [eu-central-1a, eu-central-1b]", "  zones: [eu-central-1a, eu-central-1b]\n  nat: none\n  endpoints: [ec2, eks-auth, sts]")
	assert.NilError(t, err)
}

// TestPullSecretOfASpoke: nodes of a spoke go by it; its engine is the hub's.
func TestPullSecretOfASpoke(t *testing.T) {
	content := files.Read(t, "testdata/good/spoke.yaml")
	hub, err := os.ReadFile("testdata/good/mgmt.yaml")
	assert.NilError(t, err)
	dir := t.TempDir()
	write(t, dir, "mgmt.yaml", string(hub))
	write(t, dir, "spoke.yaml", content+"egress:\n  images:\n    mirrors: {ghcr.io: mirror.corp.example}\n    pullSecret: {username: robot, password: {env: TOMBOLO_MIRROR}}\n")
	_, err = Load(filepath.Join(dir, "spoke.yaml"))
	assert.Check(t, is.ErrorContains(err, "egress.images.pullSecret: has no effect: it is for the engine's images, and the engine is the hub's"))
}
