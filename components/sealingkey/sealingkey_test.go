package sealingkey

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func rsaKey(t *testing.T, bits int) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, bits)
	assert.NilError(t, err)
	return key
}

// keyText is a private key as openssl writes it.
func keyText(t *testing.T, key crypto.PrivateKey) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	assert.NilError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// certificateText is a certificate that the key has signed itself.
func certificateText(t *testing.T, key crypto.Signer) string {
	t.Helper()
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	assert.NilError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func TestCheck(t *testing.T) {
	t.Setenv("GODEBUG", "rsa1024min=0") // a short key is what is refused
	good, other, short := rsaKey(t, 2048), rsaKey(t, 2048), rsaKey(t, 1024)
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	assert.NilError(t, err)
	old := string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(good)}))
	for _, c := range []struct{ name, key, certificate, want string }{
		{"both fit", keyText(t, good), certificateText(t, good), ""},
		{"the older form", old, certificateText(t, good), ""},
		{"another key", keyText(t, other), certificateText(t, good), "gitops.sealedSecrets: the certificate belongs to another key"},
		{"a key that is none", "s3cret", certificateText(t, good), "gitops.sealedSecrets.key is no private key in PEM without a passphrase"},
		{"a curve", keyText(t, curve), certificateText(t, curve), "gitops.sealedSecrets.key is no RSA key, which Sealed Secrets needs"},
		{"too short", keyText(t, short), certificateText(t, short), "gitops.sealedSecrets.key has 1024 bits; make one of at least 2048"},
		{"a certificate that is none", keyText(t, good), keyText(t, good), "gitops.sealedSecrets.certificate is no certificate in PEM"},
	} {
		got := ""
		if err := Check(c.key, c.certificate); err != nil {
			got = err.Error()
		}
		assert.Check(t, is.Equal(got, c.want), c.name)
	}
}
