package programs

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
	"tombolo/config"
	"tombolo/config/strict"
	"tombolo/stacks"
	"tombolo/stacks/handoff"
	"tombolo/tests/files"
	"tombolo/tests/samples"
)

// reading is a cluster file with these keys at its end.
func reading(t *testing.T, keys string) *config.Cluster {
	t.Helper()
	base := files.Read(t, "../../config/testdata/base.yaml")
	file := filepath.Join(t.TempDir(), "demo.yaml")
	text, err := os.ReadFile("testdata/clusters/install.yaml")
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(filepath.Join(filepath.Dir(file), "install.yaml"), text, 0o600))
	before, _, found := strings.Cut(base, "  distribution:\n")
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
	_, ok := r.Named("pulumi:pulumi:StackReference", "organization/data/prod")
	assert.Check(t, ok, "the stack was not read by its whole name")
}

// TestValuesOfTerraform: outputs of a state, and all that can be wrong with one, each at its place.
func TestValuesOfTerraform(t *testing.T) {
	const network = `{"version": 4, "outputs": {"vpc": {"value": {"id": "vpc-1", "zones": ["a", "b"]}}, "key": {"value": "hunter2", "sensitive": true}}}`
	with := func(keys string) *config.Cluster {
		c := reading(t, keys)
		dir := filepath.Dir(c.File)
		assert.NilError(t, os.WriteFile(filepath.Join(dir, "network.tfstate"), []byte(network), 0o600))
		assert.NilError(t, os.WriteFile(filepath.Join(dir, "old.tfstate"), []byte(`{"version": 3}`), 0o600))
		return c
	}
	r, o := withData(t, nil)
	assert.NilError(t, run(t, r, with("\nvalues:\n  vpc: {fromTerraform: network.tfstate, output: vpc.id}\n  zone: {fromTerraform: network.tfstate, output: 'vpc.zones[1]'}\n"), stacks.Bootstrap, o, recorder.Preview))
	general, _ := r.Named("kubernetes:core/v1:ConfigMap", "demo-general")
	assert.Check(t, is.Equal(general.String("data.vpc")+general.String("data.zone"), "vpc-1b"))
	c := with(`
values:
  vpc: {fromTerraform: network.tfstate, output: vpc}
  key: {fromTerraform: network.tfstate, output: key}
  gone: {fromTerraform: network.tfstate, output: vpc.gone}
  none: {fromTerraform: none.tfstate, output: a}
  old: {fromTerraform: old.tfstate, output: a}
`)
	r, o = withData(t, nil)
	err := run(t, r, c, stacks.Bootstrap, o, recorder.Preview)
	assert.Check(t, is.DeepEqual(CheckValues(t.Context(), c, nil, nil), unwrapped(err)))
	for _, want := range []string{
		"values.vpc: vpc of Terraform's state network.tfstate is an object, and a key of the infra ConfigMap holds one text",
		"values.key: output key of Terraform's state network.tfstate is sensitive, and a ConfigMap is no place for a secret",
		"values.gone: Terraform's state network.tfstate has no output vpc.gone; apply it with that output, or correct output",
		"values.none: there is no state at none.tfstate; apply it first, or correct fromTerraform",
		"values.old: read Terraform's state old.tfstate: it has version 3 of the format, and 4 is read",
	} {
		assert.Check(t, is.ErrorContains(err, want))
	}
	assert.Check(t, !strings.Contains(err.Error(), "hunter2"))
}

// unwrapped are the problems of an error.
func unwrapped(err error) error {
	var problems strict.Problems
	errors.As(err, &problems)
	return problems
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
	_, ok := r.Named("pulumi:pulumi:StackReference", "organization/data/prod")
	assert.Check(t, !ok, "the stack was asked")
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
	contents, err := ContentsOf(t.Context(), c, coreOutputs(c), map[string]any{
		"db.host of stack data/prod": "MARK", "db.port of stack data/prod": 5433.0, "parameter /shop/zones": []any{"x"},
	})
	assert.NilError(t, err)
	general := contents.Data["flux-system/infra-config"]
	assert.Check(t, is.Equal(general["db_host"]+general["db_port"], "MARK5433"))
	assert.Check(t, is.Contains(contents.Data["flux-system/shop-values"]["values.yaml"], "hosts:\n- MARK\n- other\n"))
	assert.Check(t, is.Contains(contents.Data["flux-system/shop-values"]["values.yaml"], "zones:\n- x\n"))
}

