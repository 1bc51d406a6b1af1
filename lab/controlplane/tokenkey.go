package controlplane

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"

	"tombolo/lab/pki"
)

// TokenKey is the public key for the tokens of a cluster's service accounts. It
// fails for a cluster that does not exist.
func (m *Manager) TokenKey(cluster string) (crypto.PublicKey, error) {
	exists, err := m.exists(cluster)
	if err == nil && !exists {
		err = fmt.Errorf("the lab has no cluster %s", cluster)
	}
	if err != nil {
		return nil, fmt.Errorf("read the token key: %w", err)
	}
	authority, err := pki.Open(filepath.Join(m.dir(cluster), "pki"), "lab cluster "+cluster)
	if err != nil {
		return nil, fmt.Errorf("read the token key of %s: %w", cluster, err)
	}
	data, err := os.ReadFile(authority.CertFile(serviceAccountKey))
	if err != nil {
		return nil, fmt.Errorf("read the token key of %s: %w", cluster, err)
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("read the token key of %s: it is no PEM", cluster)
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read the token key of %s: %w", cluster, err)
	}
	return key, nil
}
