package addon

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestCertificateCheck(t *testing.T) {
	zone := Zone{ID: "Z0123456789ABCDEFGHIJ", Name: "example.com"}
	for name, c := range map[string]struct {
		options CertificateOptions
		want    []string
	}{
		"names of the zone": {
			CertificateOptions{Domain: "example.com", AlternativeNames: []string{"*.example.com", "a.b.example.com"}, Zone: zone}, nil,
		},
		"domain outside": {
			CertificateOptions{Domain: "demo.notexample.com", Zone: zone},
			[]string{`domain: "demo.notexample.com" is not in the zone "example.com"; use the zone of the name, or a name in the zone`},
		},
		"alternative name outside": {
			CertificateOptions{Domain: "example.com", AlternativeNames: []string{"*.example.org"}, Zone: zone},
			[]string{`alternativeNames[0]: "*.example.org" is not in the zone "example.com"; use the zone of the name, or a name in the zone`},
		},
		"names twice": {
			CertificateOptions{Domain: "example.com", AlternativeNames: []string{"example.com", "a.example.com", "a.example.com"}, Zone: zone},
			[]string{
				`alternativeNames[0]: "example.com" is already a name of the certificate; give each name once`,
				`alternativeNames[2]: "a.example.com" is already a name of the certificate; give each name once`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range Find("certificate").Check(&c.options, nil) {
				got = append(got, fmt.Sprintf("%s: %s; %s", p.Path, p.Message, p.Remedy))
			}
			assert.Check(t, slices.Equal(got, c.want), "problems\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		})
	}
}

func TestZonesOnce(t *testing.T) {
	zone := Zone{ID: "Z0123456789ABCDEFGHIJ", Name: "example.com"}
	problems := Find("external-dns").Check(&DNSOptions{Zones: []Zone{zone, zone}}, nil)
	want := []Problem{{
		Path: "zones[1].id", Message: `"Z0123456789ABCDEFGHIJ" is already item 1 of the list`, Remedy: "give each zone once",
	}}
	assert.Check(t, slices.Equal(problems, want), "problems %v, expected %v", problems, want)
}

// TestZonesOfAnotherAccount: the addon's own role may assume the other one, and no more;
// the zones are not looked for in the cluster's account.
func TestZonesOfAnotherAccount(t *testing.T) {
	const role = "arn:aws:iam::444455556666:role/dns/external-dns"
	dns, options := Find("external-dns"), &DNSOptions{
		Zones: []Zone{{ID: "Z0123456789ABCDEFGHIJ", Name: "example.com"}}, Policy: "sync", AssumeRoleARN: role, AssumeRoleExternalID: "acme",
	}
	needs := dns.Needs(facts(), options)
	assert.Assert(t, len(needs.Zones) == 0 && len(needs.Identities) == 1 && len(needs.Identities[0].Statements) == 1, "it needs %+v", needs)
	if s := needs.Identities[0].Statements[0]; !slices.Equal(s.Actions, []string{"sts:AssumeRole"}) || !slices.Equal(s.Resources, []string{role}) {
		t.Errorf("its role allows %v on %v", s.Actions, s.Resources)
	}
	values := dns.Values(facts(), options, Outputs{Made: map[string]string{RoleARN: "arn:own"}})
	want := []string{"--zone-id-filter=Z0123456789ABCDEFGHIJ", "--aws-assume-role=" + role, "--aws-assume-role-external-id=acme"}
	if got := values["extraArgs"].([]string); !slices.Equal(got, want) {
		t.Errorf("arguments %v, expected %v", got, want)
	}
	problems := dns.Check(&DNSOptions{AssumeRoleExternalID: "acme"}, nil)
	assert.Check(t, len(problems) == 1 && problems[0].Path == "assumeRoleExternalId", "problems %v", problems)
}

// TestPatterns holds rules to values that they must take, and to values that
// would open or break more than meant.
func TestPatterns(t *testing.T) {
	for field, c := range map[string]struct{ good, bad []string }{
		"SecretsOptions.Prefixes": {
			good: []string{"demo/", "team/demo/", "demo-", "demo_", "demo."},
			bad:  []string{"", "*", "demo*", "demo", "/", "demo/*", "--", "de mo/", "demo?/"},
		},
		"SecretsOptions.ParameterPrefixes": {
			good: []string{"/demo/", "/team/demo/"},
			bad:  []string{"", "/", "//", "demo/", "/demo", "/*/", "/demo/*"},
		},
		"SecretsOptions.KMSKeyARNs": {
			good: []string{"arn:aws-cn:kms:cn-north-1:111122223333:key/1234abcd"},
			bad:  []string{"*", "arn:aws:kms:eu-central-1:111122223333:key/*", "arn:aws:kms:eu-central-1:111122223333:alias/a", "alias/a"},
		},
		"EBSOptions.KMSKeyARN": {
			good: []string{"arn:aws:kms:eu-central-1:111122223333:key/mrk-1234abcd"},
			bad:  []string{"*", "arn:aws:kms:*:111122223333:key/1"},
		},
		"LokiOptions.KMSKeyARN": {
			good: []string{"arn:aws:kms:eu-central-1:444455556666:key/1234abcd"},
			bad:  []string{"*", "arn:aws:kms:eu-central-1:444455556666:key/*", "alias/aws/s3"},
		},
		"KEDAOptions.Queues": {
			good: []string{"arn:aws:sqs:eu-central-1:111122223333:orders", "arn:aws-cn:sqs:cn-north-1:111122223333:a_b-c.fifo"},
			bad: []string{
				"", "*", "orders", "arn:aws:sqs:eu-central-1:111122223333:*", "arn:aws:sqs:*:111122223333:orders",
				"arn:aws:sqs:eu-central-1:111122223333:", "arn:aws:sns:eu-central-1:111122223333:orders", "arn:aws:sqs:eu-central-1:111122223333:a.b",
			},
		},
		"KarpenterOptions.AMIAlias": {
			good: []string{"al2023@latest", "al2023@v20260715", "bottlerocket@v1.52.0"},
			bad:  []string{"al2@latest", "al2023", "al2023@", "al2023@20260715", "al2023@*"},
		},
		"CertificateOptions.Domain": {
			good: []string{"example.com", "*.example.com", "a-b.example.com"},
			bad:  []string{"", "example", "*.*.example.com", "a.*.example.com", "Example.com", "-a.example.com", "*"},
		},
	} {
		d, ok := Fields()[field]
		rule := d.Rule
		if !ok || rule.Pattern == nil {
			t.Errorf("%s has no pattern", field)
			continue
		}
		for _, value := range c.good {
			assert.Check(t, rule.Pattern.MatchString(value), "%s refuses %q", field, value)
		}
		for _, value := range c.bad {
			assert.Check(t, !rule.Pattern.MatchString(value), "%s takes %q", field, value)
		}
		if rule.Example != "" && !rule.Pattern.MatchString(rule.Example) {
			t.Errorf("%s refuses its example %q", field, rule.Example)
		}
	}
}

// TestRightsFollowOptions finds rights that an option should have kept back.
func TestRightsFollowOptions(t *testing.T) {
	for _, c := range []struct {
		addon string
		off   any
		sids  []string
	}{
		{"aws-load-balancer-controller", &LoadBalancerOptions{}, []string{"SetWebACL", "UseWebACLs"}},
		{"aws-ebs-csi-driver", &EBSOptions{}, []string{"GrantKeyToEC2", "UseKeyThroughEC2"}},
		{"external-secrets", &SecretsOptions{Prefixes: []string{"demo/"}}, []string{"ReadParameters", "DecryptWhatItReads"}},
	} {
		t.Run(c.addon, func(t *testing.T) {
			with := sids(Find(c.addon).Needs(facts(), sampleOptions(t, Find(c.addon))))
			without := sids(Find(c.addon).Needs(facts(), c.off))
			for _, sid := range c.sids {
				if !slices.Contains(with, sid) || slices.Contains(without, sid) {
					t.Errorf("statement %s: with the option %t, without %t", sid, slices.Contains(with, sid), slices.Contains(without, sid))
				}
			}
		})
	}
}

func sids(needs Needs) []string {
	var out []string
	for _, i := range needs.Identities {
		for _, s := range i.Statements {
			out = append(out, s.Sid)
		}
	}
	return out
}

// TestKEDAWithoutAWS: without anything of AWS's to read, KEDA's operator has no role, and its
// account no annotation, which EKS would refuse to assume.
func TestKEDAWithoutAWS(t *testing.T) {
	keda := Find("keda")
	needs := keda.Needs(facts(), &KEDAOptions{})
	assert.Equal(t, len(needs.Identities), 0)
	account := keda.Values(facts(), &KEDAOptions{}, Outputs{Made: map[string]string{}})["serviceAccount"]
	assert.DeepEqual(t, account, map[string]any{"operator": map[string]any{"create": true, "name": "keda-operator"}})
	assert.DeepEqual(t, sids(keda.Needs(facts(), &KEDAOptions{CloudWatch: true})), []string{"ReadMetrics"})
	assert.DeepEqual(t, sids(keda.Needs(facts(), &KEDAOptions{Queues: []string{"arn:aws:sqs:eu-central-1:111122223333:orders"}})), []string{"ReadQueueLengths"})
}

// TestPartition finds ARNs that only hold in the partition aws.
func TestPartition(t *testing.T) {
	china := facts()
	china.Partition, china.Region = "aws-cn", "cn-north-1"
	for _, a := range All() {
		for _, i := range a.Needs(china, sampleOptions(t, a)).Identities {
			for _, s := range i.Statements {
				for _, r := range s.Resources {
					// The samples' own keys and queues are of the partition aws.
					own := strings.Contains(r, ":kms:") || a.Name == "keda"
					if strings.HasPrefix(r, "arn:") && !strings.HasPrefix(r, "arn:aws-cn:") && !own {
						t.Errorf("%s, statement %s: %s in partition aws-cn", a.Name, s.Sid, r)
					}
				}
			}
		}
	}
}

// TestLokiDisk: the chart itself mounts an empty directory where there is no
// volume; a second one at the same path would be refused.
func TestLokiDisk(t *testing.T) {
	for _, volumes := range []bool{true, false} {
		f := facts()
		if volumes {
			f.Enabled = []string{"aws-ebs-csi-driver"}
		}
		given := Find("loki").Values(f, &LokiOptions{}, Outputs{Made: map[string]string{}})["singleBinary"]
		volume := map[string]any{"enabled": false}
		if volumes {
			volume = map[string]any{"enabled": true, "storageClass": "gp3"}
		}
		assert.Check(t, is.DeepEqual(given, map[string]any{"persistence": volume}), "%v", volumes)
	}
}

// TestLokiInAContainerOfOthers: core makes none, the identity has its role on that one, and Loki
// goes by the proxy to it, for the network rules of others are not known.
func TestLokiInAContainerOfOthers(t *testing.T) {
	const id = "/subscriptions/s/resourceGroups/logs/providers/Microsoft.Storage/storageAccounts/platformlogs/blobServices/default/containers/loki"
	loki, options := Find("loki"), &LokiOptions{RetentionDays: 14, Container: id}
	needs := loki.Needs(azureFacts(), options)
	assert.DeepEqual(t, needs, Needs{
		Container:  &Container{ID: id, Account: "platformlogs", Name: "loki"},
		Identities: []Identity{{ServiceAccount: "loki", Roles: []Role{{Name: "Storage Blob Data Contributor", Scope: id}}}},
	})
	values := inJSON(loki.Values(azureFacts(), options, sampleOutputs(needs)))
	for _, want := range []string{`"accountName":"platformlogs"`, `"chunks":"loki"`, `"retention_period":"336h"`, "proxy.corp.example"} {
		assert.Check(t, strings.Contains(values, want), "%s\n%s", want, values)
	}
	assert.Check(t, !strings.Contains(values, "blob.core.windows.net"), values)
}

// TestNamesInTheWorld have the length that Azure takes, and tell clusters apart.
func TestNamesInTheWorld(t *testing.T) {
	f, other := azureFacts(), azureFacts()
	f.Cluster, other.Cluster = strings.Repeat("a-b", 20), strings.Repeat("a-b", 20)+"c"
	for _, name := range []string{storageName(f), vaultName(f)} {
		assert.Check(t, len(name) <= 24, name)
	}
	assert.Check(t, !strings.Contains(storageName(f), "-"), storageName(f))
	assert.Check(t, storageName(f) != storageName(other), "two clusters have one name")
	f.ResourceGroup = "Platform-Demo"
	assert.Check(t, storageName(f) == storageName(Facts{Account: f.Account, ResourceGroup: "platform-demo", Cluster: f.Cluster}), "Azure tells no capitals from small letters")
}

// TestHosts finds hosts that nobody would get to.
func TestHosts(t *testing.T) {
	zone := Zone{ID: "Z0123456789ABCDEFGHIJ", Name: "example.com"}
	certificate := &CertificateOptions{Domain: "example.com", AlternativeNames: []string{"*.example.com"}, Zone: zone}
	gateway := func(host string) Selection {
		return Selection{"istio": &none{}, "certificate": certificate, "kube-prometheus-stack": &PrometheusOptions{Host: host}}
	}
	with := func(s Selection, name string, options any) Selection { s[name] = options; return s }
	for name, c := range map[string]struct {
		all  Selection
		want []string
	}{
		"by the Gateway": {with(gateway("grafana.example.com"), "external-dns", &DNSOptions{Zones: []Zone{zone}}), nil},
		"the domain":     {gateway("example.com"), nil},
		"none":           {Selection{"kube-prometheus-stack": &PrometheusOptions{}}, nil},
		"by an Ingress": {
			Selection{
				"ingress-nginx": &IngressOptions{Certificate: true}, "certificate": certificate,
				"kube-prometheus-stack": &PrometheusOptions{Host: "grafana.example.com"},
			}, nil,
		},
		"no entrance": {
			Selection{"kube-prometheus-stack": &PrometheusOptions{Host: "grafana.example.com"}},
			[]string{"nothing leads requests to it; turn on istio or ingress-nginx, or remove it"},
		},
		"in clear": {
			Selection{"ingress-nginx": &IngressOptions{}, "kube-prometheus-stack": &PrometheusOptions{Host: "grafana.example.com"}},
			[]string{"people would send their passwords in clear; turn istio on, or on AWS set addons.ingress-nginx.certificate"},
		},
		"two levels below": {
			gateway("grafana.demo.example.com"),
			[]string{`the certificate is not for "grafana.demo.example.com": browsers would refuse it; ` +
				"take a name of the certificate, or add this one to addons.certificate.alternativeNames"},
		},
		"another's": {
			with(gateway("id.example.com"), "authentik", &AuthentikOptions{Host: "id.example.com"}),
			[]string{`"id.example.com" is already the host of authentik; give each addon a host of its own`},
		},
		"no record": {
			with(gateway("grafana.example.com"), "external-dns", &DNSOptions{Zones: []Zone{{ID: zone.ID, Name: "example.org"}}}),
			[]string{`"grafana.example.com" is in none of external-dns's zones, so nothing makes its record; ` +
				"take a name of a zone, add the zone, or make the record yourself"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range Find("kube-prometheus-stack").Check(c.all["kube-prometheus-stack"], c.all) {
				assert.Equal(t, p.Path, "host")
				got = append(got, p.Message+"; "+p.Remedy)
			}
			assert.DeepEqual(t, got, c.want)
		})
	}
	headlamp := &HeadlampOptions{Host: "headlamp.example.com"}
	problems := Find("headlamp").Check(headlamp, Selection{"headlamp": headlamp, "ingress-nginx": &IngressOptions{Certificate: true}})
	assert.Check(t, len(problems) == 1 && strings.Contains(problems[0].Remedy, "turn istio on"), "%v", problems)
}

// TestGrafanaByIngress: without istio's Gateway, Grafana has an Ingress, behind a load
// balancer that ends TLS.
func TestGrafanaByIngress(t *testing.T) {
	f := facts()
	f.Enabled = []string{"ingress-nginx", "certificate"}
	values := Find("kube-prometheus-stack").Values(f, &PrometheusOptions{Host: "grafana.example.com"}, Outputs{})
	assert.DeepEqual(t, values["grafana"], map[string]any{
		"grafana.ini": map[string]any{"server": map[string]any{"root_url": "https://grafana.example.com"}},
		"ingress":     map[string]any{"enabled": true, "ingressClassName": "nginx", "hosts": []any{"grafana.example.com"}},
	})
	assert.DeepEqual(t, Find("ingress-nginx").Values(f, &IngressOptions{}, Outputs{}), map[string]any{
		"controller": map[string]any{"service": map[string]any{"annotations": f.publicBalancer("")}},
	})
	assert.DeepEqual(t, Find("external-dns").Values(f, &DNSOptions{}, Outputs{})["sources"], []string{"service", "ingress"})
}

func TestAzureZones(t *testing.T) {
	const group = "/subscriptions/s/resourceGroups/dns/providers/Microsoft.Network/"
	public := Zone{ID: group + "dnsZones/example.com", Name: "example.com"}
	for name, c := range map[string]struct {
		zone Zone
		want []string
	}{
		"of the same group":  {Zone{ID: strings.ToUpper(group) + "dnsZones/example.org", Name: "example.org"}, nil},
		"of another name":    {Zone{ID: group + "dnsZones/example.org", Name: "example.net"}, []string{"zones[1].name"}},
		"private":            {Zone{ID: group + "privateDnsZones/corp.example", Name: "corp.example"}, []string{"zones[1].id"}},
		"of another group":   {Zone{ID: strings.Replace(group, "dns/", "other/", 1) + "dnsZones/example.org", Name: "example.org"}, []string{"zones[1].id"}},
		"twice, in capitals": {Zone{ID: strings.ToUpper(public.ID), Name: "example.com"}, []string{"zones[1].id"}},
	} {
		var got []string
		for _, p := range Find("external-dns").Check(&DNSOptions{Zones: []Zone{public, c.zone}}, nil) {
			got = append(got, p.Path)
		}
		assert.Check(t, slices.Equal(got, c.want), "%s: %v", name, got)
	}
}

func TestVaultOptions(t *testing.T) {
	const vault = "/subscriptions/s/resourceGroups/secrets/providers/Microsoft.KeyVault/vaults/shop"
	problems := Find("external-secrets").Check(&SecretsOptions{Vault: vault, AllowedCIDRs: []string{"203.0.113.0/24"}, RecoverVault: true}, nil)
	assert.Check(t, len(problems) == 2 && problems[0].Path == "allowedCidrs" && problems[1].Path == "recoverVault", "%v", problems)
	needs := Find("external-secrets").Needs(azureFacts(), &SecretsOptions{Vault: vault})
	assert.DeepEqual(t, needs.Identities[0].Roles, []Role{{Name: "Key Vault Secrets User", Scope: vault}})
	for cluster, want := range map[string]string{"demo": "kv-demo-", "a-cluster-of-a-long-name": "kv-aclusterofal-"} {
		f := azureFacts()
		f.Cluster = cluster
		name := vaultName(f)
		assert.Check(t, strings.HasPrefix(name, want) && len(name) <= 24, name)
		f.Account = "00000000-0000-4000-8000-000000000009"
		assert.Check(t, vaultName(f) != name, name)
	}
}
