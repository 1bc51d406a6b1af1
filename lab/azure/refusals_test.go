package azure

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/authorization"
	"tombolo/lab/azure/containerservice"
	"tombolo/lab/azure/managedidentity"
	"tombolo/lab/azure/network"
	"tombolo/lab/azure/rbac"
	"tombolo/lab/standin"
	"tombolo/lab/standin/standintest"
)

// refusal is a request that Azure refuses, by what its inputs have instead.
type refusal struct {
	change props
	want   string
}

func list(values ...any) []any { return values }

// manyTags are more than a resource can have.
func manyTags() map[string]any {
	tags := map[string]any{}
	for i := range 51 {
		tags[fmt.Sprint("tag", i)] = "x"
	}
	return tags
}

func TestGroupsAreRefused(t *testing.T) {
	a := newTenant(t)
	for _, tc := range []refusal{
		{props{"location": "europe"}, `Status=400 Code="LocationNotAvailableForResourceGroup" Message="The provided location 'europe' is not available for resource group. List of available regions is 'australiacentral,`},
		{props{"resourceGroupName": "a b"}, `'resourceGroupName' does not match expression`},
		{props{"resourceGroupName": "ends."}, `Code="InvalidResourceGroup"`},
		{props{"resourceGroupName": "microsoft-lab"}, `Code="ReservedResourceName" Message="The resource name 'microsoft-lab' or a part of the name is a trademarked or reserved word."`},
		{props{"tags": manyTags()}, `Code="InvalidTagCount" Message="The number of tags on the resource, 51, exceeds the maximum allowed, 50."`},
		{props{"tags": map[string]any{"a/b": "x"}}, `Code="InvalidTagNameCharacters" Message="The tag names 'a/b' have reserved characters '<,>,%,&,\,?,/' or control characters."`},
		{props{"tags": map[string]any{"a": strings.Repeat("x", 257)}}, `Code="InvalidTagValue"`},
		{props{"tags": map[string]any{strings.Repeat("x", 513): "a"}}, `Code="InvalidTagName"`},
	} {
		a.denied(arm.GroupType, standin.Merged(props{"resourceGroupName": demo, "location": arm.Location}, tc.change), tc.want)
	}
}

func TestExistingResourceIsRefused(t *testing.T) {
	w := newNetwork(t)
	w.denied(network.NetworkType, w.vnet.In, "cannot create already existing resource '/subscriptions/"+arm.Subscription+"/resourceGroups/demo/providers/Microsoft.Network/virtualNetworks/demo'")
	w.denied(arm.GroupType, standin.Merged(w.group.In, props{"resourceGroupName": "DEMO"}), "cannot create already existing resource '/subscriptions/"+arm.Subscription+"/resourceGroups/DEMO'")
}

func TestResourcesAreRefused(t *testing.T) {
	w := newNetwork(t)
	identity := w.inGroup(props{"resourceName": "identity"})
	for _, tc := range []refusal{
		{props{"resourceGroupName": "gone"}, `Status=404 Code="ResourceGroupNotFound" Message="Resource group 'gone' could not be found."`},
		{props{"location": "mars"}, `Code="LocationNotAvailableForResourceType" Message="The provided location 'mars' is not available for resource type 'Microsoft.ManagedIdentity/userAssignedIdentities'.`},
		{props{"resourceName": "x"}, `Code="InvalidResourceName" Message="Resource name x is invalid. The name must begin with a letter or number`},
	} {
		w.denied(managedidentity.IdentityType, standin.Merged(identity, tc.change), tc.want)
	}
	w.configure(props{"subscriptionId": "00000000-0000-4000-8000-000000000003"})
	w.denied(managedidentity.IdentityType, identity, `Status=404 Code="SubscriptionNotFound" Message="The subscription '00000000-0000-4000-8000-000000000003' could not be found."`)
}

