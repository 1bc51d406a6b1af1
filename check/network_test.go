package check

import (
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"helm.sh/helm/v3/pkg/chartutil"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"tombolo/check/helm"
	"tombolo/check/manifest"
	"tombolo/check/published"
	"tombolo/check/substitution"
	"tombolo/check/tree/treetest"
	"tombolo/config"
	"tombolo/config/addon"
)

// networks are the NetworkPolicies of a cluster, as a network plugin reads them:
// https://kubernetes.io/docs/concepts/services-networking/network-policies/. An address counts
// whether it is a pod's or not, as with the plugin of Amazon VPC.
type networks []networkingv1.NetworkPolicy

// end is a pod, or an address that is none.
type end struct {
	namespace, label, address string
}

// ends of connections, by names that the cases use. Systems are shop and blog.
var ends = map[string]end{
	"shop":                    {"shop", "app=web", "10.40.1.1"},
	"shop's database":         {"shop", "app=database", "10.40.1.2"},
	"blog":                    {"blog", "app=web", "10.40.1.3"},
	"gateway":                 {"ingress-nginx", "app.kubernetes.io/name=ingress-nginx", "10.40.1.4"},
	"DNS":                     {"kube-system", "k8s-app=kube-dns", "10.40.1.5"},
	"metrics-server":          {"kube-system", "app.kubernetes.io/name=metrics-server", "10.40.1.6"},
	"Loki":                    {"loki", "app.kubernetes.io/name=loki", "10.40.1.7"},
	"Prometheus":              {"monitoring", "app.kubernetes.io/name=prometheus", "10.40.1.8"},
	"Alertmanager":            {"monitoring", "app.kubernetes.io/name=alertmanager", "10.40.1.9"},
	"Grafana":                 {"monitoring", "app.kubernetes.io/name=grafana", "10.40.1.10"},
	"state":                   {"monitoring", "app.kubernetes.io/name=kube-state-metrics", "10.40.1.11"},
	"Alloy":                   {"monitoring", "app.kubernetes.io/name=alloy", "10.40.1.12"},
	"operator":                {"monitoring", "app=kube-prometheus-stack-operator", "10.40.1.13"},
	"Flux":                    {"flux-system", "app=source-controller", "10.40.1.14"},
	"address of DNS":          {address: "172.20.0.10"},
	"DNS of the node":         {address: "169.254.20.10"},
	"metadata of the node":    {address: "169.254.169.254"},
	"Azure's agents":          {address: "168.63.129.16"},
	"identities of pods":      {address: "169.254.170.23"},
	"control plane":           {address: "10.40.0.20"},
	"database in the network": {address: "10.60.3.4"},
	"internet":                {address: "203.0.113.7"},
}

// allows says whether a connection is made.
func (n networks) allows(from, to end, protocol corev1.Protocol, port int32) bool {
	return n.one(networkingv1.PolicyTypeEgress, from, to, protocol, port) && n.one(networkingv1.PolicyTypeIngress, to, from, protocol, port)
}

// one says whether one end lets it happen: it is selected by no policy, or by one with a rule
// for the other.
func (n networks) one(way networkingv1.PolicyType, own, other end, protocol corev1.Protocol, port int32) bool {
	selected := false
	for _, p := range n {
		if p.Namespace != own.namespace || !slices.Contains(p.Spec.PolicyTypes, way) || !matches(&p.Spec.PodSelector, own.label) {
			continue
		}
		selected = true
		for _, r := range p.Spec.Egress {
			if way == networkingv1.PolicyTypeEgress && hasPeer(r.To, p.Namespace, other) && hasPort(r.Ports, protocol, port) {
				return true
			}
		}
		for _, r := range p.Spec.Ingress {
			if way == networkingv1.PolicyTypeIngress && hasPeer(r.From, p.Namespace, other) && hasPort(r.Ports, protocol, port) {
				return true
			}
		}
	}
	return !selected
}

func matches(s *metav1.LabelSelector, label string) bool {
	selector, err := metav1.LabelSelectorAsSelector(s)
	set, wrong := labels.ConvertSelectorToLabelsMap(label)
	return err == nil && wrong == nil && selector.Matches(set)
}

