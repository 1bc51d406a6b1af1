package addon

import (
	"maps"
	"slices"
)

// effects are what a change of an option does to a cluster that lives, by the field.
// Options change roles, what the addon has in the cloud, and published values: all in
// place, for what cannot be changed there is made anew beside the old one.
var effects = map[string]string{
	"AuthentikOptions.SecretPath":         "authentik starts anew with the other secret",
	"CertificateOptions.Domain":           "another certificate is made and published, and the old one deleted when no load balancer uses it",
	"CertificateOptions.AlternativeNames": "another certificate is made and published, and the old one deleted when no load balancer uses it",
	"AuthentikOptions.Host":               "the engine follows the values: the route has the other name, and external-dns makes its record",
	"HeadlampOptions.OIDCSecret":          "the engine follows the values: Headlamp starts anew, and signs people in by the provider or takes their own tokens",
	"HeadlampOptions.OIDCScopes":          "the engine follows the values: Headlamp starts anew and asks the provider for the other scopes",
	"HeadlampOptions.Host":                "the engine follows the values: the route has the other name, and external-dns makes its record",
	"IngressOptions.Certificate":          "the engine follows the values: the load balancer's listeners change in place, and requests without TLS are refused or taken again",
	"PrometheusOptions.Host":              "the engine follows the values: the route or Ingress has the other name, and external-dns makes its record",
	"DNSOptions.Zones":                    "the role's policy changes, and the engine follows the values",
	"DNSOptions.Policy":                   "the engine follows the values; sync deletes records whose source is gone",
	"DNSOptions.AssumeRoleARN":            "the role's policy changes, and the engine follows the values: records are changed by the other role",
	"DNSOptions.AssumeRoleExternalID":     "the engine follows the values",
	"EBSOptions.KMSKeyARN":                "the role's policy changes, and new volumes have the key; old ones keep theirs",
	"EFSOptions.Backup":                   "AWS Backup starts or stops; the file system stays",
	"KarpenterOptions.CPULimit":           "the infra ConfigMap changes; nodes that run stay",
	"KarpenterOptions.Capacity":           "the infra ConfigMap changes, and Karpenter replaces nodes that it may no longer have, at the rate of the budgets",
	"KarpenterOptions.Architectures":      "the infra ConfigMap changes, and Karpenter replaces nodes that it may no longer have, at the rate of the budgets",
	"KarpenterOptions.AMIAlias":           "the infra ConfigMap changes, and Karpenter replaces its nodes at the rate of the budgets",
	"KarpenterOptions.KMSKeyARN":          "the role's policy and the infra ConfigMap change, and Karpenter replaces its nodes at the rate of the budgets",
	"KEDAOptions.Queues":                  "the role is made, changed or deleted, and the engine follows the values",
	"KEDAOptions.CloudWatch":              "the role is made, changed or deleted, and the engine follows the values",
	"LoadBalancerOptions.WebACLs":         "the role's policy changes, and the engine follows the values",
	"LokiOptions.KMSKeyARN":               "the bucket and the role's policy change: new logs have the key, and older ones stay under theirs, which Loki cannot use any more where it was another key of your own",
	"LokiOptions.RetentionDays":           "the bucket's lifecycle changes, and the engine follows the values; a shorter one deletes older logs",
	"PrometheusOptions.RetentionDays":     "the engine follows the values; a shorter one deletes older metrics",
	"PrometheusOptions.Storage":           "the engine follows the values; a claim that exists keeps its size",
	"SecretsOptions.Prefixes":             "the role's policy changes",
	"SecretsOptions.ParameterPrefixes":    "the role's policy changes",
	"SecretsOptions.KMSKeyARNs":           "the role's policy changes",
	"Zone.ID":                             "the addon works in the other zone",
	"Zone.Name":                           "the addon works in the other zone",
}

// EffectOf says what a change of an options' field, "DNSOptions.Zones", does to a
// cluster that lives.
func EffectOf(field string) (words string, ok bool) {
	words, ok = effects[field]
	return words, ok
}

// EffectFields are the fields with declared effects, sorted.
func EffectFields() []string { return slices.Sorted(maps.Keys(effects)) }
