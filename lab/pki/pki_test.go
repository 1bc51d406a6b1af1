package pki

import (
	"crypto/x509"
	"net"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
)

func TestIssue(t *testing.T) {
	dir := t.TempDir()
	a, err := Open(dir, "test")
	assert.NilError(t, err)
	subject := Subject{CommonName: "lab", Organizations: []string{"system:masters"}, DNSNames: []string{"localhost"}, IPs: []net.IP{net.IPv4(127, 0, 0, 1)}}
	assert.NilError(t, a.Issue("admin", subject))
	config, err := a.TLS("admin")
	assert.NilError(t, err)
	leaf := config.Certificates[0].Leaf
	for _, use := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		options := x509.VerifyOptions{Roots: a.Pool(), DNSName: "localhost", KeyUsages: []x509.ExtKeyUsage{use}}
		if _, err := leaf.Verify(options); err != nil {
			t.Errorf("usage %v: %v", use, err)
		}
	}
	assert.Check(t, leaf.VerifyHostname("127.0.0.1"))
	if diff := cmp.Diff([]string{"system:masters"}, leaf.Subject.Organization); diff != "" || leaf.Subject.CommonName != "lab" {
		t.Errorf("subject %v", leaf.Subject)
	}
	if time.Until(leaf.NotAfter) < Lifetime-time.Hour || leaf.IsCA {
		t.Errorf("valid until %v, CA %t", leaf.NotAfter, leaf.IsCA)
	}
	for _, name := range []string{"ca", "admin"} {
		if info, err := os.Stat(a.KeyFile(name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("key of %s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestFilesAreKept(t *testing.T) {
	dir := t.TempDir()
	read := func() (all []string) {
		a, err := Open(dir, "test")
		assert.NilError(t, err)
		assert.NilError(t, a.Issue("serving", Subject{CommonName: "x"}))
		assert.NilError(t, a.IssueKey("service-account"))
		for _, name := range []string{"ca", "serving", "service-account"} {
			for _, file := range []string{a.CertFile(name), a.KeyFile(name)} {
				data, err := os.ReadFile(file)
				assert.NilError(t, err)
				all = append(all, string(data))
			}
		}
		return all
	}
	if diff := cmp.Diff(read(), read()); diff != "" {
		t.Errorf("opening again changed files:\n%s", diff)
	}
}
