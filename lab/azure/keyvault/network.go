package keyvault

import (
	"net/netip"
	"strings"

	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/containerservice"
	"tombolo/lab/azure/managedidentity"
	"tombolo/lab/azure/network"
)

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