// anAPI stands for the address of the Kubernetes API.
const anAPI = "https://api"

// coreOutputs are outputs of core with a value for everything that the addons need.
func coreOutputs(c *config.Cluster) map[string]any {
	made := map[string]any{}
	for _, name := range []string{
		"karpenter/role_arn", "karpenter/instance_profile", "karpenter/queue_name", "loki/role_arn", "loki/bucket_name",
		"aws-load-balancer-controller/role_arn", "external-dns/role_arn", "external-secrets/role_arn",
		"aws-efs-csi-driver/file_system_id", "aws-efs-csi-driver/controller_role_arn", "aws-efs-csi-driver/node_role_arn",
		"aws-ebs-csi-driver/role_arn", "certificate/certificate_arn",
	} {
		made[name] = "made:" + name
	}
	roles := map[string]any{}
	for _, s := range c.Services {
		if s.Identity != nil {
			roles[s.Name] = "arn:role/" + s.Name
		}
	}
	return map[string]any{
		"schemaVersion": float64(handoff.SchemaVersion), "cloud": "aws", "clusterName": "eks-name", "owner": "q5zk",
		"clusterId": "arn:cluster", "clusterArn": "arn:cluster", "clusterVersion": "1.35", "clusterEndpoint": anAPI, "clusterCa": "Y2E=",
		"region": "eu-central-1", "accountId": "1", "partition": "aws", "oidcIssuer": "https://oidc", "oidcProviderArn": "arn:oidc",
		"vpcId": "vpc-1", "vpcCidr": "10.0.0.0/16", "privateSubnetIds": []any{"subnet-1", "subnet-2"}, "publicSubnetIds": []any{"subnet-3"},
		"clusterSecurityGroupId": "sg-1", "nodeRoleArn": "arn:node", "argocdRoleArn": hubRole, "registrationRoleArn": spokeRole,
		"addonOutputs": made, "serviceRoleArns": roles,
	}
}

// published is what a preview of bootstrap on these outputs would publish: keys with the
// object before them. What is unknown is left out.
func published(t *testing.T, c *config.Cluster, outputs map[string]any) map[string]string {
	t.Helper()
	r, o := deployed(t)
	api := r.Outputs["pulumi:pulumi:StackReference"]["outputs"].ObjectValue()
	outputs = maps.Clone(outputs)
	outputs["clusterCa"] = api["clusterCa"].StringValue()
	if outputs["clusterEndpoint"] == anAPI {
		outputs["clusterEndpoint"] = api["clusterEndpoint"].StringValue()
	}
	o.Told, o.Predicted, o.PredictedHub = true, outputs, outputs
	assert.NilError(t, run(t, r, c, stacks.Bootstrap, o, recorder.Preview))
	all := map[string]string{}
	add := func(res recorder.Resource, path string) {
		values, _ := res.Value(path)
		if !values.IsObject() {
			return
		}
		for key, v := range values.ObjectValue() {
			name := res.String("metadata.namespace") + "/" + res.String("metadata.name") + " " + string(key)
			if v.IsString() {
				all[name] = strings.ReplaceAll(v.StringValue(), api["clusterEndpoint"].StringValue(), anAPI)
			}
		}
	}
	for _, m := range r.OfType("kubernetes:core/v1:ConfigMap") {
		add(m, "data")
	}
	if secret, ok := r.Named(kubeSecret, c.Name+"-secret"); ok {
		add(secret, "metadata.annotations")
	}
	return all
}

// TestContentsAreWhatIsPublished compares what is worked out with what the program makes.
func TestContentsAreWhatIsPublished(t *testing.T) {
	for name, c := range map[string]*config.Cluster{"every addon": everyAddon(t), "hub": load(t, "mgmt"), "spoke": load(t, "spoke")} {
		t.Run(name, func(t *testing.T) {
			made := published(t, c, coreOutputs(c))
			contents, err := ContentsOf(t.Context(), c, coreOutputs(c), nil)
			assert.NilError(t, err)
			n := 0
			for _, part := range []map[string]map[string]string{contents.Data, contents.Annotations} {
				for object, keys := range part {
					for key, text := range keys {
						assert.Check(t, is.Equal(made[object+" "+key], text), "%s %s", object, key)
						n++
					}
				}
			}
			assert.Check(t, n >= len(handoffKeys) && (c.GitOps.Engine == config.ArgoCD) == (len(contents.Annotations) == 1),
				"%d texts, and annotations of %d", n, len(contents.Annotations))
		})
	}
}

