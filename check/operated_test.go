package check

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/inventory"
	"tombolo/check/manifest"
	"tombolo/check/published"
	"tombolo/check/tree/treetest"
	"tombolo/tests/files"
)

// database is a server of a system, and a Deployment that gets its address and its password.
const database = `---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: db-admin, namespace: shop}
spec:
  secretStoreRef: {kind: ClusterSecretStore, name: key-vault}
  data: [{secretKey: password, remoteRef: {key: teams--shop--db}}]
---
apiVersion: dbforpostgresql.azure.com/v1api20240801
kind: FlexibleServer
metadata: {name: db, namespace: shop}
spec:
  administratorLogin: shop
  administratorLoginPassword: {name: db-admin, key: password}
  operatorSpec:
    secrets:
      fullyQualifiedDomainName: {name: db, key: host}
---
apiVersion: servicebus.azure.com/v1api20240101
kind: Namespace
metadata: {name: bus, namespace: shop}
spec:
  operatorSpec:
    secrets:
      primaryConnectionString: {name: bus, key: connection}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      volumes:
        - {name: bus, secret: {secretName: bus, items: [{key: connection, path: connection}]}}
      containers:
        - name: web
          image: registry.example.com/shop:1.0.0
          env:
            - {name: HOST, valueFrom: {secretKeyRef: {name: db, key: host}}}
            - {name: PASSWORD, valueFrom: {secretKeyRef: {name: db-admin, key: password}}}
            - {name: OTHER, valueFrom: {secretKeyRef: {name: by-hand, key: any}}}
`

// TestOperated: what Azure Service Operator writes is there for the pods that need it, and nothing else is.
func TestOperated(t *testing.T) {
	for _, test := range []struct{ name, old, new, want string }{
		{"as it is", "", "", ""},
		{
			"another key", "name: db, key: host", "name: db, key: hst",
			`Deployment shop/web refers to key "hst" of Secret db, into which Azure Service Operator writes "host" (cluster teams); did you mean "host"?`,
		},
		{
			"another key of a volume", "items: [{key: connection", "items: [{key: endpoint",
			`Deployment shop/web refers to key "endpoint" of Secret bus, into which Azure Service Operator writes "connection" (cluster teams); refer to a key that is written, or have it written by operatorSpec`,
		},
		{"optional", "name: db, key: host}}}", "name: db, key: other, optional: true}}}", ""},
		{
			"a password of the server's own", "name: db-admin, key: password}\n  operatorSpec", "name: db, key: password}\n  operatorSpec",
			`FlexibleServer shop/db refers to key "password" of Secret db, into which Azure Service Operator writes "host" (cluster teams); refer to a key that is written, or have it written by operatorSpec`,
		},
		{
			"of another kind", "fullyQualifiedDomainName:", "primaryConnectionString:",
			`FlexibleServer shop/db: operatorSpec.secrets.primaryConnectionString is nothing that Azure Service Operator writes of this kind (cluster teams); it has fullyQualifiedDomainName`,
		},
		{
			"misspelt", "primaryConnectionString:", "primaryConectionString:",
			`Namespace shop/bus: operatorSpec.secrets.primaryConectionString is nothing that Azure Service Operator writes of this kind (cluster teams); did you mean "primaryConnectionString"?`,
		},
		{
			"one Secret for two objects", "name: bus, key: connection}", "name: db, key: connection}",
			`Namespace shop/bus: operatorSpec.secrets.primaryConnectionString has Secret db written, which FlexibleServer shop/db makes: Azure Service Operator does not overwrite it (cluster teams); give it a name of its own`,
		},
		{
			"a Secret of the tree's own", "name: db, key: host}\n---", "name: db-admin, key: host}\n---",
			`FlexibleServer shop/db: operatorSpec.secrets.fullyQualifiedDomainName has Secret db-admin written, which something else in the tree makes`,
		},
		{"expressions", "    secrets:\n      fully", "    secretExpressions: [{name: db, value: self.status.facts}]\n    secrets:\n      fully", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			tree := treetest.Copy(t, os.DirFS("../platform/flux"))
			added := database
			if test.old != "" {
				added = strings.Replace(database, test.old, test.new, 1)
				if strings.HasPrefix(test.old, "name: db, key: host") { // the Deployment's, not the server's
					at := strings.LastIndex(database, test.old)
					added = database[:at] + test.new + database[at+len(test.old):]
				}
				assert.Assert(t, added != database)
			}
			tree[shop].Data = append(tree[shop].Data, added...)
			found := checkTeams(t, tree)
			if test.want == "" {
				assert.Check(t, is.Equal(found, ""))
				return
			}
			assert.Check(t, is.Contains(found, test.want))
			assert.Check(t, is.Contains(found, "systems/shop.yaml:"), "with its place")
		})
	}
}

