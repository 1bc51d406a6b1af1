package registration

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
)

const secretType = "kubernetes:core/v1:Secret"

func registrationArgs() *RegistrationArgs {
	return &RegistrationArgs{
		Cluster: "demo", Server: pulumi.String("https://k8s.example"),
		Labels:      map[string]string{"logging": "on"},
		Annotations: map[string]pulumi.StringInput{"vpc_id": pulumi.String("vpc-1")},
		Credentials: AWS{ClusterName: pulumi.String("demo"), RoleARN: pulumi.String("arn:aws:iam::111122223333:role/demo-argocd-spoke"), CA: pulumi.String("Q0E=")},
	}
}

func run(args *RegistrationArgs, opts ...pulumi.RunOption) (*recorder.Recorder, error) {
	return recorder.Make("demo-bootstrap", "demo", NewRegistration, args, opts...)
}

func registered(t *testing.T, args *RegistrationArgs) recorder.Resource {
	t.Helper()
	r, err := run(args)
	return r.Sound(t, err).OfType(secretType)[0]
}

// field is a decoded value of the Secret, and whether Pulumi keeps it secret.
func field(t *testing.T, secret recorder.Resource, key string) (string, bool) {
	t.Helper()
	data, _ := secret.Value("data")
	hidden := data.IsSecret()
	if hidden {
		data = data.SecretValue().Element
	}
	value := data.ObjectValue()[resource.PropertyKey(key)]
	if value.IsSecret() {
		hidden, value = true, value.SecretValue().Element
	}
	text, err := base64.StdEncoding.DecodeString(value.StringValue())
	assert.Check(t, err, key)
	return string(text), hidden
}

func TestSecret(t *testing.T) {
	secret := registered(t, registrationArgs())
	secret.Expect(t, map[string]string{
		"metadata.name": "cluster-demo", "metadata.namespace": "argocd", "type": "Opaque", "stringData": "",
		`metadata.labels["argocd.argoproj.io/secret-type"]`: "cluster", "metadata.labels.logging": "on",
		"metadata.annotations.vpc_id": "vpc-1", `metadata.annotations["pulumi.com/patchForce"]`: "true",
	})
	for key, want := range map[string]string{"name": "demo", "server": "https://k8s.example"} {
		got, _ := field(t, secret, key)
		assert.Check(t, got == want, "%s is %q, expected %q", key, got, want)
	}
}

func TestCredentials(t *testing.T) {
	for name, test := range map[string]struct {
		credentials Credentials
		want        string
	}{
		"aws": {
			registrationArgs().Credentials,
			`{"awsAuthConfig":{"clusterName":"demo","roleARN":"arn:aws:iam::111122223333:role/demo-argocd-spoke"},"tlsClientConfig":{"insecure":false,"caData":"Q0E="}}`,
		},
		"token": {
			Token{Token: pulumi.String("t0ken"), CA: pulumi.String("Q0E=")},
			`{"bearerToken":"t0ken","tlsClientConfig":{"insecure":false,"caData":"Q0E="}}`,
		},
		"in cluster": {nil, `{"tlsClientConfig":{"insecure":false}}`},
	} {
		args := registrationArgs()
		args.Credentials = test.credentials
		got, hidden := field(t, registered(t, args), "config")
		assert.Check(t, got == test.want && hidden, "%s: config is %s (secret: %t), expected %s, a secret", name, got, hidden, test.want)
	}
}

func TestTokenMayBeMissingInAPreviewOnly(t *testing.T) {
	args := registrationArgs()
	args.Credentials = Token{Token: pulumi.String(""), CA: pulumi.String("Q0E=")}
	if _, err := run(args, recorder.Preview); err != nil {
		t.Errorf("preview: %v", err)
	}
	if _, err := run(args); err == nil || !strings.Contains(err.Error(), "the token is empty") {
		t.Errorf("up: %v", err)
	}
}