func TestUnregisteredProvider(t *testing.T) {
	w := newIdentities(t)
	assert.NilError(t, arm.Unregister(w.Cloud, arm.Subscription, "Microsoft.ContainerService"))
	w.denied(containerservice.ClusterType, w.clusterArgs(nil), `Status=409 Code="MissingSubscriptionRegistration" Message="The subscription is not registered to use namespace 'Microsoft.ContainerService'. See https://aka.ms/rps-not-found for how to register subscriptions."`)
	assert.NilError(t, arm.Register(w.Cloud, arm.Subscription, "Microsoft.ContainerService"))
	w.Make(containerservice.ClusterType, "cluster", w.clusterArgs(nil))
}

func TestNetworksAreRefused(t *testing.T) {
	w := newNetwork(t)
	space := func(blocks ...any) props { return props{"addressSpace": map[string]any{"addressPrefixes": blocks}} }
	for _, tc := range []refusal{
		{space("10.2.0.1/16"), `Code="InvalidCIDRNotation" Message="The address prefix 10.2.0.1/16 in resource `},
		{space("10.2.0.0/30"), `Code="VnetAddressSpaceHasInvalidPrefixLength"`},
		{space("128.0.0.0/1"), `Code="VnetAddressSpaceHasInvalidPrefixLength"`},
		{space("224.1.0.0/16"), `Code="VnetAddressSpaceIsReserved"`},
		{space("169.254.8.0/24"), `Code="VnetAddressSpaceIsReserved"`},
		{space("127.0.0.0/8"), `Code="VnetAddressSpaceIsReserved"`},
		{space("168.63.129.0/24"), `Code="VnetAddressSpaceIsReserved"`},
		{space("10.2.0.0/16", "10.2.1.0/24"), `Code="VnetAddressSpacesOverlap"`},
		{props{"addressSpace": map[string]any{}}, `Code="InvalidRequestFormat"`},
		{props{"subnets": list(map[string]any{"name": "a"})}, "the Azure stand-in makes no subnets within a network's own inputs"},
		{props{"virtualNetworkName": "-x"}, `Code="InvalidResourceName" Message="Resource name -x is invalid. The name can be up to 80 characters long.`},
	} {
		w.denied(network.NetworkType, standin.Merged(w.inGroup(props{"virtualNetworkName": "other"}), standin.Merged(space("10.2.0.0/16"), tc.change)), tc.want)
	}
	w.Make(network.NetworkType, "large", standin.Merged(w.inGroup(props{"virtualNetworkName": "large"}), space("0.0.0.0/2")))
	standintest.Refuses(t, w.Update(w.vnet, space("10.9.0.0/16")), `Code="NetcfgSubnetRangeOutsideVnet"`)
}

func TestSubnetsAreRefused(t *testing.T) {
	w := newNetwork(t)
	for _, tc := range []refusal{
		{props{"addressPrefix": "10.1.1.0/24"}, `Code="NetcfgSubnetRangesOverlap" Message="Subnet 'x' is not valid because its IP address range overlaps with that of an existing subnet in virtual network 'demo'."`},
		{props{"addressPrefix": "10.2.0.0/24"}, `Code="NetcfgSubnetRangeOutsideVnet" Message="Subnet 'x' is not valid because its IP address range is outside the IP address range of virtual network 'demo'."`},
		{props{"addressPrefix": "10.1.16.0/30"}, `Code="NetcfgInvalidSubnet" Message="Subnet 'x' is not valid in virtual network 'demo'."`},
		{props{"addressPrefix": "10.1.16.1/24"}, `Code="NetcfgInvalidSubnet"`},
		{props{"virtualNetworkName": "gone"}, `Status=404 Code="ParentResourceNotFound" Message="Failed to perform 'write' on resource(s) of type 'virtualNetworks/subnets', because the parent resource '`},
		{props{"natGateway": map[string]any{"id": w.gateway.ID + "2"}}, `Code="InvalidResourceReference" Message="Resource ` + w.gateway.ID + `2 referenced by resource `},
		{props{"routeTable": map[string]any{"id": network.TeamRouteTableID + "2"}}, `Code="InvalidResourceReference"`},
	} {
		in := standin.Merged(props{"resourceGroupName": demo, "virtualNetworkName": demo, "subnetName": "x", "addressPrefix": "10.1.16.0/24"}, tc.change)
		w.denied(network.SubnetType, in, tc.want)
	}
}

