package flux

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/check/findingtest"
)

// TestEncrypted: what SOPS has encrypted is not looked at where Flux decrypts it, and stops Flux where it does not.
func TestEncrypted(t *testing.T) {
	const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: flux-system}\ndata: {host: 'ENC[AES256_GCM,data:a]'}\nsops: {mac: x}\n"
	const uses = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: b, namespace: flux-system}\nspec: {interval: 1h, url: '${host}'}\n"
	const head, decryption = "  interval: 1h\n  prune: true\n", "  decryption: {provider: sops}\n"
	const stops = "a/a.yaml:3:18 Secret flux-system/a is encrypted with SOPS, and Kustomization flux-system/a has no decryption: it stops at it"
	for name, test := range map[string]struct{ object, more, want string }{
		"decrypted":     {secret, decryption, ""},
		"not decrypted": {secret, "", stops},
		"left alone":    {strings.Replace(secret, "{name", "{annotations: {kustomize.toolkit.fluxcd.io/decrypt: disabled}, name", 1), decryption, "a/a.yaml:3:80 Secret flux-system/a: the API cannot read it: illegal base64 data at input byte 3: the API refuses it"},
	} {
		t.Run(name, func(t *testing.T) {
			w := of(t, map[string]string{
				"start/a.yaml": stage("a", "./a", head+test.more) + "---\n" + stage("b", "./b", head+"  postBuild: {substituteFrom: [{kind: Secret, name: a}]}\n"),
				"a/a.yaml":     test.object, "b/b.yaml": uses,
			})
			w.Follow()
			assert.Equal(t, findingtest.Messages(w.Findings), test.want)
		})
	}
}