// ofNamespace are the labels of a namespace.
func ofNamespace(name string) string {
	if name == "shop" || name == "blog" {
		return "kubernetes.io/metadata.name=" + name + ",tombolo/system=" + name
	}
	return "kubernetes.io/metadata.name=" + name
}

func hasPeer(peers []networkingv1.NetworkPolicyPeer, namespace string, e end) bool {
	return len(peers) == 0 || slices.ContainsFunc(peers, func(p networkingv1.NetworkPolicyPeer) bool {
		if p.IPBlock != nil {
			in := func(cidr string) bool { return netip.MustParsePrefix(cidr).Contains(netip.MustParseAddr(e.address)) }
			return in(p.IPBlock.CIDR) && !slices.ContainsFunc(p.IPBlock.Except, in)
		}
		here := e.namespace == namespace
		if p.NamespaceSelector != nil {
			here = e.namespace != "" && matches(p.NamespaceSelector, ofNamespace(e.namespace))
		}
		return here && (p.PodSelector == nil || matches(p.PodSelector, e.label))
	})
}

func hasPort(ports []networkingv1.NetworkPolicyPort, protocol corev1.Protocol, port int32) bool {
	return len(ports) == 0 || slices.ContainsFunc(ports, func(p networkingv1.NetworkPolicyPort) bool {
		return *p.Protocol == protocol && p.Port.IntVal == port
	})
}

// ofAddons are the policies of a tree's addons.
func ofAddons(t *testing.T, engine string) networks {
	t.Helper()
	if engine == "flux" {
		return policiesIn(t, addonObjects(t, os.DirFS("../platform/flux")))
	}
	var texts []string
	for _, app := range applicationsOf(t, fleetOfAll(t, "clusters/prod"), 0) {
		for _, from := range app.Sources() {
			if strings.HasSuffix(from.Path, "/resources") {
				texts = append(texts, rendered(t, app, from)...)
			}
		}
	}
	return policiesIn(t, texts)
}

// ofSystems are the policies of the system shop by values of its file, and of the system blog,
// which lets shop in.
func ofSystems(t *testing.T, engine, values string) networks {
	t.Helper()
	chart := map[string]string{"flux": "charts/system", "argocd": "charts/namespace"}[engine]
	c, _, err := helm.Load(treetest.Index(t, os.DirFS("../platform/"+engine)), chart)
	assert.NilError(t, err)
	var texts []string
	for name, more := range map[string]string{"shop": values, "blog": "allowFrom: [shop]"} {
		given := "group: a\n" + more
		if engine == "flux" {
			given = "team: a\nrepository: {url: https://git.example.com/a.git}\n" + given
		}
		overlaid, err := helm.Overlay(map[string]any{}, given)
		assert.NilError(t, err)
		made, err := helm.Render(c, name, name, overlaid, false)
		assert.NilError(t, err)
		texts = append(texts, made...)
	}
	return policiesIn(t, texts)
}

func policiesIn(t *testing.T, texts []string) (out networks) {
	t.Helper()
	for _, text := range texts {
		for _, document := range manifest.Split([]byte(text)) {
			if o, err := manifest.Decode[manifest.Object](document); err != nil || o.Kind != "NetworkPolicy" {
				continue
			}
			p, err := manifest.Decode[networkingv1.NetworkPolicy](document)
			assert.NilError(t, err)
			out = append(out, p)
		}
	}
	return out
}

