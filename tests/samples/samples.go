// Package samples has what more than one package's tests put into cluster files.
package samples

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"sync"
	"time"
)

// SealingKey is a key of Sealed Secrets with its certificate, both in PEM, as the cluster
// files of the lab name them: the same in one process.
func SealingKey() (key, certificate string) {
	pair := sealingKey()
	return pair[0], pair[1]
}

var sealingKey = sync.OnceValue(func() [2]string {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	signed, err := x509.CreateCertificate(rand.Reader, &template, &template, &private.PublicKey, private)
	if err != nil {
		panic(err)
	}
	return [2]string{
		string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(private)})),
		string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})),
	}
})

// CompanyCA is the certificate of a company's authority, in PEM: an example, whose key is
// nowhere. It ends in 2126.
const CompanyCA = `-----BEGIN CERTIFICATE-----
MIIBwzCCAWmgAwIBAgIUN5ORy2H8z2OxS9nINoN+idhjA4owCgYIKoZIzj0EAwIw
NjEVMBMGA1UECgwMRXhhbXBsZSBDb3JwMR0wGwYDVQQDDBRFeGFtcGxlIENvcnAg
Um9vdCBDQTAgFw0yNjExMjMxMTI4MTVaGA8yMTI2MTAzMDExMjgxNVowNjEVMBMG
A1UECgwMRXhhbXBsZSBDb3JwMR0wGwYDVQQDDBRFeGFtcGxlIENvcnAgUm9vdCBD
QTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNVB+HRaOJFcVzpen7EgTqDYPSLY
uS9zFs4L1PHAcX3nWRb6yZqhMBJ8SuxfuelvAFkuAPf89ReOV62W1TamlMSjUzBR
MB0GA1UdDgQWBBQcV/nJuZrHF61BPXusMXmGzGdIGzAfBgNVHSMEGDAWgBQcV/nJ
uZrHF61BPXusMXmGzGdIGzAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gA
MEUCIHOYJlz9fOdbjWy9yYColi1mJ8BobgTpmwtM6+bdyFgXAiEAs006091shMJQ
2YNaxiJBUP5E0gqNYAeIQxXpLFuqRyU=
-----END CERTIFICATE-----
`
