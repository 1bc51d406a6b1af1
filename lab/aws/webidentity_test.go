package aws

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/golang-jwt/jwt/v5"
	"gotest.tools/v3/assert"
)

func TestWebIdentityRefusals(t *testing.T) {
	f := newFleet(t)
	foreign, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	assert.NilError(t, err)
	late := time.Now().Add(-time.Minute)
	forged, err := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.RegisteredClaims{
		Issuer: f.issuer, Subject: controllerAccount, Audience: jwt.ClaimStrings{"sts.amazonaws.com"}, ExpiresAt: jwt.NewNumericDate(time.Now().Add(time.Hour)),
	}).SignedString(foreign)
	assert.NilError(t, err)
	unsigned, err := jwt.NewWithClaims(jwt.SigningMethodNone, jwt.RegisteredClaims{Issuer: f.issuer}).SignedString(jwt.UnsafeAllowNoneSignatureType)
	assert.NilError(t, err)
	for name, test := range map[string]struct{ token, code, message string }{
		"other account": {
			f.accountToken(func(c *jwt.RegisteredClaims) { c.Subject = "system:serviceaccount:argocd:default" }),
			"AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity",
		},
		"audience": {
			f.accountToken(func(c *jwt.RegisteredClaims) { c.Audience = jwt.ClaimStrings{"https://kubernetes.default.svc"} }),
			"InvalidIdentityToken", "Incorrect token audience",
		},
		"expired": {
			f.accountToken(func(c *jwt.RegisteredClaims) { c.ExpiresAt = jwt.NewNumericDate(late) }),
			"ExpiredTokenException", "Token expired: current date/time ",
		},
		"for ever": {
			f.accountToken(func(c *jwt.RegisteredClaims) { c.ExpiresAt = nil }),
			"InvalidIdentityToken", "exp claim is required",
		},
		"issuer": {
			f.accountToken(func(c *jwt.RegisteredClaims) { c.Issuer = "https://oidc.test/id/1" }),
			"InvalidIdentityToken", "No OpenIDConnect provider found in your account for https://oidc.test/id/1",
		},
		"signature": {forged, "InvalidIdentityToken", "signature is invalid"},
		"unsigned":  {unsigned, "InvalidIdentityToken", "signing method none is invalid"},
		"no token":  {"x.y", "InvalidIdentityToken", "The ID Token provided is not a valid JWT."},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := sts.NewFromConfig(f.pod(test.token)).GetCallerIdentity(t.Context(), nil)
			stsRefuses(t, err, test.code, test.message)
		})
	}
}

// TestWebIdentityNeeds takes away what the account needs for IRSA.
func TestWebIdentityNeeds(t *testing.T) {
	const denied = "Not authorized to perform sts:AssumeRoleWithWebIdentity"
	for name, test := range map[string]struct {
		without       func(t *testing.T, f *fleet) error
		code, message string
	}{
		"trust": {func(_ *testing.T, f *fleet) error {
			return f.Update(f.hubRole, props{"assumeRolePolicy": clusterTrust})
		}, "AccessDenied", denied},
		"role":     {func(_ *testing.T, f *fleet) error { return errors.Join(f.Delete(f.mayAssume), f.Delete(f.hubRole)) }, "AccessDenied", denied},
		"provider": {func(_ *testing.T, f *fleet) error { return f.Delete(f.provider) }, "InvalidIdentityToken", "No OpenIDConnect provider found in your account for https://"},
		"audience": {func(_ *testing.T, f *fleet) error {
			return f.Update(f.provider, props{"clientIdLists": []any{"another"}})
		}, "InvalidIdentityToken", "Incorrect token audience"},
		"cluster": {func(t *testing.T, f *fleet) error { return f.Clusters.Stop(t.Context(), "demo") }, "InvalidIdentityToken", "Couldn't retrieve verification key from your identity provider"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t)
			assert.NilError(t, test.without(t, f))
			_, err := sts.NewFromConfig(f.pod(f.accountToken(nil))).GetCallerIdentity(t.Context(), nil)
			stsRefuses(t, err, test.code, test.message)
		})
	}
}
