package authorization

import (
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"tombolo/lab/azure/arm"
	"tombolo/lab/standin"
)

// tokenLife is the default of access tokens:
// https://learn.microsoft.com/en-us/entra/identity-platform/access-tokens#token-lifetime
const tokenLife = time.Hour

// Claims are what a token of the lab's Entra tells.
type Claims struct {
	// Object is the id of who it was given to, Client that of the application.
	Object string `json:"oid"`
	Client string `json:"appid"`
	Tenant string `json:"tid"`
	jwt.RegisteredClaims
}

// Token is a token for an API, such as https://management.azure.com/, of a principal. Only
// the lab takes it: its own key signs it.
func Token(c *standin.Cloud, object, client, audience string) (string, error) {
	now := c.Now()
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, Claims{
		Object: object, Client: client, Tenant: arm.Tenant,
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: "https://sts.windows.net/" + arm.Tenant + "/", Subject: object, Audience: jwt.ClaimStrings{audience},
			IssuedAt: jwt.NewNumericDate(now), NotBefore: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(tokenLife)),
		},
	})
	signed, err := token.SignedString(key(c))
	if err != nil {
		return "", fmt.Errorf("sign a token for %s: %w", audience, err)
	}
	return signed, nil
}

// Verify reads a token for an API that Token has made and that is valid still.
func Verify(c *standin.Cloud, token, audience string) (Claims, error) {
	var claims Claims
	_, err := jwt.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return key(c), nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithAudience(audience), jwt.WithExpirationRequired(), jwt.WithTimeFunc(c.Now))
	if err != nil {
		return Claims{}, fmt.Errorf("verify a token for %s: %w", audience, err)
	}
	return claims, nil
}

func key(c *standin.Cloud) []byte { return c.Sign("azure token", nil) }
