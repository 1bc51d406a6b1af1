// Command theirs is another team's program: an AKS cluster with one pool, in a network that AKS
// makes. It knows nothing of Tombolo.
package main

import (
	containerservice "github.com/pulumi/pulumi-azure-native-sdk/containerservice/v2/v20240901"
	"github.com/pulumi/pulumi-azure-native-sdk/resources/v2"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() { pulumi.Run(theirs) }

func theirs(ctx *pulumi.Context) error {
	group, err := resources.NewResourceGroup(ctx, "shop", &resources.ResourceGroupArgs{
		ResourceGroupName: pulumi.String("shop-team"), Location: pulumi.String("germanywestcentral"),
	})
	if err != nil {
		return err
	}
	main, err := containerservice.NewManagedCluster(ctx, "main", &containerservice.ManagedClusterArgs{
		ResourceName: pulumi.String("Shop_Main"), ResourceGroupName: group.Name, Location: group.Location,
		DnsPrefix: pulumi.String("shop"), KubernetesVersion: pulumi.String("1.34"),
		Identity:   containerservice.ManagedClusterIdentityArgs{Type: containerservice.ResourceIdentityTypeSystemAssigned},
		EnableRBAC: pulumi.Bool(true),
		AadProfile: containerservice.ManagedClusterAADProfileArgs{
			Managed: pulumi.Bool(true), AdminGroupObjectIDs: pulumi.ToStringArray([]string{"00000000-0000-4000-8000-0000000000a1"}),
		},
		NetworkProfile: containerservice.ContainerServiceNetworkProfileArgs{NetworkPlugin: pulumi.String("azure"), NetworkPluginMode: pulumi.String("overlay")},
		AgentPoolProfiles: containerservice.ManagedClusterAgentPoolProfileArray{containerservice.ManagedClusterAgentPoolProfileArgs{
			Name: pulumi.String("pool"), Mode: pulumi.String("System"), Count: pulumi.Int(2), VmSize: pulumi.String("Standard_D4s_v5"), OsType: pulumi.String("Linux"),
		}},
	})
	if err != nil {
		return err
	}
	way := containerservice.ListManagedClusterUserCredentialsOutput(ctx, containerservice.ListManagedClusterUserCredentialsOutputArgs{
		ResourceGroupName: group.Name, ResourceName: main.Name,
	})
	ctx.Export("kubeconfig", way.Kubeconfigs().Index(pulumi.Int(0)).Value())
	return nil
}
