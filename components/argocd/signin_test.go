package argocd

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestSignIn(t *testing.T) {
	args := engineArgs(t)
	args.SignIn = &SignIn{
		URL: "https://argocd.example.com", IssuerURL: "https://auth.example.com/application/o/argocd/", ClientID: "argocd", Secret: "argocd-oidc",
		Scopes: []string{"openid", "profile"}, AdminGroups: []string{"platform", "authentik Admins"}, ReaderGroups: []string{"auditors"},
	}
	r := built(t, args)
	settings, _ := r.Named(configMapPatch, "mgmt-argocd-cm")
	settings.Expect(t, map[string]string{
		`data["url"]`:         "https://argocd.example.com",
		`data["oidc.config"]`: `{"clientID":"argocd","clientSecret":"$argocd-oidc:clientSecret","issuer":"https://auth.example.com/application/o/argocd/","name":"OIDC","requestedScopes":["openid","profile"]}`,
	})
	rights, ok := r.Named(configMapPatch, "mgmt-argocd-rbac-cm")
	assert.Assert(t, ok)
	rights.Expect(t, map[string]string{
		"metadata.name":              "argocd-rbac-cm",
		`data["policy.tombolo.csv"]`: "g, platform, role:admin\ng, authentik Admins, role:admin\ng, auditors, role:readonly\n",
		// Git's, as is policy.default.
		`data["policy.csv"]`: "", `data["policy.default"]`: "",
	})
	settings, _ = built(t, engineArgs(t)).Named(configMapPatch, "mgmt-argocd-cm")
	settings.Expect(t, map[string]string{`data["oidc.config"]`: ""})
}

func TestSignInThatBreaksAPolicy(t *testing.T) {
	for _, group := range []string{"", `a", role:admin`, "a\ng, b, role:admin", "role:admin", "proj:x:y"} {
		args := engineArgs(t)
		args.SignIn = &SignIn{URL: "u", IssuerURL: "i", ClientID: "c", Secret: "s", ReaderGroups: []string{group}}
		_, err := run(args)
		assert.Check(t, is.ErrorContains(err, "a group of the sign-in"), "%q", group)
	}
	args := engineArgs(t)
	args.SignIn = &SignIn{}
	_, err := run(args)
	assert.Check(t, is.ErrorContains(err, "a sign-in needs URL, issuer, client and Secret"))
}