func TestOutboundIsRefused(t *testing.T) {
	w := newNetwork(t)
	address := w.inGroup(props{"publicIpAddressName": "x", "sku": map[string]any{"name": "Standard"}, "publicIPAllocationMethod": "Static"})
	w.denied(network.AddressType, standin.Merged(address, props{"publicIPAllocationMethod": "Dynamic"}),
		`Code="StandardAndStandardV2SkuPublicIPAddressesMustBeStatic" Message="Standard sku publicIp `)
	w.denied(network.AddressType, standin.Merged(address, props{"sku": map[string]any{"name": "Basic"}}), `Code="IPv4BasicSkuPublicIpCountLimitReached"`)
	gateway := w.inGroup(props{"natGatewayName": "x", "sku": map[string]any{"name": "Standard"}})
	for _, tc := range []refusal{
		{props{"sku": nil}, `Code="NatGatewayMustHaveStandardSku"`},
		{props{"zones": list("1", "2")}, `Code="NatGatewayCannotHaveMultipleZones"`},
		{props{"idleTimeoutInMinutes": 200}, `Code="InvalidIdleTimeout"`},
		{props{"publicIpAddresses": list(map[string]any{"id": w.ip.ID + "2"})}, `Code="InvalidResourceReference"`},
		{props{"publicIpAddresses": list(map[string]any{"id": w.ip.ID})}, `Code="PublicIPAddressInUse"`},
	} {
		w.denied(network.NatGatewayType, standin.Merged(gateway, tc.change), tc.want)
	}
	w.denied(network.RouteTableType, w.inGroup(props{"routeTableName": "x", "routes": list(map[string]any{"name": "a", "addressPrefix": "0.0.0.0/0", "nextHopType": "VirtualAppliance"})}),
		`Code="InvalidNextHopIpAddress"`)
}

func TestDeletionsAreRefused(t *testing.T) {
	w := newWorld(t)
	standintest.Refuses(t, w.Delete(w.gateway), `Code="CannotDeleteNatGatewayAssociatedToSubnet" Message="NAT Gateway `+w.gateway.ID+` is still configured on 1 subnets.`)
	standintest.Refuses(t, w.Delete(w.ip), `Code="PublicIPAddressCannotBeDeleted" Message="Public IP address `+w.ip.ID+` can not be deleted since it is still allocated to resource `+w.gateway.ID)
	standintest.Refuses(t, w.Delete(w.subnet), `Code="InUseSubnetCannotBeDeleted" Message="Subnet demo-nodes is in use by /subscriptions/`)
	standintest.Refuses(t, w.Delete(w.vnet), `Code="InUseSubnetCannotBeDeleted"`)
	standintest.Refuses(t, w.Update(w.subnet, props{"addressPrefix": "10.1.0.0/21"}), `Code="InUsePrefixCannotBeDeleted" Message="IpPrefix 10.1.0.0/20 on Subnet demo-nodes has active allocations and cannot be deleted."`)
	table := w.Make(network.RouteTableType, "table", w.inGroup(props{"routeTableName": "x"}))
	assert.NilError(t, w.Update(w.subnet, props{"routeTable": map[string]any{"id": table.ID}}))
	standintest.Refuses(t, w.Delete(table), `Code="InUseRouteTableCannotBeDeleted" Message="Route table `+table.ID+` cannot be deleted because it is in use by the following resources: `+w.subnet.ID)
}

// TestGroupInUse: a group stays while a cluster of another one is in its network.
func TestGroupInUse(t *testing.T) {
	w := newIdentities(t)
	w.Make(arm.GroupType, "other", props{"resourceGroupName": "other", "location": arm.Location})
	w.Make(containerservice.ClusterType, "cluster", w.clusterArgs(props{"resourceGroupName": "other"}))
	standintest.Refuses(t, w.Delete(w.group), `Status=409 Code="ResourceGroupDeletionBlocked" Message="Deletion of resource group 'demo' failed as resources with identifiers '`+w.subnet.ID)
	standintest.Refuses(t, w.Delete(&thing{Token: arm.GroupType, ID: armid.Group(arm.Subscription, "demo-nodes")}), `Code="DenyAssignmentAuthorizationFailed"`)
}

