package inventory

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/manifest"
)

// of takes objects of the namespace a.
func of(t *testing.T, texts ...string) Inventory {
	t.Helper()
	out := Inventory{{"ConfigMap", "a", "published"}: {Keys: []string{"key"}, Published: true}}
	for _, text := range texts {
		o, err := manifest.Decode[manifest.Object](text)
		assert.NilError(t, err)
		o.Metadata.Namespace = "a"
		assert.NilError(t, out.Add(o, text))
	}
	return out
}

func TestAdd(t *testing.T) {
	got := of(t,
		"{kind: ConfigMap, metadata: {name: published}, data: {other: b}}",
		"{kind: ConfigMap, metadata: {name: settings}, data: {domain: a.test}, binaryData: {blob: eA==}}",
		"{kind: Secret, metadata: {name: plain}, stringData: {token: x}}",
		"{kind: ExternalSecret, metadata: {name: ext}, spec: {target: {name: made}, data: [{secretKey: password}]}}",
		"{kind: ExternalSecret, metadata: {name: any}, spec: {dataFrom: [{}]}}",
		"{kind: ExternalSecret, metadata: {name: shaped}, spec: {data: [{secretKey: x}], target: {template: {data: {url: y}}}}}",
		"{kind: SealedSecret, metadata: {name: sealed}, spec: {encryptedData: {token: x}}}",
	)
	want := Inventory{
		{"ConfigMap", "a", "published"}:   {Keys: []string{"key"}, Published: true},
		{"ConfigMap", "a", "settings"}:    {Keys: []string{"domain", "blob"}, Values: map[string]string{"domain": "a.test"}},
		{"Secret", "a", "plain"}:          {Keys: []string{"token"}, Values: map[string]string{}},
		{"ExternalSecret", "a", "ext"}:    {},
		{"Secret", "a", "made"}:           {Keys: []string{"password"}},
		{"ExternalSecret", "a", "any"}:    {},
		{"Secret", "a", "any"}:            {Open: true},
		{"ExternalSecret", "a", "shaped"}: {},
		{"Secret", "a", "shaped"}:         {Keys: []string{"url"}},
		{"SealedSecret", "a", "sealed"}:   {},
		{"Secret", "a", "sealed"}:         {Keys: []string{"token"}},
	}
	assert.Check(t, is.DeepEqual(got, want))
	assert.Check(t, got[ID{"Secret", "a", "any"}].Has("x") && !got[ID{"Secret", "a", "made"}].Has("x"),
		"a Secret that is filled from elsewhere may have any key, another may not")
}

func TestNamesake(t *testing.T) {
	all := of(t, "{kind: Secret, metadata: {name: token}}", "{kind: HelmRepository, metadata: {name: charts}}")
	for wanted, want := range map[ID][2]string{
		{"ConfigMap", "a", "token"}:       {"Secret", ""},
		{"Secret", "b", "token"}:          {"", "a"},
		{"GitRepository", "a", "charts"}:  {"HelmRepository", ""},
		{"HelmRepositry", "a", "charts"}:  {"HelmRepository", ""},
		{"GitRepository", "a", "token"}:   {"", ""},
		{"ConfigMap", "b", "no such one"}: {"", ""},
	} {
		kind, namespace := all.Namesake(wanted)
		assert.Check(t, [2]string{kind, namespace} == want, "%v is taken for %q in %q, want %q", wanted, kind, namespace, want)
	}
}
