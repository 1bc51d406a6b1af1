package export

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/config"
)

// This file is about who the stacks' pods are in a cloud: an IAM role in AWS, an identity of
// Entra in Azure. One service account can have both.

const (
	// roleAnnotation names the IAM role:
	// https://docs.aws.amazon.com/eks/latest/userguide/associate-service-account-role.html
	roleAnnotation = "eks.amazonaws.com/role-arn"
	// clientAnnotation names the identity, and usesIdentity is the label without which a pod
	// gets no token of it:
	// https://azure.github.io/azure-workload-identity/docs/topics/service-account-labels-and-annotations.html
	clientAnnotation = "azure.workload.identity/client-id"
	usesIdentity     = "azure.workload.identity/use"
	// identityToken is the file of the token that such a pod gets:
	// https://azure.github.io/azure-workload-identity/docs/installation/mutating-admission-webhook.html
	identityToken = "/var/run/secrets/azure/tokens/azure-identity-token"
)

// identities are the service account's annotations.
func (o *OperatorOptions) identities() map[string]string {
	all := map[string]string{roleAnnotation: o.RoleARN, clientAnnotation: o.ClientID}
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	return all
}

// checkIdentities refuses an identity of a cloud in which no cluster is.
func (o *OperatorOptions) checkIdentities(all map[string]*config.Cluster) error {
	inAzure, inAWS := 0, 0
	for _, c := range all {
		if tenantOf(c, all) != "" {
			inAzure++
		}
		if c.Cloud.Provider != config.Azure {
			inAWS++
		}
	}
	switch {
	case o.RoleARN != "" && inAWS == 0:
		return fault.NewUsage("--role-arn is about AWS, and all clusters are in Azure", "give the identity's client id by --client-id")
	case o.ClientID != "" && inAzure == 0:
		return fault.NewUsage("--client-id is about Azure, and no cluster is there", "give the IAM role by --role-arn")
	}
	return nil
}

// tenantOf is the tenant in Azure that a cluster's stacks sign in to: the cluster's, or that of
// the hub of a cluster in AWS; "" where neither is in Azure.
func tenantOf(c *config.Cluster, all map[string]*config.Cluster) string {
	for _, c := range []*config.Cluster{c, all[c.Hub()]} {
		if c != nil && c.Cloud.Provider == config.Azure {
			return c.Cloud.Tenant
		}
	}
	return ""
}

// signInToAzure has the stack's programs, and the kubelogin that they start, sign in with the
// token of the service account. Azure's webhook gives the pod the variables of kubelogin;
// Pulumi's provider has others:
// https://www.pulumi.com/registry/packages/azure-native/installation-configuration/
func (o *OperatorOptions) signInToAzure(s *stack, tenant string) {
	if o.ClientID == "" || tenant == "" {
		return // without a client, the variables of --env-secret say how
	}
	workspace := &s.Spec.WorkspaceTemplate.Spec
	workspace.pod().Metadata = &podMetadata{Labels: map[string]string{usesIdentity: "true"}}
	variables := map[string]string{
		"ARM_USE_OIDC": "true", "ARM_CLIENT_ID": o.ClientID, "ARM_TENANT_ID": tenant,
		"ARM_OIDC_TOKEN_FILE_PATH": identityToken, "AAD_LOGIN_METHOD": "workloadidentity",
	}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		workspace.Env = append(workspace.Env, corev1.EnvVar{Name: name, Value: variables[name]})
	}
}
