package aws

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	stssdk "github.com/aws/aws-sdk-go-v2/service/sts"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/golang-jwt/jwt/v5"
	"gotest.tools/v3/assert"

	"tombolo/lab/aws/eks"
	"tombolo/lab/aws/iam"
	"tombolo/lab/aws/sts"
)

const (
	controllerAccount = "system:serviceaccount:argocd:argocd-application-controller"
	fleetRegion       = "eu-central-1"
	maySpokes         = `{"Effect":"Allow","Action":["sts:AssumeRole","sts:TagSession"],"Resource":"arn:aws:iam::111122223333:role/*-argocd-spoke"}`
)

// fleet is a hub, the cluster demo, whose Argo CD may reach the cluster spoke.
type fleet struct {
	*world
	issuer                                         string
	provider, hubRole, mayAssume, spokeRole, entry *thing
	client                                         *http.Client
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{world: newWorld(t)}
	f.Make(eks.ClusterType, "spoke", f.clusterArgs(props{"name": "spoke", "encryptionConfig": nil}))
	f.issuer = eks.Issuer(eks.ClusterNamed(f.Cloud, "demo"))
	f.provider = f.Make(iam.OIDCProviderType, "oidc", props{"url": f.issuer, "clientIdLists": []any{"sts.amazonaws.com"}})
	f.hubRole = f.Make(iam.RoleType, "hub", props{"name": "demo-argocd", "assumeRolePolicy": f.accountTrust(controllerAccount)})
	f.mayAssume = f.Make(iam.RolePolicyType, "hub", props{"role": "demo-argocd", "name": "spokes", "policy": policyOf(maySpokes)})
	f.spokeRole = f.Make(iam.RoleType, "spoke", props{"name": "spoke-argocd-spoke", "assumeRolePolicy": roleTrust(f.hubRole.Out.Str("arn"), `["sts:AssumeRole","sts:TagSession"]`)})
	f.entry = f.Make(eks.AccessEntryType, "spoke", props{
		"clusterName": "spoke", "principalArn": f.spokeRole.Out["arn"], "kubernetesGroups": []any{"tombolo:argocd"},
	})
	server := httptest.NewServer(sts.Handler(f.Cloud))
	t.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	assert.NilError(t, err)
	f.client = &http.Client{Transport: toServer{address.Host}}
	return f
}

// toServer sends every request to one server, which sees the host that it was
// meant for.
type toServer struct{ address string }

func (s toServer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Host = r.URL.Host
	r.URL.Scheme, r.URL.Host = "http", s.address
	return http.DefaultTransport.RoundTrip(r)
}

// accountTrust lets a service account of the hub in.
func (f *fleet) accountTrust(subject string) string {
	host := f.issuer[len("https://"):]
	return policyOf(fmt.Sprintf(`{"Effect":"Allow","Principal":{"Federated":%q},"Action":"sts:AssumeRoleWithWebIdentity","Condition":{"StringEquals":{%q:"sts.amazonaws.com",%q:%q}}}`,
		f.provider.ID, host+":aud", host+":sub", subject))
}

func roleTrust(principal, actions string) string {
	return policyOf(fmt.Sprintf(`{"Effect":"Allow","Principal":{"AWS":%q},"Action":%s}`, principal, actions))
}

// accountToken is the token of the application controller's service account.
func (f *fleet) accountToken(change func(*jwt.RegisteredClaims)) string {
	f.T.Helper()
	claims := jwt.RegisteredClaims{
		Issuer: f.issuer, Subject: controllerAccount, Audience: jwt.ClaimStrings{"sts.amazonaws.com"},
		ExpiresAt: jwt.NewNumericDate(time.Now().Add(time.Hour)),
	}
	if change != nil {
		change(&claims)
	}
	token, err := jwt.NewWithClaims(jwt.SigningMethodES256, claims).SignedString(f.Clusters.Key)
	assert.NilError(f.T, err)
	return token
}

// pod is the configuration that AWS's SDK makes of what EKS gives to a pod.
func (f *fleet) pod(token string) awssdk.Config {
	f.T.Helper()
	file := filepath.Join(f.T.TempDir(), "token")
	assert.NilError(f.T, os.WriteFile(file, []byte(token), 0o600))
	nothing := filepath.Join(f.T.TempDir(), "none")
	for key, value := range map[string]string{
		"AWS_WEB_IDENTITY_TOKEN_FILE": file, "AWS_ROLE_ARN": f.hubRole.Out.Str("arn"), "AWS_ROLE_SESSION_NAME": "controller", "AWS_REGION": fleetRegion,
		"AWS_CONFIG_FILE": nothing, "AWS_SHARED_CREDENTIALS_FILE": nothing, "AWS_PROFILE": "", "AWS_ACCESS_KEY_ID": "",
		"AWS_SECRET_ACCESS_KEY": "", "AWS_ENDPOINT_URL": "", "AWS_ENDPOINT_URL_STS": "", "AWS_CA_BUNDLE": "", "AWS_EC2_METADATA_DISABLED": "true",
	} {
		f.T.Setenv(key, value)
	}
	c, err := config.LoadDefaultConfig(f.T.Context(), config.WithHTTPClient(f.client), config.WithRetryer(func() awssdk.Retryer { return awssdk.NopRetryer{} }))
	assert.NilError(f.T, err)
	return c
}

// as is a client of STS with some credentials.
func (f *fleet) as(by awssdk.CredentialsProvider) *stssdk.Client {
	return stssdk.New(stssdk.Options{Region: fleetRegion, HTTPClient: f.client, Credentials: by, Retryer: awssdk.NopRetryer{}})
}

// session of a role, without asking anybody.
func (f *fleet) session(role *thing, change func(*sts.Temporary)) awssdk.CredentialsProvider {
	t := sts.Temporary{Expires: time.Now().Add(time.Hour), Role: role.ID, RoleID: role.Out.Str("uniqueId"), Session: "test"}
	if change != nil {
		change(&t)
	}
	made := sts.Begin(f.Cloud, t)
	return awssdk.CredentialsProviderFunc(func(context.Context) (awssdk.Credentials, error) {
		return awssdk.Credentials{AccessKeyID: made.AccessKeyID, SecretAccessKey: made.SecretAccessKey, SessionToken: made.SessionToken}, nil
	})
}

// assume is a session of the spoke's role for the pod.
func (f *fleet) assume(from awssdk.Config) awssdk.CredentialsProvider {
	return stscreds.NewAssumeRoleProvider(stssdk.NewFromConfig(from), f.spokeRole.Out.Str("arn"))
}

// presign makes the URL of a token with the SDK.
func (f *fleet) presign(by awssdk.CredentialsProvider, headers map[string]string) (string, error) {
	f.T.Helper()
	made, err := stssdk.NewPresignClient(f.as(by)).PresignGetCallerIdentity(f.T.Context(), &stssdk.GetCallerIdentityInput{}, func(o *stssdk.PresignOptions) {
		o.ClientOptions = append(o.ClientOptions, func(o *stssdk.Options) {
			for name, value := range headers {
				o.APIOptions = append(o.APIOptions, smithyhttp.AddHeaderValue(name, value))
			}
		})
	})
	if err != nil {
		return "", err
	}
	return made.URL, nil
}
