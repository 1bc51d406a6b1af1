// Package people is the lab's own OpenID Connect provider, for people who sign in to clusters.
// It has a key and no users: whoever has the file of the key signs anything.
package people

import (
	"crypto"
	"crypto/ecdsa"
	"fmt"
	"net/url"
	"os"

	"github.com/golang-jwt/jwt/v5"
)

// Host of all issuers of the provider: https://id.lab.test/application/o/<slug>/, as authentik's are.
const Host = "id.lab.test"

// KeyName is the name of its key among those of the lab.
const KeyName = "people"

// Provider signs tokens of issuers on Host.
type Provider struct{ key *ecdsa.PrivateKey }

// Open reads the key in a PEM file.
func Open(file string) (*Provider, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the key of the lab's provider: %w", err)
	}
	key, err := jwt.ParseECPrivateKeyFromPEM(data)
	if err != nil {
		return nil, fmt.Errorf("read the key of the lab's provider in %s: %w", file, err)
	}
	return &Provider{key}, nil
}

// Token signs the claims as they are.
func (p *Provider) Token(claims map[string]any) (string, error) {
	return jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims(claims)).SignedString(p.key)
}

// Key is the public key of an issuer, which AWS asks the issuer for. There are none but Host's.
func (p *Provider) Key(issuer string) (crypto.PublicKey, error) {
	if u, err := url.Parse(issuer); err != nil || u.Scheme != "https" || u.Host != Host {
		return nil, fmt.Errorf("%s does not answer: the lab's internet has no provider but https://%s", issuer, Host)
	}
	return p.key.Public(), nil
}
