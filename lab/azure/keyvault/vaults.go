// Package keyvault is Azure's key vaults in the stand-in, and the API of the secrets in them.
package keyvault

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	keyvault "github.com/pulumi/pulumi-azure-native-sdk/keyvault/v2/v20230701"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/containerservice"
	"tombolo/lab/azure/managedidentity"
	"tombolo/lab/azure/network"
	"tombolo/lab/standin"
)

// VaultType is the type of vaults. deletedType records one that was deleted and keeps its name;
// no program can make one.
const (
	VaultType   = arm.VaultType
	deletedType = "lab:azure:DeletedVault"
)

const namespace = "Microsoft.KeyVault"

// vaults are named by
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/resource-name-rules
var vaults = arm.Kind{
	Token: VaultType, ARM: namespace + "/vaults", Provider: namespace,
	Path:     "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Microsoft.KeyVault/vaults/{vaultName}",
	Name:     regexp.MustCompile(`^[A-Za-z](-?[A-Za-z0-9]){2,23}$`),
	NameRule: "The name must be 3 to 24 letters, digits and hyphens, begin with a letter, end with a letter or digit, and have no two hyphens in a row.",
}

// Types are vaults.
func Types() map[string]*standin.Type {
	return map[string]*standin.Type{
		VaultType: vaults.Type(standin.Type{
			Constructor: keyvault.NewVault,
			// forceNewMap in provider/pkg/gen/replacement.go of azure-native
			ForceNew: []string{"location"},
			Create:   func(c *standin.Call) (string, error) { return "", create(c) },
			Update:   update,
			Remove:   remove,
			Takes:    standin.Timing{Create: 30 * time.Second, Update: 5 * time.Second, Remove: 5 * time.Second},
		}),
	}
}

// Functions look vaults up.
func Functions() map[string]*standin.Function {
	return map[string]*standin.Function{
		"azure-native:keyvault/v20230701:getVault": {SDK: keyvault.LookupVault, Run: arm.Lookup(vaults, nil)},
	}
}

// nameOf is a vault's name, which is unique in the world, as the lab compares it.
func nameOf(id string) string { return strings.ToLower(armid.NameOf(id)) }

// create refuses a name that another vault has, or that one had which was deleted. Sources:
// https://learn.microsoft.com/en-us/azure/key-vault/general/key-vault-recovery,
// https://github.com/hashicorp/terraform-provider-azurerm/issues/12972 and
// https://azure.github.io/azure-service-operator/guide/keyvaults/
func create(c *standin.Call) error {
	name := armid.NameOf(c.Record.ID)
	for r := range c.Others() {
		if r != c.Record && nameOf(r.ID) == nameOf(c.Record.ID) {
			return c.Refuse(standin.Refusal{Code: "VaultAlreadyExists", Status: 409, Message: fmt.Sprintf(
				"The vault name '%s' is already in use. Vault names are globally unique so it is possible that the name is already taken. "+
					"If you are sure that the vault name was not taken then it is possible that a vault with the same name was recently deleted but not purged after being placed in a recoverable state. "+
					"If the vault is in a recoverable state then the vault will need to be purged before reusing the name.", name)})
		}
	}
	deleted := c.Cloud.Get(deletedType, standin.Global, nameOf(c.Record.ID))
	recover := c.In().Sub("properties").Str("createMode") == "recover"
	switch {
	case deleted != nil && !recover:
		return c.Refuse(standin.Refusal{Code: "ConflictError", Status: 409, Message: "A vault with the same name already exists in deleted state. You need to either recover or purge existing key vault. " +
			"Follow this link https://go.microsoft.com/fwlink/?linkid=2149745 for more information on soft delete."})
	case deleted == nil && recover:
		return c.Refusef("SoftDeletedVaultDoesNotExist", "A soft deleted vault with the given name does not exist. Ensure that the name for the vault that is being attempted to recover is in a recoverable state.")
	}
	if err := check(c); err != nil {
		return err
	}
	describe(c)
	if deleted != nil {
		return c.Cloud.Forget(deleted)
	}
	return nil
}

// update refuses to take back what Azure never takes back. Source:
// https://learn.microsoft.com/en-us/azure/key-vault/general/soft-delete-overview
func update(c *standin.Call) error {
	in, old := c.In().Sub("properties"), c.Old.Outputs.Sub("properties")
	if days := in["softDeleteRetentionInDays"]; days != nil && !standin.Equal(days, old["softDeleteRetentionInDays"]) {
		return c.Refusef("BadRequest", `The property "softDeleteRetentionInDays" has been set already and it can't be modified.`)
	}
	if err := check(c); err != nil {
		return err
	}
	describe(c)
	return nil
}

// check refuses what no vault can have. Sources:
// https://learn.microsoft.com/en-us/azure/key-vault/general/soft-delete-overview and, for the
// subnet's words, https://github.com/Azure/avdaccelerator/issues/818
func check(c *standin.Call) error {
	in := c.In().Sub("properties")
	if in["enablePurgeProtection"] == false {
		return c.Refusef("BadRequest", `The property "enablePurgeProtection" cannot be set to false. Enabling the purge protection for a vault is an irreversible action.`)
	}
	if in["enableSoftDelete"] == false {
		return c.Refusef("BadRequest", `The property "enableSoftDelete" can be set to false only for creating new vault. Enabling the "soft delete" functionality is an irreversible action.`)
	}
	if days, given := in["softDeleteRetentionInDays"].(float64); given && (days < 7 || days > 90) {
		return c.Refusef("BadRequest", `The property "softDeleteRetentionInDays" must be in the range of 7 to 90.`)
	}
	if !arm.Same(in.Str("tenantId"), arm.Tenant) {
		return c.Refusef("BadRequest", "An invalid value was provided for 'tenantId'.")
	}
	if err := checkAddresses(c, in.Sub("networkAcls").Objects("ipRules")); err != nil {
		return err
	}
	for _, rule := range in.Sub("networkAcls").Objects("virtualNetworkRules") {
		if err := checkSubnet(c, rule.Str("id")); err != nil {
			return err
		}
	}
	return nil
}