// reach is whom shop reaches, by values of its file.
var reach = []struct{ values, yes, no string }{
	{
		"", "shop's database:5432, DNS:53, DNS:53/UDP, address of DNS:53/UDP, DNS of the node:53/UDP",
		"blog:80, DNS:9153, metrics-server:443, Loki:3100, Prometheus:9090, Alertmanager:9093, Grafana:3000, state:8080, Flux:9090, " +
			"metadata of the node:80, metadata of the node:53/UDP, identities of pods:80, control plane:443, database in the network:5432, " +
			"internet:443, internet:53/UDP, gateway:80",
	},
	{"allowTo: [{namespace: blog}]", "blog:80, blog:8125/UDP", "Loki:3100, internet:443, metadata of the node:80"},
	{"allowTo: [{namespace: blog, ports: [80]}]", "blog:80", "blog:81, blog:80/UDP"},
	{
		"allowTo: [{cidr: 0.0.0.0/0, ports: [443]}]", "internet:443",
		"internet:80, internet:443/UDP, metadata of the node:443, blog:443, Loki:443, control plane:443, database in the network:443",
	},
	{"allowTo: [{cidr: 0.0.0.0/0}]", "internet:22", "metadata of the node:80, Azure's agents:80, identities of pods:80, Loki:3100, Alertmanager:9093"},
	{"allowTo: [{cidr: 203.0.113.0/24, protocol: UDP, ports: [123]}]", "internet:123/UDP", "internet:123"},
	{"allowTo: [{cidr: 10.60.3.4/32, ports: [5432]}]", "database in the network:5432", "database in the network:22, Loki:3100"},
	{"allowTo: [{cidr: 169.254.170.23/32, ports: [80]}]", "identities of pods:80", "metadata of the node:80"},
	// What holds when the range of a file is wider than it should be.
	{
		"allowTo: [{cidr: 10.40.0.0/16}]", "control plane:443",
		"Loki:3100, Prometheus:9090, Alertmanager:9093, Grafana:3000, state:8080, Alloy:12345, metadata of the node:80",
	},
}

// TestSystemsReachWhatTheirFileNames evaluates the policies of both trees. The lab has no
// network plugin, which would hold them.
func TestSystemsReachWhatTheirFileNames(t *testing.T) {
	for _, engine := range []string{"flux", "argocd"} {
		addons := ofAddons(t, engine)
		assert.Check(t, is.Len(addons, 2), engine)
		for _, r := range reach {
			n := slices.Concat(addons, ofSystems(t, engine, r.values))
			for _, way := range []struct {
				to   string
				want bool
			}{{r.yes, true}, {r.no, false}} {
				for target := range strings.SplitSeq(way.to, ", ") {
					to, port, protocol := parsed(t, target)
					assert.Check(t, is.Equal(n.allows(ends["shop"], to, protocol, port), way.want), "%s, %q: shop to %s", engine, r.values, target)
				}
			}
		}
	}
}

// parsed is an end, a port and a protocol: name:port, or name:port/UDP.
func parsed(t *testing.T, target string) (to end, port int32, protocol corev1.Protocol) {
	t.Helper()
	name, number, _ := strings.Cut(target, ":")
	to, ok := ends[name]
	assert.Assert(t, ok, name)
	number, udp := strings.CutSuffix(number, "/UDP")
	_, err := fmt.Sscan(number, &port)
	assert.NilError(t, err)
	if udp {
		return to, port, corev1.ProtocolUDP
	}
	return to, port, corev1.ProtocolTCP
}

// TestThePlatformReachesItself: what keeps systems away lets the rest of the platform, the
// gateways, and the API server's calls of webhooks through.
func TestThePlatformReachesItself(t *testing.T) {
	for _, engine := range []string{"flux", "argocd"} {
		n := slices.Concat(ofAddons(t, engine), ofSystems(t, engine, "allowFrom: [ingress-nginx, monitoring]"))
		for _, c := range []struct{ from, to string }{
			{"Alloy", "Loki:3100"},
			{"Grafana", "Loki:3100"},
			{"Grafana", "Prometheus:9090"},
			{"Loki", "Alertmanager:9093"},
			{"Prometheus", "Alertmanager:9093"},
			{"Prometheus", "state:8080"},
			{"Prometheus", "shop:8080"},
			{"gateway", "Grafana:3000"},
			{"gateway", "shop:8080"},
			{"control plane", "operator:10250"},
			{"Alertmanager", "internet:443"},
		} {
			to, port, protocol := parsed(t, c.to)
			assert.Check(t, n.allows(ends[c.from], to, protocol, port), "%s: %s to %s", engine, c.from, c.to)
		}
	}
}

