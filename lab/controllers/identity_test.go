package controllers

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
)

func account(name string, annotations map[string]string) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "argocd", Name: name, Annotations: annotations}}
}

const hubRole = "arn:aws:iam::111122223333:role/mgmt-argocd"

func TestIdentityEnv(t *testing.T) {
	client := fake.NewClientset(
		account("plain", nil), account("role", map[string]string{"eks.amazonaws.com/role-arn": hubRole}),
		account("audience", map[string]string{"eks.amazonaws.com/role-arn": hubRole, "eks.amazonaws.com/audience": "elsewhere"}),
	)
	w := newWatch(Options{CA: "/lab/ca.crt", Log: slog.New(slog.DiscardHandler)}, "mgmt", "eu-west-1", &rest.Config{}, client)
	identity := func(name string) ([]string, []tokenFile, error) {
		return w.identityEnv(t.Context(), plan{namespace: "argocd", serviceAccount: name}, "/lab/x")
	}
	if env, tokens, err := identity("plain"); err != nil || len(env)+len(tokens) > 0 {
		t.Errorf("without a role: %q %v %v", env, tokens, err)
	}
	env, tokens, err := identity("role")
	assert.NilError(t, err)
	if diff := cmp.Diff([]string{
		"AWS_STS_REGIONAL_ENDPOINTS=regional", "AWS_DEFAULT_REGION=eu-west-1", "AWS_REGION=eu-west-1",
		"AWS_ROLE_ARN=" + hubRole, "AWS_WEB_IDENTITY_TOKEN_FILE=/lab/x/aws-token",
		"AWS_CA_BUNDLE=/lab/ca.crt", "AWS_CONFIG_FILE=/lab/x/no-aws-config", "AWS_SHARED_CREDENTIALS_FILE=/lab/x/no-aws-config",
		"AWS_EC2_METADATA_DISABLED=true",
	}, env); diff != "" {
		t.Error(diff)
	}
	assert.Check(t, is.DeepEqual([]tokenFile{{"/lab/x/aws-token", "sts.amazonaws.com"}}, tokens, cmp.AllowUnexported(tokenFile{})))
	if _, tokens, err = identity("audience"); err != nil || tokens[0].audience != "elsewhere" {
		t.Errorf("with an audience: %v, %v", tokens, err)
	}
	if _, _, err := identity("nobody"); err == nil || !strings.HasPrefix(err.Error(), "read service account argocd/nobody: ") {
		t.Errorf("nobody: %v", err)
	}
}

// TestAzureIdentityEnv: on AKS it is the pod that asks, and the service account that has a
// client id.
func TestAzureIdentityEnv(t *testing.T) {
	client := fake.NewClientset(
		account("plain", nil),
		account("identity", map[string]string{"azure.workload.identity/client-id": "c1", "azure.workload.identity/tenant-id": "t2"}),
	)
	w := newWatch(Options{CA: "/lab/ca.crt", Tenant: "t1", Log: slog.New(slog.DiscardHandler)}, "aks", "germanywestcentral", &rest.Config{}, client)
	asks := map[string]string{"azure.workload.identity/use": "true"}
	env, tokens, err := w.identityEnv(t.Context(), plan{namespace: "argocd", serviceAccount: "identity", labels: asks}, "/lab/x")
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(env, []string{
		"AZURE_TENANT_ID=t2", "AZURE_FEDERATED_TOKEN_FILE=/lab/x/azure-identity-token",
		"AZURE_AUTHORITY_HOST=https://login.microsoftonline.com/", "SSL_CERT_FILE=/lab/ca.crt", "AZURE_CLIENT_ID=c1",
	}))
	assert.Check(t, is.DeepEqual(tokens, []tokenFile{{"/lab/x/azure-identity-token", "api://AzureADTokenExchange"}}, cmp.AllowUnexported(tokenFile{})))
	env, _, err = w.identityEnv(t.Context(), plan{namespace: "argocd", serviceAccount: "plain", labels: asks}, "/lab/x")
	assert.NilError(t, err)
	assert.Check(t, is.Equal(env[0], "AZURE_TENANT_ID=t1"))
	env, _, err = w.identityEnv(t.Context(), plan{namespace: "argocd", serviceAccount: "identity"}, "/lab/x")
	assert.NilError(t, err)
	assert.Check(t, is.Len(env, 0))
}

// TestTokenAudience asks the API for tokens of the audience that each is for.
func TestTokenAudience(t *testing.T) {
	client := fake.NewClientset()
	var audiences [][]string
	client.PrependReactor("create", "serviceaccounts", func(action clienttesting.Action) (bool, runtime.Object, error) {
		request := action.(clienttesting.CreateAction).GetObject().(*authenticationv1.TokenRequest)
		audiences = append(audiences, request.Spec.Audiences)
		request.Status.Token = "token"
		return true, request, nil
	})
	dir := t.TempDir()
	w := newWatch(Options{Log: slog.New(slog.DiscardHandler)}, "mgmt", "eu-west-1", &rest.Config{}, client)
	tokens := []tokenFile{{dir + "/aws-token", "sts.amazonaws.com"}, apiToken(dir)}
	if _, err := w.writeCredentials(t.Context(), plan{namespace: "argocd", serviceAccount: "x"}, dir, tokens); err != nil {
		t.Fatal(err)
	}
	assert.Check(t, is.DeepEqual([][]string{{"sts.amazonaws.com"}, nil}, audiences))
}
