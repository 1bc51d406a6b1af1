package controllers

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tombolo/lab/entra"
)

// What EKS's webhook for IAM roles of service accounts reads, and what it uses
// by default. Source: the README of aws/amazon-eks-pod-identity-webhook.
const (
	roleAnnotation     = "eks.amazonaws.com/role-arn"
	audienceAnnotation = "eks.amazonaws.com/audience"
	usualAudience      = "sts.amazonaws.com"
)

// What the webhook of Azure's workload identity reads, which AKS runs: pods that ask for an
// identity have the label. Source:
// https://azure.github.io/azure-workload-identity/docs/topics/service-account-labels-and-annotations.html
const (
	useLabel         = "azure.workload.identity/use"
	clientAnnotation = "azure.workload.identity/client-id"
	tenantAnnotation = "azure.workload.identity/tenant-id"
)

// azureIdentityEnv is the environment that AKS gives to a pod that asks for an identity, and
// the token that it names. The lab adds what makes its own Entra believed.
func (w *watch) azureIdentityEnv(account *corev1.ServiceAccount, dir string) (env []string, tokens []tokenFile) {
	token := tokenFile{path: filepath.Join(dir, "azure-identity-token"), audience: entra.ExchangeAudience}
	env = []string{
		"AZURE_TENANT_ID=" + cmp.Or(account.Annotations[tenantAnnotation], w.o.Tenant), "AZURE_FEDERATED_TOKEN_FILE=" + token.path,
		"AZURE_AUTHORITY_HOST=https://" + entra.LoginHost + "/", "SSL_CERT_FILE=" + w.o.CA,
	}
	if client := account.Annotations[clientAnnotation]; client != "" {
		env = append(env, "AZURE_CLIENT_ID="+client)
	}
	return env, []tokenFile{token}
}

// identityEnv is the environment that EKS gives to a pod whose service account
// has an IAM role, and the token that it names, or AKS to one that asks for an identity;
// nothing for others. As in EKS,
// an annotation that comes later is for pods that start later. The lab adds
// what makes its own STS believed, and the machine's own credentials unused.
func (w *watch) identityEnv(ctx context.Context, p plan, dir string) (env []string, tokens []tokenFile, _ error) {
	account, err := w.client.CoreV1().ServiceAccounts(p.namespace).Get(ctx, p.serviceAccount, metav1.GetOptions{})
	if err != nil {
		return nil, nil, fmt.Errorf("read service account %s/%s: %w", p.namespace, p.serviceAccount, err)
	}
	if p.labels[useLabel] == "true" {
		env, tokens := w.azureIdentityEnv(account, dir)
		return env, tokens, nil
	}
	role := account.Annotations[roleAnnotation]
	if role == "" {
		return nil, nil, nil
	}
	token := tokenFile{path: filepath.Join(dir, "aws-token"), audience: usualAudience}
	if audience := account.Annotations[audienceAnnotation]; audience != "" {
		token.audience = audience
	}
	nothing := filepath.Join(dir, "no-aws-config")
	return []string{
		"AWS_STS_REGIONAL_ENDPOINTS=regional", "AWS_DEFAULT_REGION=" + w.region, "AWS_REGION=" + w.region,
		"AWS_ROLE_ARN=" + role, "AWS_WEB_IDENTITY_TOKEN_FILE=" + token.path,
		"AWS_CA_BUNDLE=" + w.o.CA, "AWS_CONFIG_FILE=" + nothing, "AWS_SHARED_CREDENTIALS_FILE=" + nothing, "AWS_EC2_METADATA_DISABLED=true",
	}, []tokenFile{token}, nil
}
