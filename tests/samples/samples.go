// Package samples has what more than one package's tests put into cluster files.
package samples

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
