package aks

import (
	"errors"
	"fmt"

	containerservice "github.com/pulumi/pulumi-azure-native-sdk/containerservice/v2/v20240901"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/internal/kubeversion"
	"tombolo/internal/names"
)

const existingType = "tombolo:aks:Existing"

// ExistingArgs name a cluster that others own.
type ExistingArgs struct {
	// Name of the cluster in AKS, and its ResourceGroup.
	Name, ResourceGroup string
	// WorkloadIdentity says that something gets its credentials by workload identity.
	WorkloadIdentity bool
}

// Existing is a cluster that others own, as Azure describes it.
type Existing struct {
	*Cluster
	// SubnetID of the first pool's nodes; "" in a network that AKS has made.
	SubnetID string
}

// NewExisting looks a cluster up. Nothing of it is made or changed. It fails when the cluster
// does not exist, is no usable one or is another Tombolo's, and when it lacks what is needed
// of it.
func NewExisting(ctx *pulumi.Context, name string, args *ExistingArgs, opts ...pulumi.ResourceOption) (*Existing, error) {
	if args.Name == "" || args.ResourceGroup == "" {
		return nil, fmt.Errorf("existing cluster %s: %w", name, errors.New("name and resource group are required"))
	}
	c := &Cluster{}
	inputs := pulumi.Map{"name": pulumi.String(args.Name), "resourceGroup": pulumi.String(args.ResourceGroup)}
	if err := ctx.RegisterComponentResourceV2(existingType, name, inputs, c, opts...); err != nil {
		return nil, fmt.Errorf("register existing cluster %s: %w", name, err)
	}
	parent := pulumi.Parent(c)
	found, err := lookUp(ctx, args, parent)
	if err != nil {
		return nil, fmt.Errorf("existing cluster %s: %w", args.Name, err)
	}
	way, err := wayInto(ctx, args, found, parent)
	if err != nil {
		return nil, fmt.Errorf("existing cluster %s: %w", args.Name, err)
	}
	setExisting(c, found, way)
	out := &Existing{Cluster: c}
	for _, p := range found.AgentPoolProfiles {
		if out.SubnetID == "" {
			out.SubnetID = text(p.VnetSubnetID)
		}
	}
	return out, ctx.RegisterResourceOutputs(c, pulumi.Map{
		"name": c.Name, "resourceId": c.ID, "version": c.Version, "endpoint": c.Endpoint, "oidcIssuer": c.OIDCIssuer,
		"nodeResourceGroup": c.NodeResourceGroup, "kubeletClientId": c.KubeletClientID,
	})
}

// lookUp reads the cluster, and checks that it can be worked with. Sign-in by Entra is what
// kubelogin does; the issuer is what federated credentials trust.
func lookUp(ctx *pulumi.Context, args *ExistingArgs, parent pulumi.InvokeOption) (*containerservice.LookupManagedClusterResult, error) {
	found, err := containerservice.LookupManagedCluster(ctx, &containerservice.LookupManagedClusterArgs{
		ResourceName: args.Name, ResourceGroupName: args.ResourceGroup,
	}, parent)
	if err != nil {
		return nil, fmt.Errorf("look it up in resource group %s: %w; check kubernetes.existing and cloud.account, and allow Microsoft.ContainerService/managedClusters/read to the credentials",
			args.ResourceGroup, err)
	}
	owner := found.Tags[names.OwnerTag]
	hasIssuer := found.OidcIssuerProfile != nil && found.OidcIssuerProfile.IssuerURL != ""
	security := found.SecurityProfile
	hasIdentity := security != nil && security.WorkloadIdentity != nil && truth(security.WorkloadIdentity.Enabled)
	const remedy = "have the cluster's owner turn it on: az aks update --name %s --resource-group %s %s"
	switch {
	case owner != "":
		return nil, fmt.Errorf("it is a cluster that Tombolo made (%s is %s): use its own cluster file and backend", names.OwnerTag, owner)
	case text(found.PowerState.Code) == "Stopped":
		return nil, errors.New("it is stopped: have its owner start it, with `az aks start`")
	case found.AadProfile == nil:
		return nil, fmt.Errorf("it does not take identities of Entra: "+remedy, args.Name, args.ResourceGroup, "--enable-aad")
	case !hasIssuer && args.WorkloadIdentity:
		return nil, fmt.Errorf("it has no OIDC issuer, which workload identity needs: "+remedy, args.Name, args.ResourceGroup, "--enable-oidc-issuer --enable-workload-identity")
	case !hasIdentity && args.WorkloadIdentity:
		return nil, fmt.Errorf("it has no workload identity: "+remedy, args.Name, args.ResourceGroup, "--enable-workload-identity")
	}
	return found, nil
}

// wayInto asks for the way in, as of a cluster of our own.
func wayInto(ctx *pulumi.Context, args *ExistingArgs, found *containerservice.LookupManagedClusterResult, parent pulumi.InvokeOption) (endpoint, error) {
	ask := &containerservice.ListManagedClusterUserCredentialsArgs{ResourceGroupName: args.ResourceGroup, ResourceName: args.Name}
	if p := found.ApiServerAccessProfile; p != nil {
		api := API{Private: truth(p.EnablePrivateCluster), PrivateDNSZone: text(p.PrivateDNSZone)}
		if kind := api.fqdn(); kind != "" {
			ask.ServerFqdn = &kind
		}
	}
	answer, err := containerservice.ListManagedClusterUserCredentials(ctx, ask, parent)
	if err != nil {
		return endpoint{}, fmt.Errorf("ask for the address of its API: %w; allow Microsoft.ContainerService/managedClusters/listClusterUserCredential/action to the credentials", err)
	}
	return endpointOf(answer.Kubeconfigs)
}

func setExisting(c *Cluster, found *containerservice.LookupManagedClusterResult, e endpoint) {
	known := func(value string) pulumi.StringOutput { return pulumi.String(value).ToStringOutput() }
	c.Name, c.ID, c.Version = known(found.Name), known(found.Id), known(kubeversion.Minor(text(found.KubernetesVersion)))
	c.Endpoint, c.CA = known(e.Server), known(e.CA)
	c.NodeResourceGroup = known(text(found.NodeResourceGroup))
	issuer := ""
	if p := found.OidcIssuerProfile; p != nil {
		issuer = p.IssuerURL
	}
	c.OIDCIssuer, c.KubeletClientID = known(issuer), known(text(found.IdentityProfile[kubeletIdentity].ClientId))
}

// text is the value, "" for none.
func text(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

func truth(p *bool) bool { return p != nil && *p }
