package containerservice

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/dns"
	"tombolo/lab/azure/managedidentity"
	"tombolo/lab/azure/rbac"
	"tombolo/lab/standin"
)

// userAssigned is a cluster's own identity for its control plane, or "".
func userAssigned(in standin.Props) string {
	if ids := in.Sub("identity").List("userAssignedIdentities"); len(ids) > 0 {
		return ids[0]
	}
	return ""
}

// kubeletIdentity is the identity that a cluster's nodes are to have, or "".
func kubeletIdentity(in standin.Props) string {
	return in.Sub("identityProfile").Sub("kubeletidentity").Str("resourceId")
}

// checkIdentity refuses identities that do not exist or lack rights. Source:
// https://learn.microsoft.com/en-us/azure/aks/use-managed-identity
func checkIdentity(c *standin.Call) error {
	in := c.In()
	kind, own, kubelet := in.Sub("identity").Str("type"), userAssigned(in), kubeletIdentity(in)
	switch {
	case kind == "" && !in.Has("servicePrincipalProfile"):
		return c.Refusef("InvalidParameter", "The value of parameter identity is invalid. Error details: a managed cluster has to have a managed identity or a service principal. Please see https://aka.ms/aks-naming-rules for more details.")
	case kind == "UserAssigned" && len(in.Sub("identity").List("userAssignedIdentities")) != 1:
		return c.Refusef("InvalidParameter", "The value of parameter identity.userAssignedIdentities is invalid. Error details: exactly one user assigned identity is supported. Please see https://aka.ms/aks-naming-rules for more details.")
	case kind != "UserAssigned" && kubelet != "":
		return c.Refusef("CustomKubeletIdentityOnlySupportedOnUserAssignedMSICluster", "Custom kubelet identity is only supported on a cluster with a user-assigned managed identity.")
	}
	for _, id := range []string{own, kubelet} {
		if id == "" {
			continue
		}
		if arm.ByID(c.Cloud, managedidentity.IdentityType, id) == nil {
			// https://learn.microsoft.com/en-us/entra/identity/managed-identities-azure-resources/known-issues
			return c.Refuse(standin.Refusal{Code: "FailedIdentityOperation", Message: "Identity operation for resource '" + c.Record.ID + "' failed with error 'Failed to perform resource identity operation. Status: 'NotFound'. " +
				"Response: '{\"error\":{\"code\":\"ResourceNotFound\",\"message\":\"The Resource '" + id + "' was not found.\"}}''."})
		}
	}
	return checkOperator(c, own, kubelet)
}

// checkOperator wants the control plane's identity to be allowed to give the nodes theirs.
// Source of the words: the README of terraform in https://github.com/runwhen-contrib/runwhen-local
func checkOperator(c *standin.Call, own, kubelet string) error {
	if own == "" || kubelet == "" || rbac.May(c.Cloud, principalOf(c, own), "Microsoft.ManagedIdentity/userAssignedIdentities/assign/action", kubelet) {
		return nil
	}
	return c.Refusef("CustomKubeletIdentityMissingPermissionError", "The cluster using user-assigned managed identity must be granted 'Managed Identity Operator' role to assign kubelet identity. "+
		"You can run 'az role assignment create --assignee <control-plane-identity-principal-id> --role 'Managed Identity Operator' --scope <kubelet-identity-resource-id>' to grant the permission. "+
		"See https://learn.microsoft.com/en-us/azure/aks/use-managed-identity#add-role-assignment")
}

func principalOf(c *standin.Call, identity string) string {
	if r := arm.ByID(c.Cloud, managedidentity.IdentityType, identity); r != nil {
		return r.Outputs.Str("principalId")
	}
	return ""
}

// describeIdentity tells what AKS knows of a cluster's identities: by their ids, in the case
// of letters that they were made with.
func describeIdentity(c *standin.Call) {
	in, out := c.In(), c.Out()
	described := standin.Merged(in.Sub("identity"), nil)
	if own := userAssigned(in); own != "" {
		r := arm.ByID(c.Cloud, managedidentity.IdentityType, own)
		described["userAssignedIdentities"] = map[string]any{r.ID: map[string]any{
			"clientId": r.Outputs.Str("clientId"), "principalId": r.Outputs.Str("principalId"),
		}}
	} else {
		described["principalId"], described["tenantId"] = arm.UUID(), arm.Tenant
		if c.Old != nil {
			described["principalId"] = c.Old.Outputs.Sub("identity")["principalId"]
		}
	}
	out["identity"] = map[string]any(described)
	out["identityProfile"] = map[string]any{"kubeletidentity": map[string]any(kubeletOf(c))}
}