// handoffKeys are outputs of core, and the keys and values that follow them on a
// cluster with every addon.
var handoffKeys = map[string][]string{
	"privateSubnetIds":       {"flux-system/infra-config private_subnet_ids"},
	"clusterSecurityGroupId": {"flux-system/infra-config cluster_security_group_id", "flux-system/infra-config karpenter_security_group_terms"},
	"clusterEndpoint":        {"flux-system/infra-config cluster_endpoint", "kube-system/karpenter-values values.yaml"},
	"nodeRoleArn":            {"flux-system/infra-config node_role_arn"},
}

// TestUnknownKeyByKey: what does not follow an output that is unknown is known.
func TestUnknownKeyByKey(t *testing.T) {
	c := everyAddon(t)
	known := published(t, c, coreOutputs(c))
	unknown := func(outputs map[string]any) []string {
		has := published(t, c, outputs)
		var out []string
		for _, key := range slices.Sorted(maps.Keys(known)) {
			if text, ok := has[key]; !ok {
				out = append(out, key)
			} else {
				assert.Check(t, is.Equal(text, known[key]), key)
			}
		}
		return out
	}
	for output, follow := range handoffKeys {
		outputs := coreOutputs(c)
		outputs[output] = plugin.UnknownStringValue
		assert.Check(t, is.DeepEqual(unknown(outputs), follow), output)
	}
	// Of what was made for an addon, each output counts on its own.
	outputs := coreOutputs(c)
	outputs["addonOutputs"].(map[string]any)["karpenter/instance_profile"] = plugin.UnknownStringValue
	assert.DeepEqual(t, unknown(outputs), []string{"flux-system/infra-config karpenter_instance_profile"})
}

// TestReachIsExact changes each output, and compares what changes with where a mark of
// the output is found: no key may use an output without holding it.
func TestReachIsExact(t *testing.T) {
	for name, c := range map[string]*config.Cluster{"every addon": everyAddon(t), "spoke": load(t, "spoke")} {
		t.Run(name, func(t *testing.T) {
			base := texts(t, c, coreOutputs(c))
			for output, v := range coreOutputs(c) {
				if output == "schemaVersion" || output == "cloud" {
					continue
				}
				for _, empty := range []bool{false, true} {
					outputs := coreOutputs(c)
					outputs[output] = replaced(v, "core-output-0-0.", empty)
					for key, text := range texts(t, c, outputs) {
						changed := text != base[key]
						if empty && changed {
							outputs[output] = replaced(v, "core-output-0-0.", false)
							changed = !strings.Contains(texts(t, c, outputs)[key], "core-output-0-0.")
							assert.Check(t, !changed, "%s changes %s, which does not hold it", output, key)
						} else if !empty {
							assert.Check(t, is.Equal(changed, strings.Contains(text, "core-output-0-0.")), "%s in %s: %s", output, key, text)
						}
					}
				}
			}
		})
	}
}

// replaced is a value with a text in the place of each text in it; or without any.
func replaced(v any, by string, empty bool) any {
	switch v := v.(type) {
	case []any:
		if empty {
			return []any{}
		}
		return []any{by, by}
	case map[string]any:
		out := map[string]any{}
		for key := range v {
			if !empty {
				out[key] = by
			}
		}
		return out
	}
	if empty {
		return ""
	}
	return by
}

func texts(t *testing.T, c *config.Cluster, outputs map[string]any) map[string]string {
	t.Helper()
	contents, err := ContentsOf(t.Context(), c, outputs, nil)
	assert.NilError(t, err)
	all := map[string]string{}
	for _, part := range []map[string]map[string]string{contents.Data, contents.Annotations} {
		for object, keys := range part {
			for key, text := range keys {
				all[object+" "+key] = text
			}
		}
	}
	return all
}

// everyAddon is the sample cluster with every addon on.
func everyAddon(t *testing.T) *config.Cluster {
	t.Helper()
	key, certificate := samples.SealingKey()
	t.Setenv("TOMBOLO_GIT_TOKEN", "hunter2")
	t.Setenv("TOMBOLO_SEALING_KEY", key)
	t.Setenv("TOMBOLO_SEALING_CERTIFICATE", certificate)
	t.Setenv("TOMBOLO_CHANNEL", "https://hooks.example.com/hunter2")
	c, err := config.Load("../../clusters/full.yaml")
	assert.NilError(t, err)
	c.GitOps.Distribution.Path = "../stacks/programs/testdata/clusters/install.yaml"
	return c
}