// TestExampleDatabase: the lab's example fits its own Deployment, and both engines let a system have it.
func TestExampleDatabase(t *testing.T) {
	text := func(name string) string {
		return files.Read(t, name)
	}
	const example = "../lab/systems/orders/deploy/"
	objects := text(example+"database.yaml") + "---\n" + text(example+"web.yaml")
	made, needed := inventory.Inventory{}, 0
	var uses []inventory.Use
	for _, document := range manifest.Split([]byte(objects)) {
		o, err := manifest.Decode[manifest.Object](document)
		assert.NilError(t, err)
		assert.NilError(t, made.Add(o, document))
		content, err := manifest.Decode[map[string]any](document)
		assert.NilError(t, err)
		uses = append(uses, inventory.Uses(o, content)...)
		for _, d := range inventory.Destinations(o, content) {
			assert.Check(t, !d.Unknown, d.Field)
		}
		if inventory.Operated(o) || o.Kind == "ExternalSecret" {
			assert.Check(t, is.Contains(text("../platform/argocd/charts/system/templates/project.yaml"), "{group: "+o.Group()+", kind: "+o.Kind+"}"))
			assert.Check(t, is.Contains(text("../platform/flux/systems/base/roles.yaml"), strings.ToLower(o.Kind)+"s"))
		}
	}
	for _, use := range uses {
		e, ok := made.Find(use.Of)
		assert.Check(t, ok && e.Has(use.Key), "%v %s", use.Of, use.Key)
		needed++
	}
	assert.Equal(t, needed, 3, "the host, and the password twice")
}

// TestOperatedWithArgoCD: of an Application's objects, too.
func TestOperatedWithArgoCD(t *testing.T) {
	hub := fullWith(t, "mgmt", argocdSignIn)
	tree := treetest.Copy(t, os.DirFS("../platform/argocd"))
	seed(t, tree, hubOverlay, "resources:\n", "resources:\n  - shop.yaml\n")
	tree["clusters/mgmt/shop.yaml"] = &fstest.MapFile{Data: []byte(strings.NewReplacer("headlamp-secret", "shop-database", "path: secrets", "path: shop", "namespace: headlamp", "namespace: shop").Replace(onTheHub))}
	found := func(text string) string {
		tree["shop/database.yaml"] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(text, ", namespace: shop", ""))}
		var out strings.Builder
		for line := range strings.Lines(check(t, tree, []published.Set{published.To(hub, hub)})) {
			if strings.Contains(line, "shop/database.yaml") {
				out.WriteString(line)
			}
		}
		return out.String()
	}
	assert.Check(t, is.Equal(found(database), ""))
	assert.Check(t, is.Contains(found(strings.Replace(database, "items: [{key: connection", "items: [{key: endpoint", 1)),
		`refers to key "endpoint" of Secret bus`))
	assert.Check(t, is.Contains(found(strings.Replace(database, "primaryConnectionString:", "primaryConectionString:", 1)),
		`did you mean "primaryConnectionString"?`))
}
