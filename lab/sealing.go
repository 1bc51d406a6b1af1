package lab

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"time"
)

// The environment variables with what cluster files of the lab name in gitops.sealedSecrets.
const (
	SealingKeyVariable         = "TOMBOLO_SEALING_KEY"
	SealingCertificateVariable = "TOMBOLO_SEALING_CERTIFICATE"
)

// sealingKey returns the lab's key of Sealed Secrets and its certificate, both PEM, and makes
// them the first time. People seal with the file of the certificate.
func sealingKey(p paths) (key, certificate string, err error) {
	files := [2]string{p.in("sealing/tls.key"), p.in("sealing/tls.crt")}
	var texts [2]string
	for i, file := range files {
		text, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			return makeSealingKey(files)
		}
		if err != nil {
			return "", "", fmt.Errorf("read the lab's sealing key: %w", err)
		}
		texts[i] = string(text)
	}
	return texts[0], texts[1], nil
}

func makeSealingKey(files [2]string) (key, certificate string, err error) {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return "", "", fmt.Errorf("make the lab's sealing key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return "", "", fmt.Errorf("make the lab's sealing key: %w", err)
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "sealed-secrets of the lab"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(10, 0, 0),
	}
	signed, err := x509.CreateCertificate(rand.Reader, &template, &template, &private.PublicKey, private)
	if err != nil {
		return "", "", fmt.Errorf("make the lab's sealing certificate: %w", err)
	}
	texts := [2][]byte{
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}),
	}
	for i, file := range files {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return "", "", fmt.Errorf("make the directory of the lab's sealing key: %w", err)
		}
		if err := os.WriteFile(file, texts[i], 0o600); err != nil {
			return "", "", fmt.Errorf("write the lab's sealing key: %w", err)
		}
	}
	return string(texts[0]), string(texts[1]), nil
}
