package check

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"helm.sh/helm/v3/pkg/chartutil"

	"tombolo/check/substitution"
	"tombolo/config/addon"
)

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