// withZone answers like Route 53, too, for the zone that the sample names.
func withZone(r *recorder.Recorder, name string) *recorder.Recorder {
	r.Invokes["aws:route53/getZone:getZone"] = func(args resource.PropertyMap) (resource.PropertyMap, error) {
		return resource.NewPropertyMapFromMap(map[string]any{
			"id": args["zoneId"].StringValue(), "zoneId": args["zoneId"].StringValue(), "name": name, "privateZone": false,
			"arn": "arn:aws:route53:::hostedzone/Z1", "callerReference": "x", "comment": "", "nameServers": []any{}, "primaryNameServer": "ns",
			"resourceRecordSetCount": 2, "tags": map[string]any{},
		}), nil
	}
	return r
}

func TestCoreMakesWhatAddonsNeed(t *testing.T) {
	c := everyAddon(t)
	r := withZone(account(c.Cloud.Account), "lab.test")
	assert.NilError(t, run(t, r, c, stacks.Core, Options{}, recorder.Preview))
	assert.Check(t, is.Len(r.Problems(), 0))
	for typ, want := range map[string]int{
		"aws:sqs/queue:Queue": 1, "aws:cloudwatch/eventRule:EventRule": 5, "aws:acm/certificate:Certificate": 1,
		"aws:s3/bucketV2:BucketV2": 1, "aws:efs/fileSystem:FileSystem": 1, "aws:efs/mountTarget:MountTarget": 2,
		"aws:iam/instanceProfile:InstanceProfile": 1, "aws:ec2/tag:Tag": 1,
	} {
		assert.Check(t, is.Len(r.OfType(typ), want), typ)
	}
	for _, subnet := range r.OfType("aws:ec2/subnet:Subnet") {
		want := ""
		if strings.Contains(subnet.Name, "private") {
			want = "full"
		}
		assert.Check(t, is.Equal(subnet.String(`tags["karpenter.sh/discovery"]`), want), subnet.Name)
	}
}

func TestCoreRefusesAZoneOfAnotherName(t *testing.T) {
	c := everyAddon(t)
	err := run(t, withZone(account(c.Cloud.Account), "example.org"), c, stacks.Core, Options{}, recorder.Preview)
	assert.Check(t, is.ErrorContains(err, "hosted zone Z01234567LABTEST00000 is example.org, not lab.test"))
}

// TestAnAddonAddsTwoObjects keeps bootstrap small: a namespace and a ConfigMap
// for each addon, and no more.
func TestAnAddonAddsTwoObjects(t *testing.T) {
	c := everyAddon(t)
	objects := func() []string {
		r := &recorder.Recorder{}
		assert.NilError(t, run(t, r, c, stacks.Bootstrap, Options{Placeholders: true}, recorder.Preview))
		var names []string
		for _, res := range r.All() {
			if strings.HasPrefix(res.Type, "kubernetes:core/v1:") {
				names = append(names, res.Type+" "+res.Name)
			}
		}
		return names
	}
	with, addons := objects(), c.Addons.Enabled()
	for _, want := range []string{"kubernetes:core/v1:ConfigMap full-addon-karpenter", "kubernetes:core/v1:Namespace full-external-dns"} {
		assert.Check(t, slices.Contains(with, want), "no %s among\n%s", want, strings.Join(with, "\n"))
	}
	c.Addons = nil
	without := objects()
	values, spaces := 0, map[string]bool{}
	for _, a := range addons {
		if spaces[a.Namespace] = true; a.HasValues() {
			values++
		}
	}
	added := func(kind string) int {
		of := func(s string) bool { return strings.HasPrefix(s, "kubernetes:core/v1:"+kind+" ") }
		return len(slices.DeleteFunc(slices.Clone(with), func(s string) bool { return !of(s) })) - len(slices.DeleteFunc(slices.Clone(without), func(s string) bool { return !of(s) }))
	}
	assert.Equal(t, added("ConfigMap"), values)
	assert.Equal(t, added("Secret"), 1, "that of Sealed Secrets alone, with the given key")
	assert.Check(t, added("Namespace") <= len(spaces) && len(with)-len(without) == added("ConfigMap")+added("Namespace")+1,
		"%d addons add %d namespaces, and %d objects in all", len(addons), added("Namespace"), len(with)-len(without))
}
