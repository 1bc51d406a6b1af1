package config

import (
	"tombolo/config/addon"
	"tombolo/config/strict"
)

// SealedSecretsAddon is the name of the addon that opens SealedSecrets.
const SealedSecretsAddon = "sealed-secrets"

// checkSealedSecrets checks that the controller and its key come together. A controller without
// one makes a key that nobody keeps: a cluster made again would open nothing.
func checkSealedSecrets(v *File, s *SealedSecrets, addons addon.Selection) {
	const at = strict.Path("gitops.sealedSecrets")
	addonAt := strict.Path("addons").Field(SealedSecretsAddon)
	_, on := addons[SealedSecretsAddon]
	if s == nil {
		if on && v.Doc.Sound(at, addonAt) {
			v.Problem(addonAt, "add gitops.sealedSecrets with key and certificate: docs/guide/secrets.md says how they are made",
				"needs gitops.sealedSecrets: without it the controller makes a key that nobody keeps")
		}
		return
	}
	if !v.Doc.Sound(at) {
		return
	}
	if !on {
		v.Problem(at, "add the addon "+SealedSecretsAddon+", or remove it", "has no effect without the addon %s", SealedSecretsAddon)
	}
	checkSecretRef(v, at.Field("key"), s.Key)
	checkSecretRef(v, at.Field("certificate"), s.Certificate)
}
