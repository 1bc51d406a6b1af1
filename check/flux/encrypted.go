package flux

import (
	"strings"

	"tombolo/check/finding"
	"tombolo/check/manifest"
	"tombolo/check/tree"
)

// checkEncrypted says whether SOPS has encrypted an object, so that what it has is not known, and reports a Secret
// that nothing decrypts. Source: decryptor.IsEncryptedSecret, and its use in
// internal/controller/kustomization_controller.go of kustomize-controller.
func (w *Walk) checkEncrypted(s *sync, o manifest.Object, text string) bool {
	encrypted, err := manifest.Decode[struct {
		Metadata struct {
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
		SOPS map[string]any `json:"sops"`
	}](text)
	if err != nil || len(encrypted.SOPS) == 0 || strings.EqualFold(encrypted.Metadata.Annotations[decrypt], "disabled") {
		return false
	}
	if d := s.Spec.Decryption; d != nil && d.Provider == "sops" {
		return true
	}
	if o.Kind != "Secret" {
		return false // the API knows no field sops
	}
	w.Refer(s.origin, tree.Wanted{Object: o, Path: []string{"metadata", "name"}, Value: o.Metadata.Name}, finding.Errorf(
		"%s is encrypted with SOPS, and %s has no decryption: it stops at it", o.Identity(), s.Identity()).
		WithRemedy("name the directory by a Kustomization that has decryption with provider: sops"))
	return true
}

// decrypt is the annotation that leaves an object encrypted.
const decrypt = "kustomize.toolkit.fluxcd.io/decrypt"
