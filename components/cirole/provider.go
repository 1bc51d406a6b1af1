package cirole

import (
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// NewProvider makes the account's OIDC provider for an issuer, without https://, whose
// tokens have the audience, and returns its ARN. An account has one at most for an
// issuer. It gives no thumbprints: IAM checks issuers against its own store of
// certificate authorities.
func NewProvider(ctx *pulumi.Context, name, issuer, audience string, opts ...pulumi.ResourceOption) (pulumi.StringOutput, error) {
	made, err := iam.NewOpenIdConnectProvider(ctx, name, &iam.OpenIdConnectProviderArgs{
		Url:           pulumi.String("https://" + issuer),
		ClientIdLists: pulumi.ToStringArray([]string{audience}),
	}, opts...)
	if err != nil {
		return pulumi.StringOutput{}, fmt.Errorf("OIDC provider for %s: %w", issuer, err)
	}
	return made.Arn, nil
}