func TestCredentialsAreRefused(t *testing.T) {
	w := newNetwork(t)
	w.identity("shop")
	credential := func(change props) props {
		return standin.Merged(props{
			"resourceGroupName": demo, "resourceName": "shop", "federatedIdentityCredentialResourceName": "shop_web", "issuer": "https://issuer.example/1/",
			"subject": "system:serviceaccount:shop:web", "audiences": list("api://AzureADTokenExchange"),
		}, change)
	}
	w.Add(managedidentity.CredentialType, "one", credential(nil))
	for _, tc := range []refusal{
		{props{"federatedIdentityCredentialResourceName": "two-0"}, `Status=400 Code="BadRequest" Message="Issuer and subject combination already exists for this Managed Identity."`},
		{props{"federatedIdentityCredentialResourceName": "no dots."}, `does not match expression`},
		{props{"federatedIdentityCredentialResourceName": strings.Repeat("s", 121)}, `does not match expression`},
		{props{"resourceName": "gone"}, `Code="ParentResourceNotFound"`},
		{props{"issuer": "http://issuer.example"}, `Code="BadRequest" Message="The issuer 'http://issuer.example' of the federated identity credential is not a valid https URL`},
		{props{"subject": ""}, `Message="Federated Identity Credential from HTTP body has empty properties"`},
		{props{"subject": strings.Repeat("x", 601)}, `must have 1 to 600 characters`},
		{props{"audiences": list("sts.amazonaws.com")}, `Message="The audience of the federated identity credential must be api://AzureADTokenExchange."`},
		{props{"audiences": list("")}, `Message="The audience of the federated identity credential must have 1 to 600 characters."`},
		{props{"audiences": list(strings.Repeat("a", 601))}, `Message="The audience of the federated identity credential must have 1 to 600 characters."`},
		{props{"audiences": list("a", "b")}, `Message="Federated identity credentials must have exactly one audience."`},
	} {
		w.denied(managedidentity.CredentialType, credential(standin.Merged(props{"federatedIdentityCredentialResourceName": "another"}, tc.change)), tc.want)
	}
	for i := range 19 {
		name := fmt.Sprint("shop_", i)
		w.Add(managedidentity.CredentialType, name, credential(props{"federatedIdentityCredentialResourceName": name, "subject": name}))
	}
	w.denied(managedidentity.CredentialType, credential(props{"federatedIdentityCredentialResourceName": "more", "subject": "more"}),
		`Message="Only up to 20 federated identity credentials are allowed on a user-assigned managed identity."`)
	w.TakeDown()
}

func TestAssignmentsAreRefused(t *testing.T) {
	w := newIdentities(t)
	principal := w.control.Out.Str("principalId")
	for _, tc := range []refusal{
		{props{"roleAssignmentName": "reader"}, `Code="InvalidRoleAssignmentId" Message="The role assignment ID 'reader' is not valid. The role assignment ID must be a GUID."`},
		{props{"roleDefinitionId": rbac.Definition(arm.Subscription, arm.Subscription)}, `Code="RoleDefinitionDoesNotExist" Message="The specified role definition with ID '00000000000040008000000000000001' does not exist."`},
		{props{"principalId": arm.UUID()}, `Status=400 Code="PrincipalNotFound" Message="Principal `},
		{props{"principalType": "Group"}, `Code="UnmatchedPrincipalType" Message="The PrincipalId '` + strings.ReplaceAll(principal, "-", "") + `' has type 'ServicePrincipal' , which is different from specified PrinciaplType 'Group'."`},
		{props{"scope": armid.Group(arm.Subscription, "gone")}, `Code="ResourceGroupNotFound"`},
		{props{"scope": w.subnet.ID + "2"}, `Status=404 Code="ResourceNotFound" Message="The Resource 'Microsoft.Network/virtualNetworks/demo/subnets/demo-nodes2' under resource group 'demo' was not found.`},
		{nil, `Status=409 Code="RoleAssignmentExists" Message="The role assignment already exists. The ID of the existing role assignment is `},
	} {
		w.denied(rbac.AssignmentType, w.assignment(principal, rbac.NetworkContributor, w.subnet.ID, tc.change), tc.want)
	}
	given := w.assign("reader", w.control, rbac.Reader, w.group.ID)
	standintest.Refuses(t, w.Update(given, props{"roleDefinitionId": rbac.Definition(arm.Subscription, rbac.Owner)}),
		`Code="RoleAssignmentUpdateNotPermitted" Message="Tenant ID, application ID, principal ID, and scope are not allowed to be updated."`)
	assert.NilError(t, w.Update(given, props{"description": "reads"}))
}

