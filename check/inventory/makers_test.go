package inventory

import (
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/check/manifest"
)

// TestMakers: what controllers make of the tree's objects is there for those that refer to it.
func TestMakers(t *testing.T) {
	secret := func(namespace, name string) ID { return ID{"Secret", namespace, name} }
	configMap := func(namespace, name string) ID { return ID{"ConfigMap", namespace, name} }
	for _, test := range []struct {
		name, text string
		made       []ID
		maybe      []ID
		not        []ID
	}{
		{
			"Azure Service Operator",
			"apiVersion: dbforpostgresql.azure.com/v1\nkind: FlexibleServer\nmetadata: {name: db, namespace: shop}\nspec:\n  operatorSpec:\n    secrets: {fullyQualifiedDomainName: {name: db-fqdn, key: host}}\n    configMapExpressions: [{name: db-facts, key: id, value: self.status.id}]\n",
			[]ID{secret("shop", "db-fqdn"), configMap("shop", "db-facts")},
			nil,
			[]ID{secret("other", "db-fqdn"), configMap("shop", "db-fqdn")},
		},
		{
			"Certificate",
			"apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: web, namespace: shop}\nspec: {secretName: web-tls, secretTemplate: {annotations: {reflector.v1.k8s.emberstack.com/reflection-auto-enabled: \"true\"}}}\n",
			[]ID{secret("shop", "web-tls"), secret("elsewhere", "web-tls")},
			nil,
			[]ID{secret("shop", "web")},
		},
		{
			"Ingress with cert-manager's annotation",
			"apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web, namespace: shop, annotations: {cert-manager.io/cluster-issuer: a}}\nspec: {tls: [{hosts: [a.example], secretName: web-tls}]}\n",
			[]ID{secret("shop", "web-tls")},
			nil, nil,
		},
		{
			"Ingress without",
			"apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web, namespace: shop}\nspec: {tls: [{hosts: [a.example], secretName: web-tls}]}\n",
			nil, nil,
			[]ID{secret("shop", "web-tls")},
		},
		{
			"Bundle", "apiVersion: trust.cert-manager.io/v1alpha1\nkind: Bundle\nmetadata: {name: ca}\nspec: {target: {configMap: {key: ca.crt}}}\n",
			[]ID{configMap("any", "ca")},
			nil,
			[]ID{configMap("any", "other")},
		},
		{
			"ClusterExternalSecret",
			"apiVersion: external-secrets.io/v1\nkind: ClusterExternalSecret\nmetadata: {name: registry}\nspec: {externalSecretSpec: {target: {name: pull}}}\n",
			[]ID{secret("any", "pull")},
			nil, nil,
		},
		{
			"Secret that replicator copies",
			"apiVersion: v1\nkind: Secret\nmetadata: {name: pull, namespace: shared, annotations: {replicator.v1.mittwald.de/replicate-to: \"shop-.*\"}}\nstringData: {a: b}\n",
			[]ID{secret("shop-eu", "pull"), secret("shared", "pull")},
			nil, nil,
		},
		{
			"Crossplane",
			"apiVersion: rds.aws.upbound.io/v1beta1\nkind: Instance\nmetadata: {name: db}\nspec: {writeConnectionSecretToRef: {name: db-conn, namespace: shop}}\n",
			[]ID{secret("shop", "db-conn")},
			nil,
			[]ID{secret("", "db-conn")},
		},
		{
			"Kyverno",
			"apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\nspec: {rules: [{name: r, generate: {apiVersion: v1, kind: ConfigMap, name: defaults, namespace: \"{{request.object.metadata.name}}\"}}]}\n",
			[]ID{configMap("any", "defaults")},
			nil,
			[]ID{secret("any", "defaults")},
		},
		{
			"ResourceSet",
			"apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: apps, namespace: flux-system}\nspec:\n  resources:\n    - {apiVersion: source.toolkit.fluxcd.io/v1, kind: OCIRepository, metadata: {name: charts, namespace: flux-system}}\n    - {apiVersion: v1, kind: Secret, metadata: {name: \"<< inputs.tenant >>\", namespace: shop}}\n",
			[]ID{{"OCIRepository", "flux-system", "charts"}, secret("shop", "anything")},
			nil,
			[]ID{{"OCIRepository", "flux-system", "other"}},
		},
		{
			"FluxInstance",
			"apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: flux-system}\nspec: {sync: {kind: OCIRepository, url: 'oci://a.test/fleet', path: a}}\n",
			[]ID{{"OCIRepository", "flux-system", "flux-system"}, {"Kustomization", "flux-system", "flux-system"}},
			nil,
			[]ID{{"GitRepository", "flux-system", "flux-system"}, {"OCIRepository", "flux-system", "flux"}},
		},
		{
			"CloudNativePG", "apiVersion: postgresql.cnpg.io/v1\nkind: Cluster\nmetadata: {name: db, namespace: shop}\nspec: {instances: 1}\n",
			[]ID{secret("shop", "db-app")},
			nil,
			[]ID{secret("shop", "db")},
		},
		{
			"a kind that is not known", "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t, namespace: shop}\nspec: {out: {secret: t-out}}\n",
			nil,
			[]ID{secret("shop", "t-out"), secret("shop", "t")},
			[]ID{secret("shop", "t-out")},
		},
	} {
		o, err := manifest.Decode[manifest.Object](test.text)
		assert.NilError(t, err, test.name)
		all := Inventory{}
		assert.NilError(t, all.Add(o, test.text), test.name)
		for _, id := range test.made {
			_, ok := all.Find(id)
			assert.Check(t, ok, "%s: %v is not there", test.name, id)
		}
		for _, id := range test.maybe {
			assert.Check(t, all.MayBeMade(id), "%s: %v cannot be made", test.name, id)
		}
		for _, id := range test.not {
			_, ok := all.Find(id)
			assert.Check(t, !ok, "%s: %v is there", test.name, id)
		}
	}
}
