package bootstrap

import (
	"errors"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/infraconfig"
	"tombolo/components/parameters"
	"tombolo/components/previewers"
	"tombolo/components/registration"
	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/stacks/core/aws"
	"tombolo/stacks/handoff"
)

// part is what bootstrap makes of a cloud's part of the hand-off.
type part struct {
	// facts are the keys of the infra ConfigMap that only clusters on this cloud
	// have.
	facts func(h handoff.Handoff) infraconfig.Facts
	// credentials are those by which a hub's Argo CD reaches a spoke without a secret; nil
	// where the token of a service account is the only way.
	credentials func(h handoff.Handoff) registration.Credentials
	// engineRole is the role that a hub's Argo CD runs with.
	engineRole func(h handoff.Handoff) pulumi.StringInput
	// gitIdentity is the client id of the identity by which the engine reads the repository.
	gitIdentity func(h handoff.Handoff) pulumi.StringInput
	// addonInputs are what core tells about an addon, one by one.
	addonInputs func(addon string, h handoff.Handoff) []addonInput
	// previewers are the groups of Kubernetes of those who may preview.
	previewers func(c *config.Cluster) []string
	// parameters reads the cloud's store of parameters, in the cluster's account and
	// region.
	parameters func(ctx *pulumi.Context, cloud config.Cloud) (reader, error)
}

// partOf is that of a cluster's cloud. A cloud is added here, and nowhere else in
// bootstrap.
func partOf(c *config.Cluster) part {
	return map[config.Provider]part{
		config.AWS:   {awsFacts, awsCredentials, awsEngineRole, nil, awsAddonInputs, awsPreviewers, awsParameters},
		config.Azure: {azureFacts, azureCredentials, azureEngineRole, azureGitIdentity, azureAddonInputs, azurePreviewers, azureParameters},
	}[c.Cloud.Provider]
}

func awsFacts(h handoff.Handoff) infraconfig.Facts {
	return infraconfig.Facts{
		"account_id":                h.AWS.AccountID,
		"partition":                 h.AWS.Partition,
		"cluster_arn":               h.AWS.ClusterARN,
		"oidc_provider_arn":         h.AWS.OIDCProviderARN,
		"network_id":                h.AWS.VPCID,
		"vpc_id":                    h.AWS.VPCID,
		"vpc_cidr":                  h.AWS.VPCCIDR,
		"private_subnet_ids":        joined(h.AWS.PrivateSubnetIDs),
		"public_subnet_ids":         joined(h.AWS.PublicSubnetIDs),
		"cluster_security_group_id": h.AWS.ClusterSecurityGroupID,
		"node_role_arn":             h.AWS.NodeRoleARN,
	}
}

func awsCredentials(h handoff.Handoff) registration.Credentials {
	return registration.AWS{ClusterName: h.ClusterName, RoleARN: h.AWS.RegistrationRoleARN, CA: h.ClusterCA}
}

func awsEngineRole(h handoff.Handoff) pulumi.StringInput { return h.AWS.ArgoCDRoleARN }

func awsAddonInputs(name string, h handoff.Handoff) []addonInput {
	return append(madeInputs(name, h),
		addonInput{h.AWS.VPCID, "vpc", func(o *addon.Outputs, v any) { o.VPCID = v.(string) }},
		addonInput{h.AWS.PrivateSubnetIDs, []string{"subnet"}, func(o *addon.Outputs, v any) { o.PrivateSubnetIDs = v.([]string) }},
		addonInput{h.ClusterEndpoint, "endpoint", func(o *addon.Outputs, v any) { o.ClusterEndpoint = v.(string) }},
		addonInput{h.AWS.ClusterSecurityGroupID, "group", func(o *addon.Outputs, v any) { o.ClusterSecurityGroupID = v.(string) }},
	)
}

func joined(ids pulumi.StringArrayInput) pulumi.StringInput {
	return ids.ToStringArrayOutput().ApplyT(func(ids []string) string { return strings.Join(ids, ",") }).(pulumi.StringOutput)
}

// awsPreviewers are in a group of ours, by their access entries.
func awsPreviewers(*config.Cluster) []string { return []string{previewers.Group} }

// awsParameters reads with a provider of its own: bootstrap has no other for AWS.
func awsParameters(ctx *pulumi.Context, cloud config.Cloud) (reader, error) {
	provider, err := aws.NewProvider(ctx, cloud, nil)
	if err != nil {
		return nil, err
	}
	return func(s config.Source) (any, error) {
		found, err := parameters.Read(ctx, s.Parameter, pulumi.Provider(provider))
		switch {
		case errors.Is(err, parameters.ErrSecret):
			return nil, errSecret
		case errors.Is(err, parameters.ErrMissing):
			return nil, errMissing
		}
		return found, err
	}, nil
}

func azureFacts(h handoff.Handoff) infraconfig.Facts {
	return infraconfig.Facts{
		"account_id":          h.Azure.SubscriptionID,
		"tenant_id":           h.Azure.TenantID,
		"resource_group":      h.Azure.ResourceGroup,
		"node_resource_group": h.Azure.NodeResourceGroup,
		"network_id":          h.Azure.VNetID,
		"vnet_id":             h.Azure.VNetID,
		"vnet_cidr":           h.Azure.VNetCIDR,
		"node_subnet_id":      h.Azure.NodeSubnetID,
		"kubelet_client_id":   h.Azure.KubeletClientID,
	}
}

// azureCredentials are none: a hub reaches a spoke on Azure by the token of a service account.
func azureCredentials(handoff.Handoff) registration.Credentials { return nil }

// azureEngineRole is none: nothing of Azure is asked by a hub's Argo CD.
func azureEngineRole(handoff.Handoff) pulumi.StringInput { return pulumi.String("") }

// azureGitIdentity fails on what a core has told that has made none: it was made from another file.
func azureGitIdentity(h handoff.Handoff) pulumi.StringInput {
	return h.Azure.GitClientID.ApplyT(func(id string) (string, error) {
		if id == "" {
			return "", errors.New("gitops.auth is workload-identity, and core has made no identity for it yet: run up for core first")
		}
		return id, nil
	}).(pulumi.StringOutput)
}

func azureAddonInputs(name string, h handoff.Handoff) []addonInput {
	return append(madeInputs(name, h),
		addonInput{h.ClusterEndpoint, "endpoint", func(o *addon.Outputs, v any) { o.ClusterEndpoint = v.(string) }},
	)
}

// azurePreviewers are groups of Entra, which the API server knows by their object ids.
func azurePreviewers(c *config.Cluster) []string {
	var groups []string
	for _, p := range c.Kubernetes.Previewers {
		groups = append(groups, p.Group)
	}
	return groups
}

// azureParameters are none: Parameter Store is AWS's.
func azureParameters(*pulumi.Context, config.Cloud) (reader, error) {
	return nil, errors.New("there is no Parameter Store in Azure: take fromSsm out of the cluster file")
}