// TestChartsRefuseTheNode: a file that nobody has checked opens no way to the node's metadata.
func TestChartsRefuseTheNode(t *testing.T) {
	for _, engine := range []string{"flux", "argocd"} {
		c, _, err := helm.Load(treetest.Index(t, os.DirFS("../platform/"+engine)), "charts/system")
		assert.NilError(t, err)
		given := "team: a\ngroup: a\nrepository: {url: https://git.example.com/a.git}\n"
		if engine == "argocd" {
			given += "cluster: {name: a, server: https://kubernetes.default.svc}\n"
		}
		for entry, valid := range map[string]bool{
			"{cidr: 0.0.0.0/0}": true, "{cidr: 10.60.0.0/16, ports: [443]}": true, "{cidr: 169.254.170.23/32}": true, "{namespace: blog}": true,
			"{cidr: 169.254.169.254/32}": false, "{cidr: 169.254.0.0/16}": false, "{cidr: 169.1.0.0/8}": false, "{cidr: 169.254.170.23/31}": false,
			"{cidr: 168.63.129.16/32}": false, "{cidr: 168.60.0.0/14}": false, "{cidr: 128.0.0.0/1}": false, "{cidr: 0.0.0.0/1}": false, "{cidr: \"::/0\"}": false, "{cidr: \"fd00:ec2::254/128\"}": false, "{cidr: \"\"}": false,
			"{}": false, "{namespace: blog, cidr: 10.60.0.0/16}": false, "{namespace: \"\"}": false, "{cidr: 10.60.0.0/16, ports: [0]}": false,
			"{cidr: 10.60.0.0/16, ports: []}": false, "{namespace: blog, protocol: UDP}": false,
		} {
			values, err := helm.Overlay(map[string]any{}, given+"allowTo: ["+entry+"]\n")
			assert.NilError(t, err)
			_, err = helm.Render(c, "shop", "shop", values, false)
			assert.Check(t, is.Equal(err == nil, valid), "%s, %s: %v", engine, entry, err)
		}
	}
}

// TestNobodyHoldsNetworkPolicies: the CNI of Amazon VPC does when it is told to, which check says
// of a cluster with systems.
func TestNobodyHoldsNetworkPolicies(t *testing.T) {
	c, err := config.Load("../clusters/teams.yaml")
	assert.NilError(t, err)
	assert.Check(t, !published.To(c, c).OpenNetwork)
	for name, given := range map[string]struct {
		addons []config.ManagedAddon
		open   bool
	}{
		"told":      {[]config.ManagedAddon{{Name: "vpc-cni", Configuration: map[string]any{"enableNetworkPolicy": true}}}, false},
		"told not":  {[]config.ManagedAddon{{Name: "vpc-cni", Configuration: map[string]any{"enableNetworkPolicy": "false"}}}, true},
		"their own": {[]config.ManagedAddon{{Name: "kube-proxy"}}, false},
		"not told":  {[]config.ManagedAddon{{Name: "vpc-cni"}}, true},
	} {
		c.Kubernetes.Addons = given.addons
		assert.Check(t, is.Equal(published.To(c, c).OpenNetwork, given.open), name)
	}
	sets := teams(t)
	sets[0].OpenNetwork = true
	assert.Check(t, is.Contains(check(t, os.DirFS("../platform/flux"), sets),
		"clusters/teams.yaml:31:13: warning: the cluster has systems, and nothing holds the NetworkPolicies that keep their pods apart (cluster teams); "+
			`set enableNetworkPolicy: "true" in the configuration of vpc-cni, in kubernetes.addons`))
	hub := fleetOfAll(t, "clusters/mgmt")
	hub[0].OpenNetwork = true
	assert.Check(t, is.Contains(check(t, argocdSystems(t), hub), "nothing holds the NetworkPolicies that keep their pods apart (cluster mgmt)"))
}

// field of an object at a path, nil when there is none.
func field(object map[string]any, path ...string) any {
	var at any = object
	for _, key := range path {
		m, _ := at.(map[string]any)
		at = m[key]
	}
	return at
}

func linkerd(t *testing.T) (values chartutil.Values, objects map[string]map[string]any) {
	t.Helper()
	releases, objects := fluxReleases(t, substitution.Variables{Values: fleetOfAll(t, "clusters/prod")[0].Examples(), Substituting: true})
	return releases["linkerd-control-plane"].Values, objects
}

