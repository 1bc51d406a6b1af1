package authenticator

import (
	"crypto"
	"errors"
	"fmt"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"tombolo/lab/aws/eks"
	"tombolo/lab/standin"
)

// KeyOf is the public key that an issuer signs with, or why it cannot be had.
type KeyOf func(issuer string) (crypto.PublicKey, error)

// IsPerson says that a token is one of an identity provider, and not of IAM: a JWT, by its form.
func IsPerson(token string) bool {
	return !strings.HasPrefix(token, TokenPrefix) && strings.Count(token, ".") == 2
}

// Person finds the user of a token of a cluster's identity provider: what EKS has the API server
// do, with the settings of eks.IdentityProviderType. In the lab the API server asks for it, as
// it does for IAM's tokens. What it judges by:
// https://kubernetes.io/docs/reference/access-authn-authz/authentication/#configuring-the-api-server
func Person(c *standin.Cloud, keyOf KeyOf, cluster, token string) (username string, groups []string, err error) {
	username, groups, err = person(c, keyOf, cluster, token)
	if err != nil {
		return "", nil, fmt.Errorf("authenticate with cluster %s: %w", cluster, err)
	}
	return username, groups, nil
}

func person(c *standin.Cloud, keyOf KeyOf, cluster, token string) (string, []string, error) {
	oidc := eks.IdentityProviderOf(c, cluster)
	if oidc == nil {
		return "", nil, errors.New("the cluster has no identity provider")
	}
	claims := jwt.MapClaims{}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512"}), jwt.WithTimeFunc(c.Now),
		jwt.WithExpirationRequired(), jwt.WithIssuer(oidc.Str("issuerUrl")), jwt.WithAudience(oidc.Str("clientId")))
	if _, err := parser.ParseWithClaims(token, claims, func(*jwt.Token) (any, error) { return keyOf(oidc.Str("issuerUrl")) }); err != nil {
		return "", nil, err
	}
	for claim, want := range oidc.Sub("requiredClaims") {
		if claims[claim] != want {
			return "", nil, fmt.Errorf("the required claim %s is not %v", claim, want)
		}
	}
	name, err := nameIn(claims, oidc)
	if err != nil {
		return "", nil, err
	}
	groups, err := groupsIn(claims, oidc)
	return name, groups, err
}

// nameIn is the user's name. An address that the provider says is not verified is nobody's.
func nameIn(claims jwt.MapClaims, oidc standin.Props) (string, error) {
	claim, prefix := oidc.Str("usernameClaim"), oidc.Str("usernamePrefix")
	if claim == "" {
		claim = "sub"
	}
	name, isText := claims[claim].(string)
	if !isText || name == "" {
		return "", fmt.Errorf("the token has no claim %s", claim)
	}
	if claim == "email" {
		if verified, given := claims["email_verified"]; given && verified != true {
			return "", errors.New("the token says that its address is not verified")
		}
	}
	switch {
	case prefix == "-", prefix == "" && claim == "email":
		return name, nil
	case prefix == "":
		return oidc.Str("issuerUrl") + "#" + name, nil
	}
	return prefix + name, nil
}

// groupsIn are the user's groups, one text or a list. A token without any is of nobody's group.
func groupsIn(claims jwt.MapClaims, oidc standin.Props) ([]string, error) {
	claim := oidc.Str("groupsClaim")
	value, given := claims[claim]
	if claim == "" || !given {
		return nil, nil
	}
	list, isList := value.([]any)
	if !isList {
		list = []any{value}
	}
	var groups []string
	for _, item := range list {
		group, isText := item.(string)
		if !isText {
			return nil, fmt.Errorf("the claim %s has groups that are no text", claim)
		}
		groups = append(groups, oidc.Str("groupsPrefix")+group)
	}
	return groups, nil
}
