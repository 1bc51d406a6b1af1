package addon

import (
	"encoding/json"
	"fmt"
	"strings"

	"tombolo/internal/armid"
)

// azureDNSNeeds follow "Azure DNS" and "Azure Private DNS" in the documentation of ExternalDNS,
// which lists the zones of a resource group and changes records of those that it is told:
// https://kubernetes-sigs.github.io/external-dns/latest/docs/tutorials/azure/
func azureDNSNeeds(o DNSOptions) Needs {
	identity := Identity{ServiceAccount: dnsAccount}
	for i, z := range o.Zones {
		if i == 0 {
			identity.Roles = append(identity.Roles, Role{Name: "Reader", Scope: armid.GroupOf(z.ID)})
		}
		role := "DNS Zone Contributor"
		if z.private() {
			role = "Private DNS Zone Contributor"
		}
		identity.Roles = append(identity.Roles, Role{Name: role, Scope: z.ID})
	}
	return Needs{Zones: o.Zones, Identities: []Identity{identity}}
}

// azureDNSValues have the file azure.json in place of flags: it tells the resource group, and
// that the credentials are those of the pod's identity. Nothing in it is secret; the chart
// makes a Secret of it. Sources: docs/tutorials/azure.md of
// https://github.com/kubernetes-sigs/external-dns, and templates/secret.yaml of its chart.
func azureDNSValues(in Input[DNSOptions], out Outputs) map[string]any {
	provider, names, zone := "azure", []string{}, ""
	for _, z := range in.Options.Zones {
		names, zone = append(names, z.Name), z.ID
		if z.private() {
			provider = "azure-private-dns"
		}
	}
	file, _ := json.Marshal(map[string]any{ // texts never fail
		"tenantId": in.Tenant, "subscriptionId": armid.SubscriptionOf(zone), "resourceGroup": armid.NameOf(armid.GroupOf(zone)),
		"useWorkloadIdentityExtension": true,
	})
	return with(map[string]any{
		"provider":       map[string]any{"name": provider},
		"serviceAccount": federatedAccount(dnsAccount, out.Made[ClientID]),
		"podLabels":      federatedPods(),
		"domainFilters":  names,
		"secretConfiguration": map[string]any{
			"enabled": true, "mountPath": "/etc/kubernetes/", "data": map[string]any{"azure.json": string(file)},
		},
	}, "env", in.proxyEnv())
}

// private says that a zone of Azure is a private one.
func (z Zone) private() bool { return armid.Is(z.ID, armid.PrivateZones) }

// azureZones finds zones of Azure whose id has another name, and such as one ExternalDNS
// cannot serve together: it is told one resource group, and one kind of zones.
func azureZones(list string, zones []Zone) []Problem {
	var problems []Problem
	for i, z := range zones {
		if !strings.HasPrefix(z.ID, "/") { // of Route 53
			continue
		}
		if name := armid.NameOf(z.ID); !strings.EqualFold(name, z.Name) {
			problems = append(problems, Problem{
				Path: at(list, i, "name"), Message: fmt.Sprintf("%q is not the name of the zone: its id ends in %s", z.Name, name), Remedy: "write the name as in the id",
			})
		}
		first := zones[0]
		if z.private() != first.private() || !strings.EqualFold(armid.GroupOf(z.ID), armid.GroupOf(first.ID)) {
			problems = append(problems, Problem{
				Path:    at(list, i, "id"),
				Message: "is of another resource group or kind than item 1 of the list, and ExternalDNS takes zones of one resource group that are all public or all private",
				Remedy:  "keep those of one, and bring another ExternalDNS for the others by the platform tree",
			})
		}
	}
	return problems
}
