package eks

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"

	"tombolo/lab/aws/account"
	"tombolo/lab/standin"
)

// IdentityProviderType is the type of the OpenID Connect providers of clusters.
const IdentityProviderType = "aws:eks/identityProviderConfig:IdentityProviderConfig"

func eksIdentityProviderTypes() map[string]*standin.Type {
	return map[string]*standin.Type{
		IdentityProviderType: {
			Constructor: eks.NewIdentityProviderConfig,
			Noun:        "EKS Identity Provider Config",
			API:         standin.API{Service: "EKS", Create: "AssociateIdentityProviderConfig", Remove: "DisassociateIdentityProviderConfig"},
			// internal/service/eks/identity_provider_config.go: an update changes the tags alone.
			ForceNew:   []string{"clusterName", "oidc"},
			References: []standin.Reference{toCluster(true)},
			Validate:   validateIdentityProvider,
			Create:     createIdentityProvider,
			// Half an hour, by https://github.com/aws/containers-roadmap/issues/1438.
			Takes: standin.Timing{Create: 25 * time.Minute, Remove: 25 * time.Minute},
		},
	}
}

// validateIdentityProvider is what the provider itself checks, by the same source:
// IsURLWithHTTPS, which also refuses a URL without a host.
func validateIdentityProvider(in standin.Props) []standin.Problem {
	issuer, known := in.Sub("oidc")["issuerUrl"].(string)
	if !known {
		return nil
	}
	u, err := url.Parse(issuer)
	if err != nil || u.Host == "" || u.Scheme != "https" {
		return []standin.Problem{{Path: "oidc.issuerUrl", Reason: fmt.Sprintf(`expected "oidc.0.issuer_url" to have a url with schema of: "https", got %s`, issuer)}}
	}
	return nil
}

// createIdentityProvider refuses a second provider, and what no provider can be. The wording
// is documented for the cluster's own issuer alone, and of a second provider not even the
// code: https://docs.aws.amazon.com/eks/latest/userguide/authenticate-oidc-identity-provider.html
func createIdentityProvider(c *standin.Call) (string, error) {
	cluster, err := activeCluster(c)
	if err != nil {
		return "", err
	}
	for r := range c.Others() {
		if r.Inputs.Str("clusterName") == cluster.ID {
			return "", c.Refusef("InvalidRequestException", "Cluster %s already has an identity provider config associated: %s", cluster.ID, r.Inputs.Sub("oidc").Str("identityProviderConfigName"))
		}
	}
	oidc := c.In().Sub("oidc")
	if err := checkIssuer(c, oidc.Str("issuerUrl"), Issuer(cluster)); err != nil {
		return "", err
	}
	for _, key := range []string{"usernamePrefix", "groupsPrefix"} {
		if strings.Contains(oidc.Str(key), "system:") {
			return "", c.Refusef("InvalidParameterException", "The %s cannot contain system:", key)
		}
	}
	name := oidc.Str("identityProviderConfigName")
	c.Out()["arn"] = account.ARN(c, "eks", fmt.Sprintf("identityproviderconfig/%s/oidc/%s/%s", cluster.ID, name, account.UUID()))
	c.Out()["status"] = standin.StatusActive
	return cluster.ID + ":" + name, nil
}

// checkIssuer refuses the cluster's own issuer, in the words of
// https://github.com/terraform-aws-modules/terraform-aws-eks/issues/3328, and a query, which
// the API's reference excludes:
// https://docs.aws.amazon.com/eks/latest/APIReference/API_OidcIdentityProviderConfigRequest.html
func checkIssuer(c *standin.Call, issuer, own string) error {
	switch u, err := url.Parse(issuer); {
	case issuer == own:
		return c.Refusef("InvalidParameterException", "Incorrect Identity Provider URL configuration. The Identity Provider URL cannot be same as OpenID Connect (OIDC) issuer URL")
	case err != nil || u.RawQuery != "":
		return c.Refusef("InvalidParameterException", "The issuer URL %s is not valid", issuer)
	}
	return nil
}

// IdentityProviderOf are the settings of a cluster's identity provider, in any region; nil while
// it has none.
func IdentityProviderOf(c *standin.Cloud, cluster string) standin.Props {
	for _, r := range c.Snapshot(IdentityProviderType) {
		if r.Inputs.Str("clusterName") == cluster && r.Status != standin.StatusCreating && r.Status != standin.StatusDeleting {
			return r.Inputs.Sub("oidc")
		}
	}
	return nil
}
