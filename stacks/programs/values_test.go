package programs

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
	"tombolo/config"
	"tombolo/stacks"
)

// reading is a cluster file with these keys at its end.
func reading(t *testing.T, keys string) *config.Cluster {
	t.Helper()
	base, err := os.ReadFile("../../config/testdata/base.yaml")
	assert.NilError(t, err)
	file := filepath.Join(t.TempDir(), "demo.yaml")
	text, err := os.ReadFile("testdata/clusters/install.yaml")
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(filepath.Join(filepath.Dir(file), "install.yaml"), text, 0o600))
	before, _, found := strings.Cut(string(base), "  distribution:\n")
	assert.Assert(t, found)
	before += fmt.Sprintf("  distribution: {version: v2.7.5, path: install.yaml, sha256: %x}\n", sha256.Sum256(text))
	assert.NilError(t, os.WriteFile(file, []byte(before+keys), 0o600))
	c, err := config.Load(file)
	assert.NilError(t, err)
	return c
}

// store answers for parameters: their type and value, by name.
func store(all map[string][2]string) func(resource.PropertyMap) (resource.PropertyMap, error) {
	return func(args resource.PropertyMap) (resource.PropertyMap, error) {
		found, ok := all[args["name"].StringValue()]
		if !ok {
			return nil, errors.New("reading SSM Parameter: couldn't find resource")
		}
		return resource.PropertyMap{"type": resource.NewProperty(found[0]), "value": resource.NewProperty(found[1])}, nil
	}
}

// withData is a recorder of a deployed core, whose stacks have these outputs too.
func withData(t *testing.T, outputs resource.PropertyMap) (*recorder.Recorder, Options) {
	t.Helper()
	r, o := deployed(t)
	all := r.Outputs["pulumi:pulumi:StackReference"]["outputs"].ObjectValue()
	for key, v := range outputs {
		all[key] = v
	}
	r.Invokes = map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
		"aws:ssm/getParameter:getParameter": store(map[string][2]string{
			"/shop/zone": {"String", "eu-central-1a"}, "/shop/zones": {"StringList", "a,b"}, "/shop/key": {"SecureString", "AQICAHcipher"},
		}),
	}
	return r, o
}

func data() resource.PropertyMap {
	return resource.PropertyMap{
		"db": resource.NewProperty(resource.NewPropertyMapFromMap(map[string]any{
			"host": "db.internal", "port": 5432.0, "tls": true, "replicas": []any{"r1", "r2"},
		})),
		"password": resource.MakeSecret(resource.NewProperty("hunter2")),
		"user":     resource.NewProperty(resource.PropertyMap{"name": resource.NewProperty("shop"), "password": resource.MakeSecret(resource.NewProperty("hunter2"))}),
	}
}

const goodValues = `
values:
  db_host: {fromStack: data/prod, output: db.host}
  db_port: {fromStack: data/prod, output: db.port}
  db_tls: {fromStack: data/prod, output: db.tls}
  replica: {fromStack: organization/data/prod, output: 'db.replicas[1]'}
  zone: {fromSsm: /shop/zone}
  plain: text
services:
  - name: shop
    namespace: flux-system
    values:
      db: {fromStack: data/prod, output: db}
      hosts: [{fromStack: data/prod, output: db.host}, other]
      zones: {fromSsm: /shop/zones}
`

func TestValuesAreRead(t *testing.T) {
	c := reading(t, goodValues)
	r, o := withData(t, data())
	assert.NilError(t, run(t, r, c, stacks.Bootstrap, o, recorder.Preview))
	general, _ := r.Named("kubernetes:core/v1:ConfigMap", "demo-general")
	for key, want := range map[string]string{
		"db_host": "db.internal", "db_port": "5432", "db_tls": "true", "replica": "r2", "zone": "eu-central-1a", "plain": "text",
	} {
		assert.Check(t, is.Equal(general.String("data."+key), want))
	}
	shop, _ := r.Named("kubernetes:core/v1:ConfigMap", "demo-shop")
	for _, want := range []string{
		"db:\n  host: db.internal\n  port: 5432\n  replicas:\n  - r1\n  - r2\n  tls: true\n",
		"hosts:\n- db.internal\n- other\n", "zones:\n- a\n- b\n",
	} {
		assert.Check(t, is.Contains(shop.String(`data["values.yaml"]`), want))
	}
	provider := r.OfType("pulumi:providers:aws")
	assert.Assert(t, is.Len(provider, 1))
	assert.Check(t, is.Equal(provider[0].String("region")+provider[0].String("allowedAccountIds[0]"), "eu-central-1111122223333"))
	if _, ok := r.Named("pulumi:pulumi:StackReference", "organization/data/prod"); !ok {
		t.Error("the stack was not read by its whole name")
	}
}