func text(t *testing.T, values chartutil.Values, path string) string {
	t.Helper()
	value, err := values.PathValue(path)
	assert.NilError(t, err, path)
	s, _ := value.(string)
	return s
}

// TestLinkerdsCertificates: each Secret that the chart mounts is made by a Certificate, with
// the name that is asked for, and the API server is told to trust it. What the chart mounts is
// in charts/linkerd-control-plane/templates of edge-26.8.3.
func TestLinkerdsCertificates(t *testing.T) {
	values, objects := linkerd(t)
	for webhook, service := range map[string]string{
		"proxyInjector": "linkerd-proxy-injector", "profileValidator": "linkerd-sp-validator", "policyValidator": "linkerd-policy-validator",
	} {
		external, err := values.PathValue(webhook + ".externalSecret")
		assert.Check(t, err)
		assert.Check(t, is.Equal(external, true), webhook)
		namespace, name, _ := strings.Cut(text(t, values, webhook+".injectCaFrom"), "/")
		certificate := objects["Certificate "+name]
		assert.Check(t, is.Equal(field(certificate, "metadata", "namespace"), namespace), webhook)
		assert.Check(t, is.Equal(field(certificate, "spec", "secretName"), service+"-k8s-tls"))
		assert.Check(t, is.DeepEqual(field(certificate, "spec", "dnsNames"), []any{service + ".linkerd.svc"}))
		issuer := objects["Issuer "+field(certificate, "spec", "issuerRef", "name").(string)]
		authority := objects["Certificate "+field(issuer, "spec", "ca", "secretName").(string)]
		assert.Check(t, is.Equal(field(authority, "spec", "isCA"), true), webhook)
		assert.Check(t, is.Equal(field(authority, "metadata", "namespace"), "linkerd"), webhook)
	}
}

// TestLinkerdsIdentity: the issuer is of the trust anchor, whose key stays out of the namespace
// of Linkerd and out of Git; pods are given the anchor by the ConfigMap that the chart reads.
func TestLinkerdsIdentity(t *testing.T) {
	values, objects := linkerd(t)
	external, err := values.PathValue("identity.externalCA")
	assert.Check(t, err)
	assert.Check(t, is.Equal(external, true))
	assert.Check(t, is.Equal(text(t, values, "identity.issuer.scheme"), "kubernetes.io/tls"))
	_, err = values.PathValue("identity.issuer.tls")
	assert.Check(t, err != nil, "a key is in Git")

	issuer := objects["Certificate linkerd-identity-issuer"]
	assert.Check(t, is.Equal(field(issuer, "metadata", "namespace"), "linkerd"))
	assert.Check(t, is.Equal(field(issuer, "spec", "secretName"), "linkerd-identity-issuer"))
	assert.Check(t, is.Equal(field(issuer, "spec", "isCA"), true))
	from := field(objects["ClusterIssuer "+field(issuer, "spec", "issuerRef", "name").(string)], "spec", "ca", "secretName")
	anchor := objects["Certificate linkerd-trust-anchor"]
	assert.Check(t, is.Equal(from, field(anchor, "spec", "secretName")))
	assert.Check(t, is.Equal(field(anchor, "metadata", "namespace"), "cert-manager"))
	// With another key, pods that have not started again would trust no new certificate.
	assert.Check(t, is.Equal(field(anchor, "spec", "privateKey", "rotationPolicy"), "Never"))
	for _, c := range []map[string]any{issuer, anchor} { // Linkerd's proxies take no other
		assert.Check(t, is.Equal(field(c, "spec", "privateKey", "algorithm"), "ECDSA"))
		assert.Check(t, is.Equal(field(c, "spec", "privateKey", "size"), float64(256)))
	}

	roots := objects["Bundle linkerd-identity-trust-roots"]
	assert.Check(t, is.Equal(field(roots, "spec", "target", "configMap", "key"), "ca-bundle.crt"))
	assert.Check(t, is.DeepEqual(field(roots, "spec", "target", "namespaceSelector", "matchLabels"), map[string]any{"kubernetes.io/metadata.name": "linkerd"}))
	sources := field(roots, "spec", "sources").([]any)
	assert.Assert(t, is.Len(sources, 1))
	assert.Check(t, is.DeepEqual(field(sources[0].(map[string]any), "secret", "selector", "matchLabels"), field(anchor, "spec", "secretTemplate", "labels")))
}

