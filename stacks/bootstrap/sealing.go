package bootstrap

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/sealingkey"
)

// Where the cluster file refers to the key of Sealed Secrets, and to its certificate.
const (
	sealingKeyPath         = "gitops.sealedSecrets.key"
	sealingCertificatePath = "gitops.sealedSecrets.certificate"
)

// seal makes the key of Sealed Secrets, if the file has one: no resource without.
func (p *program) seal(inside pulumi.ResourceOption) ([]pulumi.Resource, error) {
	s := p.c.GitOps.SealedSecrets
	if s == nil {
		return nil, nil
	}
	key, err := p.secrets().resolve(sealingKeyPath, s.Key)
	if err != nil {
		return nil, err
	}
	certificate, err := p.secrets().resolve(sealingCertificatePath, s.Certificate)
	if err != nil {
		return nil, err
	}
	made, err := sealingkey.NewSealingKey(p.ctx, p.c.Name, &sealingkey.Args{Key: key, Certificate: certificate}, p.own.provider, inside)
	if err != nil {
		return nil, err
	}
	return made.Resources, nil
}

// checkSealing reads what is kept outside of Pulumi, and holds the key to its certificate
// when both are.
func (s secrets) checkSealing() error {
	ref := s.cluster.GitOps.SealedSecrets
	if ref == nil {
		return nil
	}
	if ref.Key.Config != "" || ref.Certificate.Config != "" {
		if err := s.check(sealingKeyPath, ref.Key); err != nil {
			return err
		}
		return s.check(sealingCertificatePath, ref.Certificate)
	}
	key, err := s.read(sealingKeyPath, ref.Key)
	if err != nil {
		return err
	}
	certificate, err := s.read(sealingCertificatePath, ref.Certificate)
	if err != nil {
		return err
	}
	return sealingkey.Check(key, certificate)
}
