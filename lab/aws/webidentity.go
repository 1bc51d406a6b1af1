package aws

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/golang-jwt/jwt/v5"
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
	return &stsError{400, "InvalidIdentityToken", fmt.Sprintf(format, args...)}
}

// assumeRoleWithWebIdentity starts a session of a role for the bearer of a
// service account's token: what IRSA is.
func (c *Cloud) assumeRoleWithWebIdentity(region string, form url.Values) (*assumedRole, error) {
	a, err := readAssumption(form)
	if err != nil {
		return nil, err
	}
	if form.Get("ProviderId") != "" {
		return nil, invalid("the AWS stand-in does not know the parameter ProviderId")
	}
	who, err := c.webIdentity(region, form.Get("WebIdentityToken"))
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	role := c.roleOf(a.roleARN)
	if role == nil || !c.trustsIdentity(role, who, a) {
		return nil, &stsError{403, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity"}
	}
	made, err := c.startSession(role, a)
	if err != nil {
		return nil, err
	}
	made.Subject, made.Audience, made.Provider = who.subject, strings.Join(who.audiences, ","), who.provider
	return made, nil
}

func (c *Cloud) trustsIdentity(role *record, who *webIdentity, a *assumption) bool {
	context := map[string][]string{
		strings.ToLower(who.issuer) + ":sub": {who.subject}, strings.ToLower(who.issuer) + ":aud": who.audiences,
		"aws:federatedprovider": {who.provider},
	}
	maps.Copy(context, c.sessionContext(role, a))
	q := inquiry{
		action: "sts:AssumeRoleWithWebIdentity", resource: a.roleARN, context: context,
		principals: map[string][]string{"Federated": {who.provider}},
	}
	return q.judge(trustPolicy, role.Inputs.str("assumeRolePolicy")) == allowed
}

// webIdentity checks a token: its issuer is one that the account trusts, and is
// one of its clusters, whose key signed it.
func (c *Cloud) webIdentity(region, token string) (*webIdentity, error) {
	if token == "" {
		return nil, invalid("1 validation error detected: Value null at 'webIdentityToken' failed to satisfy constraint: Member must not be null")
	}
	var claims jwt.RegisteredClaims
	var provider *record
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"ES256", "RS256"}), jwt.WithTimeFunc(c.now), jwt.WithExpirationRequired())
	_, err := parser.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) {
		var err error
		if provider, err = c.providerOf(region, claims.Issuer); err != nil {
			return nil, err
		}
		return c.keyOf(claims.Issuer)
	})
	if err != nil {
		return nil, c.explainToken(err, claims)
	}
	if !slices.ContainsFunc(provider.Outputs.list("clientIdLists"), func(id string) bool { return slices.Contains(claims.Audience, id) }) {
		return nil, badToken("Incorrect token audience")
	}
	return &webIdentity{
		provider: provider.ID, issuer: strings.TrimPrefix(claims.Issuer, "https://"),
		subject: claims.Subject, audiences: claims.Audience,
	}, nil
}

// explainToken says of a token what STS would. The message for a wrong signature
// is not documented.
func (c *Cloud) explainToken(err error, claims jwt.RegisteredClaims) error {
	var refused *stsError
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.Is(err, jwt.ErrTokenMalformed):
		return badToken("The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)")
	case errors.Is(err, jwt.ErrTokenExpired):
		return &stsError{400, "ExpiredTokenException", fmt.Sprintf("Token expired: current date/time %d must be before the expiration date/time %d",
			c.now().Unix(), claims.ExpiresAt.Unix())}
	default:
		return badToken("The token cannot be verified: %v", err)
	}
}

// providerOf is the account's OIDC provider for an issuer.
func (c *Cloud) providerOf(region, issuer string) (*record, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	host := strings.TrimPrefix(issuer, "https://")
	if r := c.find(oidcProviderType, global, c.arn(region, "iam", "oidc-provider/"+host)); r != nil && host != issuer {
		return r, nil
	}
	return nil, badToken("No OpenIDConnect provider found in your account for %s", issuer)
}

// keyOf is the key that a cluster signs its service accounts' tokens with. AWS
// asks the issuer for it.
func (c *Cloud) keyOf(wanted string) (any, error) {
	for _, r := range c.snapshot(clusterType) {
		if issuer(r) != wanted {
			continue
		}
		if key, err := c.options.Clusters.TokenKey(r.Outputs.str("name")); err == nil {
			return key, nil
		}
	}
	return nil, badToken("Couldn't retrieve verification key from your identity provider, please reference AssumeRoleWithWebIdentity documentation for requirements")
}
