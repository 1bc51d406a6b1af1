package addon

import (
	"maps"
	"regexp"
	"slices"

	"tombolo/config/field"
	"tombolo/config/strict"
)

// DNSOptions are the options of external-dns.
type DNSOptions struct {
	// Zones that it may change. On Azure all are public or all are private, and of one
	// resource group.
	Zones []Zone `yaml:"zones"`
	// Policy is upsert-only, which never deletes a record, or sync, which deletes
	// records whose source is gone. Default upsert-only.
	Policy string `yaml:"policy,omitempty"`
	// AssumeRoleARN is the role that it assumes for Route 53, when the zones are in another
	// account: core then cannot look whether they are there. The role's trust policy lets in
	// the addon's own role, and its policies say what may be changed. Default: none.
	AssumeRoleARN string `yaml:"assumeRoleArn,omitempty" cloud:"aws"`
	// AssumeRoleExternalID that the trust policy of AssumeRoleARN asks for. Default: none.
	AssumeRoleExternalID string `yaml:"assumeRoleExternalId,omitempty" cloud:"aws"`
}

var dnsOptionsFields = field.Of[DNSOptions](map[string]field.Descriptor{
	"Zones": {
		Rule: strict.Rule{Noun: "zone", MinItems: 1}, Change: field.Changes("the role's policy changes, and the engine follows the values"),
		AzureChange: field.Changes("the roles of the identity change, and the engine follows the values"),
	},
	"Policy": {
		Rule:   strict.Rule{What: "a policy of ExternalDNS", Allowed: []string{"upsert-only", "sync"}, Default: "upsert-only"},
		Change: field.Changes("the engine follows the values; sync deletes records whose source is gone"),
	},
	"AssumeRoleARN": {
		Rule: strict.Rule{
			What: "the ARN of an IAM role", Example: "arn:aws:iam::444455556666:role/external-dns",
			Pattern: regexp.MustCompile(`^arn:(aws|aws-cn|aws-us-gov):iam::[0-9]{12}:role/[A-Za-z0-9+=,.@_/-]+$`),
		},
		Change: field.Changes("the role's policy changes, and the engine follows the values: records are changed by the other role"),
		Remedy: "remove it: zones may be in another subscription, and core gives the role on them",
	},
	"AssumeRoleExternalID": {
		Rule: strict.Rule{What: "an external id", Example: "acme-dns", Pattern: regexp.MustCompile(`^[\w+=,.@:/-]{2,}$`), MaxLength: 1224}, Change: field.Changes("the engine follows the values"),
		Remedy: "remove it: zones may be in another subscription, and core gives the role on them",
	},
})

// dnsAccount is the service account of ExternalDNS.
const dnsAccount = "external-dns"

var _ = register(Addon{
	Name:      "external-dns",
	Summary:   "Manages DNS records of Services, Ingresses and Gateways.",
	Namespace: "external-dns",
	Stage:     Others,
}, definition[DNSOptions]{
	Fields: dnsOptionsFields,
	Needs: func(in Input[DNSOptions]) Needs {
		if in.onAzure() {
			return azureDNSNeeds(in.Options)
		}
		return route53Needs(in)
	},
	Values: func(in Input[DNSOptions], out Outputs) map[string]any {
		values := map[string]any{
			"policy":     in.Options.Policy,
			"sources":    in.dnsSources(),
			"txtOwnerId": in.Cluster,
		}
		if in.onAzure() {
			maps.Copy(values, azureDNSValues(in, out))
		} else {
			maps.Copy(values, route53Values(in, out))
		}
		return values
	},
	Check: func(o DNSOptions, _ Selection) []Problem {
		problems := slices.Concat(uniqueZones("zones", o.Zones), azureZones("zones", o.Zones))
		if o.AssumeRoleARN == "" && o.AssumeRoleExternalID != "" {
			problems = append(problems, Problem{
				Path: "assumeRoleExternalId", Message: "has no effect: no role is assumed", Remedy: "add assumeRoleArn, or remove it",
			})
		}
		return problems
	},
})

// route53Needs follow "Setting up ExternalDNS for Services on AWS" in the project's
// documentation, with the zones named and only records that carry an address or ExternalDNS's
// own TXT mark.
func route53Needs(in Input[DNSOptions]) Needs {
	if role := in.Options.AssumeRoleARN; role != "" {
		return Needs{Identities: []Identity{{ServiceAccount: dnsAccount, Statements: []Statement{
			{Sid: "ReachZones", Actions: []string{"sts:AssumeRole"}, Resources: []string{role}},
		}}}}
	}
	var zones []string
	for _, z := range in.Options.Zones {
		zones = append(zones, in.GlobalARN("route53", "hostedzone/"+z.ID))
	}
	return Needs{
		Zones: in.Options.Zones,
		Identities: []Identity{{
			ServiceAccount: dnsAccount,
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
}

func route53Values(in Input[DNSOptions], out Outputs) map[string]any {
	var names, args []string
	for _, z := range in.Options.Zones {
		names, args = append(names, z.Name), append(args, "--zone-id-filter="+z.ID)
	}
	// https://github.com/kubernetes-sigs/external-dns/blob/master/docs/flags.md
	if in.Options.AssumeRoleARN != "" {
		args = append(args, "--aws-assume-role="+in.Options.AssumeRoleARN)
	}
	if in.Options.AssumeRoleExternalID != "" {
		args = append(args, "--aws-assume-role-external-id="+in.Options.AssumeRoleExternalID)
	}
	return map[string]any{
		"provider":       map[string]any{"name": "aws"},
		"serviceAccount": serviceAccount(dnsAccount, out.Made[RoleARN]),
		"domainFilters":  names,
		"extraArgs":      args,
		"env":            append([]any{map[string]any{"name": "AWS_DEFAULT_REGION", "value": in.Region}}, in.proxyEnv()...),
	}
}

// dnsSources are the kinds that name hosts. Without its definitions, ExternalDNS does not
// start with a kind:
// https://kubernetes-sigs.github.io/external-dns/latest/docs/sources/gateway-api/
func (f Facts) dnsSources() []string {
	sources := []string{"service", "ingress"}
	if slices.Contains(f.Enabled, "istio") {
		sources = append(sources, "gateway-httproute")
	}
	return sources
}
