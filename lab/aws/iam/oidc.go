package iam

import (
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"

	"tombolo/lab/aws/account"
	"tombolo/lab/standin"
)

// OIDCProviderType is the type of IAM OIDC providers.
const OIDCProviderType = "aws:iam/openIdConnectProvider:OpenIdConnectProvider"

// thumbprint of a certificate. The model has its length alone.
var thumbprint = regexp.MustCompile(`^[0-9a-fA-F]{40}$`)

func iamOIDCProvider() *standin.Type {
	return &standin.Type{
		Constructor: iam.NewOpenIdConnectProvider,
		Noun:        "IAM OIDC Provider",
		Global:      true,
		API:         standin.API{Service: "IAM", Create: "CreateOpenIDConnectProvider", Update: "UpdateOpenIDConnectProviderThumbprint", Remove: "DeleteOpenIDConnectProvider"},
		// internal/service/iam/openid_connect_provider.go
		ForceNew: []string{"url"},
		Validate: validateOIDCProvider,
		Create:   createOIDCProvider,
		Takes:    standin.Timing{Create: time.Second, Remove: time.Second},
	}
}

func validateOIDCProvider(in standin.Props) []standin.Problem {
	raw, known := in["url"].(string)
	if u, err := url.Parse(raw); known && (err != nil || u.Scheme != "https" || u.Host == "") {
		return []standin.Problem{{Path: "url", Reason: "expected \"url\" to have a url with schema of: \"https\", got " + raw}}
	}
	for _, t := range in.List("thumbprintLists") {
		if !thumbprint.MatchString(t) {
			return []standin.Problem{{Path: "thumbprintLists", Reason: "expected length of thumbprintLists to be in the range (40 - 40), got " + t}}
		}
	}
	return nil
}

// createOIDCProvider makes up a thumbprint where none is given, as IAM does.
func createOIDCProvider(c *standin.Call) (string, error) {
	host := strings.TrimPrefix(c.In().Str("url"), "https://")
	arn := account.ARN(c, "iam", "oidc-provider/"+host)
	if c.Find(OIDCProviderType, arn) != nil {
		return "", c.Refuse(standin.Refusal{Code: "EntityAlreadyExists", Status: 409, Message: "Provider with url %s already exists."}, c.In().Str("url"))
	}
	c.Out()["arn"] = arn
	c.Out().SetDefault("thumbprintLists", []any{"9e99a48a9960b14926bb7f3b02e22da2b0ab7280"})
	return arn, nil
}