// TestForeignScopes: the network team lets roles be assigned on what it has, and nowhere
// else.
func TestForeignScopes(t *testing.T) {
	w := newIdentities(t)
	principal := w.control.Out.Str("principalId")
	w.denied(rbac.AssignmentType, w.assignment(principal, rbac.NetworkContributor, "/subscriptions/"+arm.NetworkSubscription, nil), `Code="AuthorizationFailed"`)
	for _, scope := range []string{network.TeamSubnetID, network.TeamRouteTableID, network.TeamZone(arm.Location)} {
		w.Make(rbac.AssignmentType, "x", w.assignment(principal, rbac.NetworkContributor, scope, nil))
	}
}

// TestCallerWithoutRights: nobody but the subscription's owner may do anything, until given a role.
func TestCallerWithoutRights(t *testing.T) {
	w := newNetwork(t)
	const reader = "00000000-0000-4000-8000-0000000000c9"
	w.Reopen(standin.Options{Caller: reader})
	w.configure(nil)
	standintest.Refuses(t, w.Delete(w.vnet), `Status=403 Code="AuthorizationFailed" Message="The client '`+arm.ClientID+`' with object id '`+reader+
		`' does not have authorization to perform action 'Microsoft.Network/virtualNetworks/delete' over scope '`+w.vnet.ID+`'`)
	lookup := props{"resourceGroupName": demo, "virtualNetworkName": demo}
	_, err := w.Invoke("azure-native:network/v20190601:getVirtualNetwork", lookup)
	standintest.Refuses(t, err, `Code="AuthorizationFailed"`)
	assert.NilError(t, authorization.Assign(w.Cloud, reader, rbac.Reader, w.group.ID))
	_, err = w.Invoke("azure-native:network/v20190601:getVirtualNetwork", lookup)
	assert.NilError(t, err)
	standintest.Refuses(t, w.Delete(w.vnet), `Code="AuthorizationFailed"`)
	assert.NilError(t, authorization.Assign(w.Cloud, reader, rbac.Contributor, w.group.ID))
	assert.NilError(t, w.Delete(w.subnet))
	assert.NilError(t, w.Delete(w.vnet))
}

func TestLookupsAreRefused(t *testing.T) {
	w := newNetwork(t)
	for name, tc := range map[string]refusal{
		"network/v20190601:getSubnet":                  {props{"virtualNetworkName": demo, "subnetName": "gone"}, `Status=404 Code="ResourceNotFound" Message="The Resource 'Microsoft.Network/virtualNetworks/demo/subnets/gone' under resource group 'demo' was not found. For more details please go to https://aka.ms/ARMResourceNotFoundFix"`},
		"network/v20190601:getVirtualNetwork":          {props{"virtualNetworkName": demo, "resourceGroupName": "gone"}, `Status=404 Code="ResourceGroupNotFound"`},
		"containerservice/v20240901:getManagedCluster": {props{"resourceName": demo}, `Code="ResourceNotFound" Message="The Resource 'Microsoft.ContainerService/managedClusters/demo' under resource group 'demo' was not found.`},
	} {
		_, err := w.Invoke("azure-native:"+name, standin.Merged(props{"resourceGroupName": demo}, tc.change))
		standintest.Refuses(t, err, tc.want)
	}
}
