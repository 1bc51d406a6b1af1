package aws

import (
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
)

const oidcProviderType = "aws:iam/openIdConnectProvider:OpenIdConnectProvider"

var thumbprint = regexp.MustCompile(`^[0-9a-fA-F]{40}$`)

func oidcTypes() map[string]*resourceType {
	return map[string]*resourceType{
		oidcProviderType: {
			constructor: iam.NewOpenIdConnectProvider,
			noun:        "IAM OIDC Provider",
			global:      true,
			api:         api{service: "IAM", create: "CreateOpenIDConnectProvider", update: "UpdateOpenIDConnectProviderThumbprint", remove: "DeleteOpenIDConnectProvider"},
			// internal/service/iam/openid_connect_provider.go
			forceNew: []string{"url"},
			validate: validateOIDCProvider,
			create:   createOIDCProvider,
			takes:    timing{create: time.Second, remove: time.Second},
		},
	}
}

func validateOIDCProvider(in props) []problem {
	var problems []problem
	if raw := in.str("url"); raw != "" {
		if u, err := url.Parse(raw); err != nil || u.Scheme != "https" || u.Host == "" || len(raw) > 255 {
			problems = append(problems, problem{"url", "expected \"url\" to have a url with schema of: \"https\", got " + raw})
		}
	}
	for _, t := range in.list("thumbprintLists") {
		if !thumbprint.MatchString(t) {
			problems = append(problems, problem{"thumbprintLists", "expected length of thumbprintLists to be in the range (40 - 40), got " + t})
		}
	}
	for _, id := range in.list("clientIdLists") {
		if len(id) < 1 || len(id) > 255 {
			problems = append(problems, problem{"clientIdLists", "expected length of clientIdLists to be in the range (1 - 255)"})
		}
	}
	return problems
}

// createOIDCProvider makes up a thumbprint where none is given, as IAM does.
func createOIDCProvider(c *call) (string, error) {
	host := strings.TrimPrefix(c.in().str("url"), "https://")
	arn := c.arn("iam", "oidc-provider/"+host)
	if c.find(oidcProviderType, arn) != nil {
		return "", c.refuse(refusal{code: "EntityAlreadyExists", status: 409, message: "Provider with url %s already exists."}, c.in().str("url"))
	}
	c.out()["arn"] = arn
	c.out().setDefault("thumbprintLists", []any{"9e99a48a9960b14926bb7f3b02e22da2b0ab7280"})
	return arn, nil
}