// kubeletOf is the identity of the nodes: the given one, or one that AKS has made in the
// group of the nodes.
func kubeletOf(c *standin.Call) standin.Props {
	if given := kubeletIdentity(c.In()); given != "" {
		r := arm.ByID(c.Cloud, managedidentity.IdentityType, given)
		return standin.Props{"resourceId": r.ID, "clientId": r.Outputs.Str("clientId"), "objectId": r.Outputs.Str("principalId")}
	}
	if c.Old != nil {
		return c.Old.Outputs.Sub("identityProfile").Sub("kubeletidentity").Clone()
	}
	group := strings.Replace(nodeGroupOf(c.Record), "/resourceGroups/", "/resourcegroups/", 1)
	return standin.Props{
		"resourceId": group + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/" + c.In().Str("resourceName") + "-agentpool",
		"clientId":   arm.UUID(), "objectId": arm.UUID(),
	}
}

// checkAccess refuses ways to the API that do not go together. Sources:
// https://learn.microsoft.com/en-us/azure/aks/private-clusters and
// https://learn.microsoft.com/en-us/azure/aks/api-server-authorized-ip-ranges
func checkAccess(c *standin.Call, access standin.Props) error {
	private, zone := access.Boolean("enablePrivateCluster"), access.Str("privateDNSZone")
	ranges := access.List("authorizedIPRanges")
	public := !access.Has("enablePrivateClusterPublicFQDN") || access.Boolean("enablePrivateClusterPublicFQDN")
	switch {
	case private && len(ranges) > 0:
		return c.Refusef("BadRequest", "Authorized IP ranges are not supported on a private cluster.")
	case !private && zone != "":
		return c.Refusef("BadRequest", "apiServerAccessProfile.privateDNSZone can only be set on a private cluster.")
	case private && zone == "none" && !public:
		return c.Refusef("BadRequest", "The public FQDN of a private cluster cannot be disabled with privateDNSZone none: no name would resolve to the API server.")
	case len(ranges) > mostRanges:
		return c.Refusef("InvalidParameter", "The value of parameter apiServerAccessProfile.authorizedIPRanges is invalid. Error details: at most %d ranges are allowed, %d are given. Please see https://aka.ms/aks-naming-rules for more details.", mostRanges, len(ranges))
	}
	for _, text := range ranges {
		if _, err := netip.ParsePrefix(text); err != nil {
			return c.Refusef("InvalidParameter", "The value of parameter apiServerAccessProfile.authorizedIPRanges is invalid. Error details: %s is not a valid CIDR block. Please see https://aka.ms/aks-naming-rules for more details.", text)
		}
	}
	if private && strings.HasPrefix(zone, "/") {
		return checkZoneOfOthers(c, zone)
	}
	return nil
}

// checkZoneTags refuses more tags of a private cluster than the zone takes that AKS makes for it, which
// has one of AKS's. Source: https://github.com/Azure/AKS/issues/3038
func checkZoneTags(c *standin.Call, in standin.Props) error {
	access := in.Sub("apiServerAccessProfile")
	zone := access.Str("privateDNSZone")
	if access.Boolean("enablePrivateCluster") && (zone == "" || zone == "system") && len(in.Sub("tags"))+1 > dns.MostTags {
		return c.Refusef("BadRequest", dns.TooManyTags)
	}
	return nil
}

// checkZoneOfOthers refuses a private DNS zone by its name, and one that the control plane's
// identity may not change, or not link with the network of the nodes. Sources:
// https://learn.microsoft.com/en-us/azure/aks/private-clusters and
// https://learn.microsoft.com/en-us/troubleshoot/azure/azure-kubernetes/error-codes/customprivatednszonemissingpermissions-error
func checkZoneOfOthers(c *standin.Call, zone string) error {
	name := "privatelink." + arm.Normal(c.In().Str("location")) + ".azmk8s.io"
	if given := strings.ToLower(armid.NameOf(zone)); given != name && !strings.HasSuffix(given, "."+name) {
		return c.Refusef("InvalidParameter", "The value of parameter apiServerAccessProfile.privateDNSZone is invalid. Error details: the name of the zone %s is neither %s nor ends with .%s. Please see https://aka.ms/aks-naming-rules for more details.", zone, name, name)
	}
	if subscription := armid.SubscriptionOf(zone); !arm.Registered(c.Cloud, subscription, namespace) {
		// "Considerations for private DNS" in https://learn.microsoft.com/en-us/azure/aks/private-clusters
		return c.Refuse(standin.Refusal{Code: "MissingSubscriptionRegistration", Status: 409, Message: fmt.Sprintf(
			"The subscription '%s' of the private DNS zone is not registered to use namespace '%s'. See https://aka.ms/rps-not-found for how to register subscriptions.", subscription, namespace)})
	}
	principal := principalOf(c, userAssigned(c.In()))
	if !rbac.May(c.Cloud, principal, "Microsoft.Network/privateDnsZones/write", zone) {
		return c.Refusef("CustomPrivateDNSZoneMissingPermissionError", "Service principal or user-assigned identity must be given permission to read and write to custom private dns zone %s. "+
			"Check access result not allowed for action Microsoft.Network/privateDnsZones/read.", zone)
	}
	for _, pool := range c.In().Objects("agentPoolProfiles") {
		vnet, _, within := strings.Cut(pool.Str("vnetSubnetID"), "/subnets/")
		if within && !rbac.May(c.Cloud, principal, "Microsoft.Network/virtualNetworks/join/action", vnet) {
			return c.Refuse(standin.Refusal{Code: "LinkedAuthorizationFailed", Status: 403, Message: fmt.Sprintf(
				"The client '%s' with object id '%s' has permission to perform action 'Microsoft.Network/privateDnsZones/virtualNetworkLinks/write' on scope '%s'; however, it does not have permission to perform action(s) "+
					"'Microsoft.Network/virtualNetworks/join/action' on the linked scope(s) '%s' (respectively) or the linked scope(s) are invalid.", principal, principal, zone, vnet)})
		}
	}
	return nil
}

