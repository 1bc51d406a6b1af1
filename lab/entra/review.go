package entra

import (
	"errors"
	"fmt"

	"github.com/golang-jwt/jwt/v5"
)

// Holder is who a token of Entra's was given to, and for what.
type Holder struct{ ObjectID, ClientID, Audience string }

// Holder reads a token of version 1 of the tenant, for any resource.
func (e *Entra) Holder(token string) (Holder, error) {
	claims := jwt.MapClaims{}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"RS256"}), jwt.WithTimeFunc(e.o.Now), jwt.WithExpirationRequired(), jwt.WithIssuer(Issuer(e.o.Tenant)))
	if _, err := parser.ParseWithClaims(token, claims, func(*jwt.Token) (any, error) { return &e.key.PublicKey, nil }); err != nil {
		return Holder{}, fmt.Errorf("verify the token of Entra: %w", err)
	}
	return Holder{ObjectID: text(claims, "oid"), ClientID: text(claims, "appid"), Audience: text(claims, "aud")}, nil
}

// Review finds the user of a token in an AKS cluster of a tenant: what AKS has its webhook
// for. It takes tokens for the API servers of AKS alone, of the cluster's tenant. The user's
// name is the claim upn, or the object id where there is none, as for applications; groups
// are object ids. Source: getUserInfo in auth/providers/azure of
// https://github.com/kubeguard/guard, and
// https://learn.microsoft.com/azure/aks/concepts-identity#microsoft-entra-integration
func (e *Entra) Review(tenant, token string) (username string, groups []string, err error) {
	claims := jwt.MapClaims{}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"RS256"}), jwt.WithTimeFunc(e.o.Now), jwt.WithExpirationRequired(),
		jwt.WithAudience(ServerID), jwt.WithIssuer(Issuer(tenant)))
	if _, err := parser.ParseWithClaims(token, claims, func(*jwt.Token) (any, error) { return &e.key.PublicKey, nil }); err != nil {
		return "", nil, fmt.Errorf("verify the token of Entra: %w", err)
	}
	if text(claims, "tid") != tenant {
		return "", nil, fmt.Errorf("verify the token of Entra: it is of tenant %s, and the cluster of tenant %s", text(claims, "tid"), tenant)
	}
	for _, claim := range []string{"upn", "oid"} {
		if username = text(claims, claim); username != "" {
			break
		}
	}
	if username == "" {
		return "", nil, errors.New("verify the token of Entra: it has neither the claim upn nor oid")
	}
	listed, _ := claims["groups"].([]any)
	for _, group := range listed {
		if id, isText := group.(string); isText {
			groups = append(groups, id)
		}
	}
	return username, groups, nil
}