// TestValuesAreTold: a backend that is thrown away has no stacks.
func TestValuesAreTold(t *testing.T) {
	c := reading(t, goodValues)
	r, o := withData(t, nil)
	o.ToldStacks = map[string]map[string]any{"organization/data/prod": {"db": map[string]any{
		"host": "db.internal", "port": 5432.0, "tls": true, "replicas": []any{"r1", "r2"},
	}}}
	assert.NilError(t, run(t, r, c, stacks.Bootstrap, o, recorder.Preview))
	general, _ := r.Named("kubernetes:core/v1:ConfigMap", "demo-general")
	assert.Check(t, is.Equal(general.String("data.db_port"), "5432"))
	if _, ok := r.Named("pulumi:pulumi:StackReference", "organization/data/prod"); ok {
		t.Error("the stack was asked")
	}
	o.ToldStacks["organization/data/prod"]["db"] = map[string]any{"host": "[secret]"}
	assert.ErrorContains(t, run(t, r, c, stacks.Bootstrap, o, recorder.Preview), "output db.host of stack data/prod is secret")
}

// TestValuesAreRefused: all together, each at its place, before anything is made.
func TestValuesAreRefused(t *testing.T) {
	c := reading(t, `
values:
  db: {fromStack: data/prod, output: db}
  replicas: {fromStack: data/prod, output: db.replicas}
  zones: {fromSsm: /shop/zones}
  password: {fromStack: data/prod, output: password}
  user: {fromStack: data/prod, output: user.name}
  key: {fromSsm: /shop/key}
  gone: {fromStack: data/prod, output: db.gone}
  other: {fromStack: data/prod, output: other}
  past: {fromStack: data/prod, output: 'db.replicas[2]'}
  inside: {fromStack: data/prod, output: db.host.name}
  nowhere: {fromSsm: /shop/nowhere}
services:
  - name: shop
    namespace: flux-system
    values:
      auth: [{password: {fromStack: data/prod, output: password}}]
`)
	r, o := withData(t, data())
	err := run(t, r, c, stacks.Bootstrap, o)
	const secret = "keep the secret in AWS Secrets Manager or Parameter Store, and let External Secrets bring it into the cluster: docs/guide/secrets.md#values-of-other-stacks"
	const part = "; a part that is not secret can be an output of its own"
	const deploy = "deploy it with that output (`pulumi stack output -s organization/data/prod` shows what it has), or correct output"
	for place, want := range map[string]string{
		"24:3: values.db":                            "db of stack data/prod is an object, and a key of the infra ConfigMap holds one text; take one value of it",
		"25:3: values.replicas":                      "db.replicas of stack data/prod is a list, and a key of the infra ConfigMap holds one text; take one value of it",
		"26:3: values.zones":                         "parameter /shop/zones is a list, and a key of the infra ConfigMap holds one text; take one value of it",
		"27:3: values.password":                      "output password of stack data/prod is secret, or holds a secret, and a ConfigMap is no place for one; " + secret + part,
		"28:3: values.user":                          "output user.name of stack data/prod is secret, or holds a secret, and a ConfigMap is no place for one; " + secret + part,
		"29:3: values.key":                           "parameter /shop/key is a SecureString, and a ConfigMap is no place for a secret; " + secret,
		"30:3: values.gone":                          "stack data/prod has no output db.gone; " + deploy,
		"31:3: values.other":                         "stack data/prod has no output other; " + deploy,
		"32:3: values.past":                          "stack data/prod has no output db.replicas[2]; " + deploy,
		"33:3: values.inside":                        "stack data/prod has no output db.host.name; " + deploy,
		"34:3: values.nowhere":                       "there is no parameter /shop/nowhere in account 111122223333, region eu-central-1; put it there (`aws ssm put-parameter`), or correct fromSsm",
		"39:15: services[0].values.auth[0].password": "output password of stack data/prod is secret",
	} {
		assert.Check(t, is.ErrorContains(err, c.File+":"+place+": "+want))
	}
	assert.Check(t, !strings.Contains(err.Error(), "hunter2") && !strings.Contains(err.Error(), "cipher"))
	for _, res := range r.All() {
		assert.Check(t, strings.HasPrefix(res.Type, "pulumi:"), "%s %s was made", res.Type, res.Name)
	}
}

// TestContentsHaveTheValues: what is worked out is what is published.
func TestContentsHaveTheValues(t *testing.T) {
	c := reading(t, goodValues)
	contents, err := ContentsOf(t.Context(), c, told(c), map[string]any{
		"db.host of stack data/prod": "MARK", "db.port of stack data/prod": 5433.0, "parameter /shop/zones": []any{"x"},
	})
	assert.NilError(t, err)
	general := contents.Data["flux-system/infra-config"]
	assert.Check(t, is.Equal(general["db_host"]+general["db_port"], "MARK5433"))
	assert.Check(t, is.Contains(contents.Data["flux-system/shop-values"]["values.yaml"], "hosts:\n- MARK\n- other\n"))
	assert.Check(t, is.Contains(contents.Data["flux-system/shop-values"]["values.yaml"], "zones:\n- x\n"))
}