// mostRanges of addresses that reach a public API. Source:
// https://learn.microsoft.com/en-us/azure/aks/api-server-authorized-ip-ranges
const mostRanges = 200

// checkProfiles refuses settings that do not go together. Sources:
// https://learn.microsoft.com/en-us/azure/aks/enable-authentication-microsoft-entra-id,
// https://learn.microsoft.com/en-us/azure/aks/manage-local-accounts-managed-azure-ad and
// https://learn.microsoft.com/en-us/azure/aks/workload-identity-deploy-cluster
func checkProfiles(c *standin.Call) error {
	in := c.In()
	if err := checkWords(c, in.Str("resourceName")); err != nil {
		return err
	}
	aad := in.Sub("aadProfile")
	switch {
	case in.Str("dnsPrefix") == "" && in.Str("fqdnSubdomain") == "":
		return c.Refusef("InvalidParameter", "Required parameter dnsPrefix is missing (null). Please see https://aka.ms/aks-naming-rules for more details.")
	case in.Boolean("disableLocalAccounts") && !in.Has("aadProfile"):
		return c.Refusef("BadRequest", "Disable local accounts is only supported on a managed cluster with Microsoft Entra ID enabled.")
	case in.Has("aadProfile") && !aad.Boolean("managed"):
		return c.Refusef("LegacyAADNotAllowed", "Legacy Azure AD integration is not allowed any more; set aadProfile.managed. See https://aka.ms/aks/aad-legacy.")
	case aad.Boolean("enableAzureRBAC") && in.Has("enableRBAC") && !in.Boolean("enableRBAC"):
		return c.Refusef("RBACNotEnabledForAAD", "Kubernetes RBAC has to be enabled with Microsoft Entra ID.")
	case aad.Str("tenantID") != "" && !arm.Same(aad.Str("tenantID"), arm.Tenant):
		return c.Refusef("InvalidParameter", "The value of parameter aadProfile.tenantID is invalid. Error details: the tenant %s does not exist. Please see https://aka.ms/aks-naming-rules for more details.", aad.Str("tenantID"))
	case in.Sub("securityProfile").Sub("workloadIdentity").Boolean("enabled") && !in.Sub("oidcIssuerProfile").Boolean("enabled"):
		return c.Refusef("WorkloadIdentityRequiresOIDCIssuer", "Workload identity can only be enabled on a managed cluster with the OIDC issuer enabled.")
	}
	if err := checkAccess(c, in.Sub("apiServerAccessProfile")); err != nil {
		return err
	}
	if err := checkZoneTags(c, in); err != nil {
		return err
	}
	return checkDNSPrefix(c, in.Str("dnsPrefix"))
}

// reservedNames is a name that no resource with an endpoint has, in any case. Source:
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/troubleshooting/error-reserved-resource-name
var reservedNames = regexp.MustCompile(`(?i)microsoft|windows|^login|^(access|azure|bing|bizspark|biztalk|cortana|directx|dotnet|dynamics|excel|exchange|forefront|` +
	`groove|hololens|hyperv|kinect|lync|msdn|o365|office|office365|onedrive|onenote|outlook|powerpoint|sharepoint|skype|visio|visualstudio|xbox)$`)

func checkWords(c *standin.Call, name string) error {
	if reservedNames.MatchString(name) {
		return c.Refusef("ReservedResourceName", "The resource name '%s' or a part of the name is a trademarked or reserved word.", name)
	}
	return nil
}
