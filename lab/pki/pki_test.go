package pki

import (
	"crypto/x509"
	"net"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestIssue(t *testing.T) {
	dir := t.TempDir()
	a, err := Open(dir, "test")
	if err != nil {
		t.Fatal(err)
	}
	subject := Subject{CommonName: "lab", Organizations: []string{"system:masters"}, DNSNames: []string{"localhost"}, IPs: []net.IP{net.IPv4(127, 0, 0, 1)}}
	if err := a.Issue("admin", subject); err != nil {
		t.Fatal(err)
	}
	config, err := a.TLS("admin")
	if err != nil {
		t.Fatal(err)
	}
	leaf := config.Certificates[0].Leaf
	for _, use := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		options := x509.VerifyOptions{Roots: a.Pool(), DNSName: "localhost", KeyUsages: []x509.ExtKeyUsage{use}}
		if _, err := leaf.Verify(options); err != nil {
			t.Errorf("usage %v: %v", use, err)
		}
	}
	if err := leaf.VerifyHostname("127.0.0.1"); err != nil {
		t.Error(err)
	}
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
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Issue("serving", Subject{CommonName: "x"}); err != nil {
			t.Fatal(err)
		}
		if err := a.IssueKey("service-account"); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"ca", "serving", "service-account"} {
			for _, file := range []string{a.CertFile(name), a.KeyFile(name)} {
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, string(data))
			}
		}
		return all
	}
	if diff := cmp.Diff(read(), read()); diff != "" {
		t.Errorf("opening again changed files:\n%s", diff)
	}
}