// TestLinkerdLeavesThePlatformAlone: a webhook that fails refuses what it is asked about. It is
// not asked in the namespaces of the engines and of any addon, which a cluster needs to come up.
func TestLinkerdLeavesThePlatformAlone(t *testing.T) {
	values, _ := linkerd(t)
	want := []string{"argocd", "flux-system"}
	for _, a := range addon.All() {
		if a.Name != "linkerd" { // its label keeps them out
			want = append(want, a.Namespace)
		}
	}
	slices.Sort(want)
	want = slices.Compact(want)
	assert.Check(t, is.Equal(text(t, values, "webhookFailurePolicy"), "Fail"))
	assert.Check(t, is.Equal(addon.Find("linkerd").NamespaceLabels["config.linkerd.io/admission-webhooks"], "disabled"))
	for _, webhook := range []string{"proxyInjector", "policyValidator"} {
		selector, err := values.PathValue(webhook + ".namespaceSelector.matchExpressions")
		assert.NilError(t, err)
		// What is restricted is never meshed: no system waits for Linkerd.
		assert.Check(t, is.Contains(selector, map[string]any{"key": "tombolo/system", "operator": "DoesNotExist"}), webhook)
		var got []string
		for _, e := range selector.([]any) {
			if e := e.(map[string]any); e["key"] == "kubernetes.io/metadata.name" && e["operator"] == "NotIn" {
				for _, n := range e["values"].([]any) {
					got = append(got, n.(string))
				}
			}
		}
		assert.Check(t, is.DeepEqual(got, want), webhook)
	}
}

// TestLinkerdsIssuerIsItsOwn: a certificate of the mesh's issuer passes for any pod, so a policy
// names the issuer as it is, and lets no other namespace ask it.
func TestLinkerdsIssuerIsItsOwn(t *testing.T) {
	_, objects := linkerd(t)
	for name, o := range objects {
		if strings.HasPrefix(name, "ClusterIssuer linkerd") {
			assert.Check(t, is.Equal(name, "ClusterIssuer linkerd-identity-issuer"))
		}
		if policy, ok := strings.CutPrefix(name, "ValidatingAdmissionPolicyBinding "); ok && strings.Contains(policy, "linkerd") {
			assert.Check(t, is.Equal(field(o, "spec", "policyName"), "tombolo-linkerd-issuer"))
			assert.Check(t, is.DeepEqual(field(o, "spec", "validationActions"), []any{"Deny"}))
		}
	}
	assert.Check(t, objects["ValidatingAdmissionPolicyBinding tombolo-linkerd-issuer"] != nil)
	policy := objects["ValidatingAdmissionPolicy tombolo-linkerd-issuer"]
	assert.Assert(t, policy != nil)
	assert.Check(t, is.Equal(field(policy, "spec", "failurePolicy"), "Fail"))
	assert.Check(t, is.DeepEqual(field(policy, "spec", "matchConstraints", "resourceRules"), []any{map[string]any{
		"apiGroups": []any{"cert-manager.io"}, "apiVersions": []any{"*"}, "operations": []any{"CREATE", "UPDATE"},
		"resources": []any{"certificates", "certificaterequests"},
	}}))
	// cert-manager takes an issuerRef without a kind for an Issuer of the namespace.
	only := func(key string) any {
		list := field(policy, "spec", key).([]any)
		assert.Assert(t, is.Len(list, 1), key)
		return list[0].(map[string]any)["expression"]
	}
	assert.Check(t, is.Equal(only("matchConditions"), "object.spec.issuerRef.name == 'linkerd-identity-issuer' && object.spec.issuerRef.?kind.orValue('Issuer') == 'ClusterIssuer'"))
	assert.Check(t, is.Equal(only("validations"), "request.namespace == 'linkerd'"))
}
