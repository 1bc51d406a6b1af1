// Package sealingkey puts the key of Sealed Secrets on a cluster, before its controller makes
// one that nobody keeps.
package sealingkey

import (
	"crypto/rsa"
	"errors"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"

	"tombolo/components/object"
)

const sealingKeyType = "tombolo:sealingkey:SealingKey"

const (
	// Namespace of the controller, and of its key.
	Namespace = "sealed-secrets"
	// Name of the Secret with the key.
	Name = "sealing-key"
	// Label by which the controller finds its keys, with the value Active. Source:
	// https://github.com/bitnami-labs/sealed-secrets/blob/v0.40.0/docs/bring-your-own-certificates.md
	Label = "sealedsecrets.bitnami.com/sealed-secrets-key"
	// Active is the value of the Label.
	Active = "active"
	// minBits of the key: less is no longer accepted for RSA.
	// https://nvlpubs.nist.gov/nistpubs/SpecialPublications/NIST.SP.800-131Ar2.pdf
	minBits = 2048
)

// Args of a SealingKey.
type Args struct {
	// Key is the private key, PEM. It must be a Pulumi secret.
	Key pulumi.StringInput
	// Certificate of the key, PEM.
	Certificate pulumi.StringInput
}

// SealingKey is the Secret with the key.
type SealingKey struct {
	pulumi.ResourceState

	// Resources are all that it is made of, to depend on (distribution.Engine says why).
	Resources []pulumi.Resource
}

// NewSealingKey makes the Secret. The provider in opts is the cluster's. A key that does not
// fit its certificate is an error, as Check has it.
func NewSealingKey(ctx *pulumi.Context, name string, args *Args, opts ...pulumi.ResourceOption) (*SealingKey, error) {
	c := &SealingKey{}
	if err := ctx.RegisterComponentResourceV2(sealingKeyType, name, pulumi.Map{}, c, opts...); err != nil {
		return nil, fmt.Errorf("register sealing key %s: %w", name, err)
	}
	checked := func(choose func(key, certificate string) string) pulumi.StringOutput {
		return pulumi.All(args.Key, args.Certificate).ApplyT(func(v []any) (string, error) {
			key, certificate := v[0].(string), v[1].(string)
			return choose(key, certificate), Check(key, certificate)
		}).(pulumi.StringOutput)
	}
	meta := object.Meta{Name: Name, Namespace: Namespace, Labels: pulumi.StringMap{Label: pulumi.String(Active)}}
	secret := object.Secret(meta, "kubernetes.io/tls", map[string]pulumi.StringInput{
		"tls.key": checked(func(key, _ string) string { return key }),
		"tls.crt": checked(func(_, certificate string) string { return certificate }),
	})
	made, err := object.New(ctx, name+"-sealing-key", secret, pulumi.Parent(c))
	if err != nil {
		return nil, fmt.Errorf("sealing key %s: %w", name, err)
	}
	c.Resources = []pulumi.Resource{made}
	return c, ctx.RegisterResourceOutputs(c, pulumi.Map{})
}

// Check says whether a private key and a certificate, both PEM, are such as the controller
// takes, and belong together. No error holds anything of the key.
func Check(key, certificate string) error {
	parsed, err := keyutil.ParsePrivateKeyPEM([]byte(key))
	private, isRSA := parsed.(*rsa.PrivateKey)
	switch {
	case err != nil:
		return errors.New("gitops.sealedSecrets.key is no private key in PEM without a passphrase")
	case !isRSA:
		return errors.New("gitops.sealedSecrets.key is no RSA key, which Sealed Secrets needs")
	case private.N.BitLen() < minBits:
		return fmt.Errorf("gitops.sealedSecrets.key has %d bits; make one of at least %d", private.N.BitLen(), minBits)
	}
	certificates, err := cert.ParseCertsPEM([]byte(certificate))
	if err != nil {
		return errors.New("gitops.sealedSecrets.certificate is no certificate in PEM")
	}
	// The controller seals and opens with the first one.
	if !private.PublicKey.Equal(certificates[0].PublicKey) {
		return errors.New("gitops.sealedSecrets: the certificate belongs to another key")
	}
	return nil
}