func TestRegistrationRefuses(t *testing.T) {
	for want, change := range map[string]func(*RegistrationArgs){
		`cluster "Demo" is no DNS label`:                                      func(a *RegistrationArgs) { a.Cluster = "Demo" },
		"the server is required":                                              func(a *RegistrationArgs) { a.Server = nil },
		"the label argocd.argoproj.io/secret-type is Argo CD's own":           func(a *RegistrationArgs) { a.Labels["argocd.argoproj.io/secret-type"] = "x" },
		"AWS credentials need the cluster's name, a role and the certificate": func(a *RegistrationArgs) { a.Credentials = AWS{} },
		"a token and the certificate authority are required":                  func(a *RegistrationArgs) { a.Credentials = Token{} },
		"the cluster's core has no role for the hub; run up for it again": func(a *RegistrationArgs) {
			a.Credentials = AWS{ClusterName: pulumi.String("demo"), RoleARN: pulumi.String(""), CA: pulumi.String("Q0E=")}
		},
	} {
		args := registrationArgs()
		change(args)
		_, err := run(args)
		assert.Check(t, is.ErrorContains(err, want))
	}
}

// access runs the component on a cluster that fills tokens' Secrets. token is
// what it puts out, hidden whether that is a secret.
func access(t *testing.T, args *AccessArgs) (r *recorder.Recorder, token any, hidden bool) {
	t.Helper()
	r = &recorder.Recorder{Outputs: map[string]resource.PropertyMap{secretType: {
		"data": resource.NewProperty(resource.PropertyMap{
			"token": resource.NewProperty(base64.StdEncoding.EncodeToString([]byte("t0ken"))),
		}),
	}}}
	err := r.Run("demo-bootstrap", func(ctx *pulumi.Context) error {
		made, err := NewAccess(ctx, "demo", args)
		if err != nil || made.Token == nil {
			return err
		}
		result, err := internals.UnsafeAwaitOutput(ctx.Context(), made.Token.ToStringOutput())
		token, hidden = result.Value, result.Secret
		return err
	})
	assert.NilError(t, err)
	assert.Check(t, is.Len(r.Problems(), 0))
	return r, token, hidden
}

func TestRightsAreTheGroups(t *testing.T) {
	r, token, _ := access(t, &AccessArgs{})
	role := r.OfType("kubernetes:rbac.authorization.k8s.io/v1:ClusterRole")[0]
	rules, err := json.Marshal(role.Inputs["rules"].Mappable())
	assert.NilError(t, err)
	recorder.Golden(t, "rules.json", string(rules))
	r.OfType("kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding")[0].Expect(t, map[string]string{
		"metadata.name": "tombolo:argocd", "roleRef.name": "tombolo:argocd",
		"subjects[0].kind": "Group", "subjects[0].name": "tombolo:argocd", "subjects[1]": "",
	})
	n := len(r.OfType(secretType)) + len(r.OfType("kubernetes:core/v1:ServiceAccount"))
	assert.Check(t, n == 0 && token == nil, "%d objects of a service account, with the token %v; none was asked for", n, token)
}

func TestServiceAccount(t *testing.T) {
	r, token, hidden := access(t, &AccessArgs{Namespace: "tombolo", Rotation: 3})
	assert.Check(t, token == "t0ken" && hidden, "the token is %v (secret: %t)", token, hidden)
	secret, ok := r.Named(secretType, "demo-token-3")
	assert.Assert(t, ok, "the resource of the token does not carry its number: another one would replace it before the hub has the new one")
	secret.Expect(t, map[string]string{
		"metadata.name": "argocd-manager-3", "metadata.namespace": "tombolo", "type": "kubernetes.io/service-account-token",
		`metadata.annotations["kubernetes.io/service-account.name"]`: "argocd-manager",
	})
	r.OfType("kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding")[0].Expect(t, map[string]string{
		"subjects[0].kind": "ServiceAccount", "subjects[0].name": "argocd-manager", "subjects[0].namespace": "tombolo", "subjects[1]": "",
	})
}

func TestAccessRefuses(t *testing.T) {
	for want, args := range map[string]*AccessArgs{
		"rotation -1 is negative":                         {Rotation: -1},
		"a namespace for the service account is required": {Rotation: 1},
	} {
		_, err := recorder.Make("demo-bootstrap", "demo", NewAccess, args)
		assert.Check(t, is.ErrorContains(err, "access demo: "+want))
	}
}
