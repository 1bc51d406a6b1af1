package config

import "tombolo/config/strict"

// SealedSecretsAddon is the name of the addon that opens SealedSecrets.
const SealedSecretsAddon = "sealed-secrets"

// sealedSecrets checks that the controller and its key come together. A controller without
// one makes a key that nobody keeps: a cluster made again would open nothing.
func (v *validator) sealedSecrets(s *SealedSecrets) {
	const at = strict.Path("gitops.sealedSecrets")
	addonAt := strict.Path("addons").Field(SealedSecretsAddon)
	_, on := v.c.Addons[SealedSecretsAddon]
	if s == nil {
		if on && v.doc.Sound(at, addonAt) {
			v.problem(addonAt, "add gitops.sealedSecrets with key and certificate: docs/guide/secrets.md says how they are made",
				"needs gitops.sealedSecrets: without it the controller makes a key that nobody keeps")
		}
		return
	}
	if !v.doc.Sound(at) {
		return
	}
	if !on {
		v.problem(at, "add the addon "+SealedSecretsAddon+", or remove it", "has no effect without the addon %s", SealedSecretsAddon)
	}
	v.secretRef(at.Field("key"), s.Key)
	v.secretRef(at.Field("certificate"), s.Certificate)
}