// mostAddresses are how many addresses and blocks reach a vault, and privateBlocks those of RFC 1918.
const mostAddresses = 1000

var privateBlocks = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"), netip.MustParsePrefix("192.168.0.0/16")}

// checkAddresses refuses rules that are for no public IPv4 address or block, and too many of them.
// Source: https://learn.microsoft.com/en-us/azure/key-vault/general/network-security
func checkAddresses(c *standin.Call, rules []standin.Props) error {
	if len(rules) > mostAddresses {
		return c.Refusef("BadRequest", "An invalid value was provided for 'ipRules'. The maximum number of IP rules is %d.", mostAddresses)
	}
	for _, rule := range rules {
		value := rule.Str("value")
		block, err := netip.ParsePrefix(value)
		if address, single := netip.ParseAddr(value); single == nil {
			block, err = netip.PrefixFrom(address, address.BitLen()), nil
		}
		private := func(p netip.Prefix) bool { return p.Bits() <= block.Bits() && p.Contains(block.Addr()) }
		if err != nil || !block.Addr().Is4() || block != block.Masked() || slices.ContainsFunc(privateBlocks, private) {
			return c.Refusef("BadRequest", "An invalid value was provided for 'ipRules'. '%s' is not a public IPv4 address or range.", value)
		}
	}
	return nil
}

func checkSubnet(c *standin.Call, id string) error {
	refusal := network.WithoutEndpoint(c.Cloud, id, namespace)
	if refusal == "" {
		return nil
	}
	return c.Refusef("VirtualNetworkNotValid", "Operation on Virtual Network could not be performed. StatusCode: 400 (BadRequest). Error Code: SubnetsHaveNoServiceEndpointsConfigured. "+
		"Error Message: %s", refusal)
}

// describe fills in what Azure answers. How a vault came to be is not told.
func describe(c *standin.Call) {
	properties := c.Out().Sub("properties").Clone()
	delete(properties, "createMode")
	properties.SetDefault("enableSoftDelete", true)
	properties.SetDefault("softDeleteRetentionInDays", 90)
	properties["provisioningState"], properties["vaultUri"] = "Succeeded", "https://"+nameOf(c.Record.ID)+".vault.azure.net/"
	c.Out()["properties"] = map[string]any(properties)
}

// remove keeps the name: every vault of the lab is deleted softly.
func remove(c *standin.Call) error {
	return c.Cloud.Put(&standin.Record{
		Type: deletedType, ID: nameOf(c.Record.ID), Region: standin.Global, Created: c.Cloud.Now(), Implied: true, Inputs: standin.Props{}, Outputs: standin.Props{},
	})
}

// fromWhere refuses a caller from where the vault's network rules let nobody in. Sources:
// https://learn.microsoft.com/en-us/azure/key-vault/general/network-security and, for the words,
// https://github.com/hashicorp/terraform-provider-azurerm/issues/4553
func (s *secrets) fromWhere(q *question) error {
	rules := q.vault.Outputs.Sub("properties").Sub("networkAcls")
	if !strings.EqualFold(rules.Str("defaultAction"), "Deny") {
		return nil
	}
	subnet, address := s.sourceOf(q.caller.Object)
	for _, rule := range rules.Objects("virtualNetworkRules") {
		if subnet != "" && arm.Same(rule.Str("id"), subnet) {
			return nil
		}
	}
	for _, rule := range rules.Objects("ipRules") {
		if within(rule.Str("value"), address) {
			return nil
		}
	}
	return &refusal{403, "Forbidden", "Client address is not authorized and caller is not a trusted service.\r\nClient address: " + address +
		"\r\nCaller: " + q.who() + "\r\nVault: " + q.where(), "ForbiddenByFirewall"}
}

// within says that an address is in a rule: a CIDR block or one address.
func within(rule, address string) bool {
	if block, err := netip.ParsePrefix(rule); err == nil {
		found, err := netip.ParseAddr(address)
		return err == nil && block.Contains(found)
	}
	return rule == address
}

// sourceOf is where a caller asks from. An identity that takes the tokens of a cluster is used
// in its pods: they come from the subnet of the nodes, or by the public address that it goes
// out with. Everybody else is a person. The network tells nothing of it in the lab.
func (s *secrets) sourceOf(object string) (subnet, address string) {
	identity := managedidentity.ByPrincipal(s.cloud, object)
	if identity == nil {
		return "", s.o.Address
	}
	for _, f := range managedidentity.Federations(s.cloud, identity) {
		if subnet := containerservice.SubnetByIssuer(s.cloud, f.Issuer); subnet != "" {
			return subnet, network.OutboundAddress(s.cloud, subnet)
		}
	}
	return "", s.o.Address
}
