package addon

import (
	"tombolo/config/strict"
)

// DNSOptions are the options of external-dns.
type DNSOptions struct {
	// Zones that it may change.
	Zones []Zone `yaml:"zones"`
	// Policy is upsert-only, which never deletes a record, or sync, which deletes
	// records whose source is gone. Default upsert-only.
	Policy string `yaml:"policy,omitempty"`
}

// The permissions follow "Setting up ExternalDNS for Services on AWS" in the
// project's documentation, with the zones named and only records that carry an
// address or ExternalDNS's own TXT mark.
var _ = register(Addon{
	Name:      "external-dns",
	Summary:   "Manages DNS records of Services, Ingresses and Gateways.",
	Namespace: "external-dns",
	Stage:     Others,
}, definition[DNSOptions]{
	Rules: map[string]strict.Rule{
		"DNSOptions.Zones":  {Noun: "zone", MinItems: 1},
		"DNSOptions.Policy": {What: "a policy of ExternalDNS", Allowed: []string{"upsert-only", "sync"}, Default: "upsert-only"},
	},
	Needs: func(in Input[DNSOptions]) Needs {
		var zones []string
		for _, z := range in.Options.Zones {
			zones = append(zones, in.GlobalARN("route53", "hostedzone/"+z.ID))
		}
		return Needs{
			Zones: in.Options.Zones,
			Identities: []Identity{{
				ServiceAccount: "external-dns",
				Statements: []Statement{
					{
						Sid:       "ChangeRecords",
						Actions:   []string{"route53:ChangeResourceRecordSets"},
						Resources: zones,
						Conditions: conditions{"ForAllValues:StringEquals": {
							"route53:ChangeResourceRecordSetsRecordTypes": {"A", "AAAA", "CNAME", "TXT"},
						}},
					},
					{Sid: "ReadRecords", Actions: []string{"route53:ListResourceRecordSets", "route53:ListTagsForResources"}, Resources: zones},
					{
						Sid:       "FindZones",
						Actions:   []string{"route53:ListHostedZones"},
						Resources: []string{"*"},
						Reason:    "Route 53 lists hosted zones for the whole account only; the list holds names and ids.",
					},
				},
			}},
		}
	},
	Values: func(in Input[DNSOptions], out Outputs) map[string]any {
		var names, ids []string
		for _, z := range in.Options.Zones {
			names, ids = append(names, z.Name), append(ids, "--zone-id-filter="+z.ID)
		}
		return map[string]any{
			"serviceAccount": serviceAccount("external-dns", out.Made[RoleARN]),
			"domainFilters":  names,
			"extraArgs":      ids,
			"policy":         in.Options.Policy,
			"txtOwnerId":     in.Cluster,
			"env":            []any{map[string]any{"name": "AWS_DEFAULT_REGION", "value": in.Region}},
		}
	},
	Check: func(o DNSOptions, _ Selection) []Problem { return uniqueZones("zones", o.Zones) },
})
