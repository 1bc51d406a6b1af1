package registration

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Credentials are how Argo CD reaches a cluster: AWS or Token.
type Credentials interface {
	config(ctx *pulumi.Context) pulumi.StringOutput
	validate() error
}

// AWS has Argo CD assume an IAM role of the cluster's for each token that it
// needs. Nothing of it is secret.
type AWS struct {
	// ClusterName of the EKS cluster, RoleARN of the role that knows it.
	ClusterName, RoleARN pulumi.StringInput
	// CA is the certificate authority of its API, base64 of PEM.
	CA pulumi.StringInput
}

// Token is a bearer token for a service account.
type Token struct {
	// Token must be a Pulumi secret.
	Token pulumi.StringInput
	// CA is the certificate authority of the API, base64 of PEM.
	CA pulumi.StringInput
}

// clusterConfig is the JSON that Argo CD reads from a cluster's Secret.
type clusterConfig struct {
	AWS   *awsConfig `json:"awsAuthConfig,omitempty"`
	Token string     `json:"bearerToken,omitempty"`
	TLS   tlsConfig  `json:"tlsClientConfig"`
}

type awsConfig struct {
	ClusterName string `json:"clusterName"`
	RoleARN     string `json:"roleARN"`
}

type tlsConfig struct {
	Insecure bool   `json:"insecure"`
	CA       string `json:"caData,omitempty"`
}

func (c clusterConfig) render() (string, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("write a cluster's configuration for Argo CD: %w", err)
	}
	return string(text), nil
}

// config of the cluster; in the hub's own, its service account is enough.
func (a *RegistrationArgs) config(ctx *pulumi.Context) pulumi.StringInput {
	if a.Credentials != nil {
		return a.Credentials.config(ctx)
	}
	return pulumi.String(`{"tlsClientConfig":{"insecure":false}}`)
}

func (c AWS) config(*pulumi.Context) pulumi.StringOutput {
	return pulumi.All(c.ClusterName, c.RoleARN, c.CA).ApplyT(func(v []any) (string, error) {
		role := v[1].(string)
		if role == "" {
			return "", errors.New("the cluster's core has no role for the hub; run up for it again")
		}
		return clusterConfig{AWS: &awsConfig{v[0].(string), role}, TLS: tlsConfig{CA: v[2].(string)}}.render()
	}).(pulumi.StringOutput)
}

func (c AWS) validate() error {
	if c.ClusterName == nil || c.RoleARN == nil || c.CA == nil {
		return errors.New("AWS credentials need the cluster's name, a role and the certificate authority")
	}
	return nil
}

// config is a secret, whatever Token was given as. In a preview there may be no
// token yet.
func (c Token) config(ctx *pulumi.Context) pulumi.StringOutput {
	text := pulumi.All(c.Token, c.CA).ApplyT(func(v []any) (string, error) {
		token := v[0].(string)
		if token == "" && !ctx.DryRun() {
			return "", errors.New("the token is empty; did Kubernetes not fill the service account's Secret?")
		}
		return clusterConfig{Token: token, TLS: tlsConfig{CA: v[1].(string)}}.render()
	})
	return pulumi.ToSecret(text).(pulumi.StringOutput)
}

func (c Token) validate() error {
	if c.Token == nil || c.CA == nil {
		return errors.New("a token and the certificate authority are required")
	}
	return nil
}
