// Package pki makes the certificates of the lab: an authority, and server and
// client certificates signed by it, kept as PEM files in one directory.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Lifetime of every certificate. A lab lives shorter.
const Lifetime = 5 * 365 * 24 * time.Hour

// Authority is a certificate authority and the directory of its files.
type Authority struct {
	dir  string
	pem  []byte
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Subject is the user or the server of a certificate.
type Subject struct {
	// CommonName is the user name, for a Kubernetes client.
	CommonName string
	// Organizations are the groups, for a Kubernetes client.
	Organizations []string
	// Names and addresses of a server.
	DNSNames []string
	IPs      []net.IP
}

// Open returns the authority whose files are in dir, and makes them the first
// time.
func Open(dir, name string) (*Authority, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the certificate directory: %w", err)
	}
	a := &Authority{dir: dir}
	if _, err := os.Stat(a.CertFile("ca")); errors.Is(err, fs.ErrNotExist) {
		if err := a.create(name); err != nil {
			return nil, fmt.Errorf("make the certificate authority: %w", err)
		}
	}
	pair, err := tls.LoadX509KeyPair(a.CertFile("ca"), a.KeyFile("ca"))
	if err != nil {
		return nil, fmt.Errorf("read the certificate authority in %s: %w", dir, err)
	}
	if a.pem, err = os.ReadFile(a.CertFile("ca")); err != nil {
		return nil, fmt.Errorf("read the certificate authority: %w", err)
	}
	a.cert, a.key = pair.Leaf, pair.PrivateKey.(*ecdsa.PrivateKey)
	return a, nil
}

// PEM is the authority's certificate.
func (a *Authority) PEM() []byte { return a.pem }

// CertFile and KeyFile are the files of the certificate of a name; "ca" is the
// authority itself.
func (a *Authority) CertFile(name string) string { return filepath.Join(a.dir, name+".crt") }

// KeyFile is the private key beside CertFile.
func (a *Authority) KeyFile(name string) string { return filepath.Join(a.dir, name+".key") }

// Pool trusts this authority alone.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

func (a *Authority) create(name string) error {
	key, err := newKey()
	if err != nil {
		return err
	}
	t, err := template(Subject{CommonName: name})
	if err != nil {
		return err
	}
	t.IsCA, t.BasicConstraintsValid = true, true
	t.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return fmt.Errorf("sign: %w", err)
	}
	return a.write("ca", der, key)
}

// Issue makes the certificate of a name, usable by servers and clients, unless
// it exists.
func (a *Authority) Issue(name string, s Subject) error {
	if _, err := os.Stat(a.CertFile(name)); err == nil {
		return nil
	}
	key, err := newKey()
	if err != nil {
		return fmt.Errorf("make the certificate %s: %w", name, err)
	}
	t, err := template(s)
	if err != nil {
		return fmt.Errorf("make the certificate %s: %w", name, err)
	}
	t.KeyUsage = x509.KeyUsageDigitalSignature
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	der, err := x509.CreateCertificate(rand.Reader, t, a.cert, key.Public(), a.key)
	if err != nil {
		return fmt.Errorf("sign the certificate %s: %w", name, err)
	}
	return a.write(name, der, key)
}

// Server is the certificate of a server by its host name.
func (a *Authority) Server(host string) (*tls.Certificate, error) {
	name := "host-" + host
	if err := a.Issue(name, Subject{CommonName: host, DNSNames: []string{host}}); err != nil {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(a.CertFile(name), a.KeyFile(name))
	if err != nil {
		return nil, fmt.Errorf("read the certificate of %s: %w", host, err)
	}
	return &pair, nil
}

// IssueKey makes a bare signing key, KeyFile(name), and its public half,
// CertFile(name), unless they exist.
func (a *Authority) IssueKey(name string) error {
	if _, err := os.Stat(a.KeyFile(name)); err == nil {
		return nil
	}
	key, err := newKey()
	if err != nil {
		return fmt.Errorf("make the key %s: %w", name, err)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return fmt.Errorf("encode the key %s: %w", name, err)
	}
	return a.writeBlocks(name, &pem.Block{Type: "PUBLIC KEY", Bytes: der}, key)
}

// TLS returns a configuration that presents the certificate of a name and
// trusts this authority alone.
func (a *Authority) TLS(name string) (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(a.CertFile(name), a.KeyFile(name))
	if err != nil {
		return nil, fmt.Errorf("read the certificate %s: %w", name, err)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{pair},
		RootCAs:      a.Pool(),
		ClientCAs:    a.Pool(),
		MinVersion:   tls.VersionTLS12,
	}, nil
}

func (a *Authority) write(name string, der []byte, key *ecdsa.PrivateKey) error {
	return a.writeBlocks(name, &pem.Block{Type: "CERTIFICATE", Bytes: der}, key)
}

// writeBlocks writes the key first: a certificate file means that both exist.
func (a *Authority) writeBlocks(name string, public *pem.Block, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("encode the key of %s: %w", name, err)
	}
	private := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	if err := os.WriteFile(a.KeyFile(name), private, 0o600); err != nil {
		return fmt.Errorf("write the key of %s: %w", name, err)
	}
	if err := os.WriteFile(a.CertFile(name), pem.EncodeToMemory(public), 0o644); err != nil {
		return fmt.Errorf("write the certificate of %s: %w", name, err)
	}
	return nil
}

func newKey() (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return key, nil
}

func template(s Subject) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("choose a serial number: %w", err)
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: s.CommonName, Organization: s.Organizations},
		DNSNames:     s.DNSNames,
		IPAddresses:  s.IPs,
		NotBefore:    now.Add(-time.Hour), // clocks of laptops that just woke up
		NotAfter:     now.Add(Lifetime),
	}, nil
}
