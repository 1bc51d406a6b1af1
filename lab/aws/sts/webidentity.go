package sts

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/eks"
	"tombolo/lab/aws/iam"
	"tombolo/lab/aws/policy"
	"tombolo/lab/standin"
)

// webIdentity is what STS believes of a service account's token.
type webIdentity struct {
	// provider is the ARN of the IAM OIDC provider for the token's issuer.
	provider string
	// issuer without https://, as conditions name it.
	issuer  string
	subject string
	// audiences of the token, one of which the provider has.
	audiences []string
}

func badToken(format string, args ...any) error {
	return &Error{400, "InvalidIdentityToken", fmt.Sprintf(format, args...)}
}

// assumeRoleWithWebIdentity starts a session of a role for the bearer of a
// service account's token: what IRSA is.
func assumeRoleWithWebIdentity(c *standin.Cloud, region string, form url.Values) (*assumedRole, error) {
	a, err := readAssumption(form)
	if err != nil {
		return nil, err
	}
	if form.Get("ProviderId") != "" {
		return nil, invalid("the AWS stand-in does not know the parameter ProviderId")
	}
	who, err := verifiedIdentity(c, region, form.Get("WebIdentityToken"))
	if err != nil {
		return nil, err
	}
	defer c.Lock()()
	role := iam.RoleOf(c, a.roleARN)
	if role == nil || !trustsIdentity(c, role, who, a) {
		return nil, &Error{403, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity"}
	}
	made, err := startSession(c, role, a)
	if err != nil {
		return nil, err
	}
	made.Subject, made.Audience, made.Provider = who.subject, strings.Join(who.audiences, ","), who.provider
	return made, nil
}

func trustsIdentity(c *standin.Cloud, role *standin.Record, who *webIdentity, a *assumption) bool {
	context := map[string][]string{
		strings.ToLower(who.issuer) + ":sub": {who.subject}, strings.ToLower(who.issuer) + ":aud": who.audiences,
		"aws:federatedprovider": {who.provider},
	}
	maps.Copy(context, sessionContext(c, role, a))
	q := policy.Inquiry{
		Action: "sts:AssumeRoleWithWebIdentity", Resource: a.roleARN, Context: context,
		Principals: map[string][]string{"Federated": {who.provider}},
	}
	return q.Judge(policy.Trust, role.Inputs.Str("assumeRolePolicy")) == policy.Allowed
}

// verifiedIdentity checks a token: its issuer is one that the account trusts, and is
// one of its clusters, whose key signed it.
func verifiedIdentity(c *standin.Cloud, region, token string) (*webIdentity, error) {
	if token == "" {
		return nil, invalid("1 validation error detected: Value null at 'webIdentityToken' failed to satisfy constraint: Member must not be null")
	}
	var claims jwt.RegisteredClaims
	var provider *standin.Record
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"ES256", "RS256"}), jwt.WithTimeFunc(c.Now), jwt.WithExpirationRequired())
	_, err := parser.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) {
		var err error
		if provider, err = providerOf(c, region, claims.Issuer); err != nil {
			return nil, err
		}
		return keyOf(c, claims.Issuer)
	})
	if err != nil {
		return nil, explainToken(c, err, claims)
	}
	if !slices.ContainsFunc(provider.Outputs.List("clientIdLists"), func(id string) bool { return slices.Contains(claims.Audience, id) }) {
		return nil, badToken("Incorrect token audience")
	}
	return &webIdentity{
		provider: provider.ID, issuer: strings.TrimPrefix(claims.Issuer, "https://"),
		subject: claims.Subject, audiences: claims.Audience,
	}, nil
}

// explainToken says of a token what STS would. The message for a wrong signature
// is not documented.
func explainToken(c *standin.Cloud, err error, claims jwt.RegisteredClaims) error {
	var refused *Error
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.Is(err, jwt.ErrTokenMalformed):
		return badToken("The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)")
	case errors.Is(err, jwt.ErrTokenExpired):
		return &Error{400, "ExpiredTokenException", fmt.Sprintf("Token expired: current date/time %d must be before the expiration date/time %d",
			c.Now().Unix(), claims.ExpiresAt.Unix())}
	default:
		return badToken("The token cannot be verified: %v", err)
	}
}

// providerOf is the account's OIDC provider for an issuer.
func providerOf(c *standin.Cloud, region, issuer string) (*standin.Record, error) {
	defer c.Lock()()
	host := strings.TrimPrefix(issuer, "https://")
	if r := c.Find(iam.OIDCProviderType, standin.Global, account.ARNIn(c, region, "iam", "oidc-provider/"+host)); r != nil && host != issuer {
		return r, nil
	}
	return nil, badToken("No OpenIDConnect provider found in your account for %s", issuer)
}

// keyOf is the key that a cluster signs its service accounts' tokens with. AWS
// asks the issuer for it.
func keyOf(c *standin.Cloud, wanted string) (any, error) {
	for _, r := range c.Snapshot(eks.ClusterType) {
		if eks.Issuer(r) != wanted {
			continue
		}
		if key, err := c.Clusters.TokenKey(r.Outputs.Str("name")); err == nil {
			return key, nil
		}
	}
	return nil, badToken("Couldn't retrieve verification key from your identity provider, please reference AssumeRoleWithWebIdentity documentation for requirements")
}
