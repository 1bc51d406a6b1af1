package handoff

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/golden"
	"sigs.k8s.io/yaml"

	"tombolo/components/recorder"
	"tombolo/config"
)

const reference = "pulumi:pulumi:StackReference"

// sample is a hand-off of a cluster on AWS with another value in every field.
func sample(secret bool) (Handoff, map[string]any) { return sampleOn("aws", secret) }

func sampleOn(cloud string, secret bool) (Handoff, map[string]any) {
	h := Handoff{Cloud: cloud}
	values := map[string]any{cloudKey: cloud}
	each(&h, func(key string, field reflect.Value) {
		var in pulumi.Input
		switch plain(field.Type()).Kind() {
		case reflect.Slice:
			in, values[key] = pulumi.ToStringArray([]string{key + "-1", key + "-2"}), []any{key + "-1", key + "-2"}
		case reflect.Map:
			in, values[key] = pulumi.ToStringMap(map[string]string{"k": key}), map[string]any{"k": key}
		default:
			in, values[key] = pulumi.String(key), key
		}
		o := pulumi.ToOutput(in)
		if secret {
			o = pulumi.ToSecret(in)
		}
		field.Set(reflect.ValueOf(o))
	})
	values[versionKey] = float64(SchemaVersion)
	return h, values
}

// core is a recorder whose core stack has the outputs.
func core(outputs resource.PropertyMap) *recorder.Recorder {
	return &recorder.Recorder{Outputs: map[string]resource.PropertyMap{
		reference: {"outputs": resource.NewProperty(outputs)},
	}}
}

// await reads an output: its value, whether it is known and whether secret.
func await(ctx *pulumi.Context, o pulumi.Output) (value any, known, secret bool, err error) {
	r, err := internals.UnsafeAwaitOutput(ctx.Context(), o)
	return r.Value, r.Known, r.Secret, err
}

func TestFieldsHaveKeysAndTypes(t *testing.T) {
	sameFields(t, reflect.TypeFor[Handoff](), reflect.TypeFor[Values](), map[string]bool{})
}

// sameFields compares the fields of a hand-off with those of its plain values.
func sameFields(t *testing.T, handoff, values reflect.Type, keys map[string]bool) {
	t.Helper()
	exported := slices.DeleteFunc(reflect.VisibleFields(handoff), func(f reflect.StructField) bool { return !f.IsExported() })
	told := slices.DeleteFunc(reflect.VisibleFields(values), func(f reflect.StructField) bool { return f.Name == "By" }) // the reader's own
	assert.Assert(t, len(exported) == len(told), "%s has %d fields, %s %d", handoff, len(exported), values, len(told))
	for i, f := range exported {
		v := values.Field(i)
		if _, part := f.Tag.Lookup("cloud"); part && v.Tag == f.Tag {
			sameFields(t, f.Type, v.Type, keys)
			continue
		}
		if f.Name == "Cloud" && v.Name == f.Name {
			continue
		}
		key := f.Tag.Get("output")
		assert.Check(t, key != "" && !keys[key] && strings.ToLower(key[:1]) == key[:1],
			"%s: output key %q is missing, taken, or not in camelCase", f.Name, key)
		keys[key] = true
		assert.Check(t, v.Name == f.Name && v.Tag == f.Tag && v.Type == plain(f.Type),
			"%s.%s %s `%s` is not the plain %s %s `%s`", values, v.Name, v.Type, v.Tag, f.Name, f.Type, f.Tag)
	}
}

func TestRoundTrip(t *testing.T) {
	for _, cloud := range []string{"aws", "azure"} {
		for _, secret := range []bool{false, true} {
			roundTrip(t, cloud, secret)
		}
	}
}

func roundTrip(t *testing.T, cloud string, secret bool) {
	t.Helper()
	exported := resource.PropertyMap{}
	err := (&recorder.Recorder{}).Run("demo-core", func(ctx *pulumi.Context) error {
		h, _ := sampleOn(cloud, secret)
		outputs, err := exports(h)
		if err != nil {
			return err
		}
		for key, in := range outputs {
			value, _, isSecret, err := await(ctx, pulumi.ToOutput(in))
			if err != nil {
				return err
			}
			exported[resource.PropertyKey(key)] = property(value)
			if isSecret {
				exported[resource.PropertyKey(key)] = resource.MakeSecret(property(value))
			}
		}
		return nil
	})
	assert.NilError(t, err)
	err = core(exported).Run("demo-bootstrap", func(ctx *pulumi.Context) error {
		got, err := Import(ctx, "demo-core", cloud, false)
		if err != nil {
			return err
		}
		want, _ := sampleOn(cloud, secret)
		wanted := map[string]any{}
		each(&want, func(key string, field reflect.Value) {
			wanted[key], _, _, _ = await(ctx, field.Interface().(pulumi.Output))
		})
		each(&got, func(key string, field reflect.Value) {
			value, known, isSecret, err := await(ctx, field.Interface().(pulumi.Output))
			if err != nil || !known || isSecret != secret || !reflect.DeepEqual(value, wanted[key]) {
				t.Errorf("%s came back as %v (known %t, secret %t, %v), expected %v (secret %t)", key, value, known, isSecret, err, wanted[key], secret)
			}
		})
		return nil
	})
	assert.NilError(t, err)
}

// property is a value as the engine hands it over.
func property(v any) resource.PropertyValue {
	switch v := v.(type) {
	case []string:
		var list []resource.PropertyValue
		for _, s := range v {
			list = append(list, resource.NewProperty(s))
		}
		return resource.NewProperty(list)
	case map[string]string:
		m := resource.PropertyMap{}
		for k, s := range v {
			m[resource.PropertyKey(k)] = resource.NewProperty(s)
		}
		return resource.NewProperty(m)
	case int:
		return resource.NewProperty(float64(v))
	default:
		return resource.NewProperty(v.(string))
	}
}

func TestExportMissing(t *testing.T) {
	h, _ := sample(false)
	h.AWS.VPCID = pulumi.StringOutput{}
	_, err := exports(h)
	assert.Check(t, err != nil && err.Error() == "export hand-off: no value for vpcId", "error %v", err)
}

func TestPlaceholdersAreTypedUnknowns(t *testing.T) {
	err := (&recorder.Recorder{}).Run("demo-bootstrap", func(ctx *pulumi.Context) error {
		h, err := Import(ctx, "demo-core", "aws", true)
		if err != nil {
			return err
		}
		each(&h, func(key string, field reflect.Value) {
			_, known, _, err := await(ctx, field.Interface().(pulumi.Output))
			assert.Check(t, !known && err == nil, "%s is known: %v", key, err)
		})
		return nil
	}, recorder.Preview)
	assert.NilError(t, err)
}

func TestPlaceholdersCannotBeApplied(t *testing.T) {
	r := &recorder.Recorder{}
	err := r.Run("demo-bootstrap", func(ctx *pulumi.Context) error {
		_, err := Import(ctx, "demo-core", "aws", true)
		return err
	})
	want := "import hand-off: placeholders stand for outputs that core does not have yet, and cannot be applied: " +
		"deploy core first, then run without placeholders"
	assert.Check(t, is.ErrorContains(err, want))
	assert.Check(t, len(r.All()) == 0, "something was registered")
}

func TestImportVersions(t *testing.T) {
	version := func(v any) resource.PropertyMap {
		return resource.PropertyMap{versionKey: resource.NewPropertyValue(v)}
	}
	older := fmt.Sprintf("stack demo-core has hand-off version %d, this tombolo needs %d: run up for core with this tombolo first", SchemaVersion-1, SchemaVersion)
	newer := fmt.Sprintf("stack demo-core has hand-off version %d, this tombolo knows %d: use the newer tombolo that deployed core", SchemaVersion+1, SchemaVersion)
	for want, outputs := range map[string]resource.PropertyMap{
		older: version(float64(SchemaVersion - 1)),
		newer: version(float64(SchemaVersion + 1)),
		"stack demo-core has no hand-off: it was never deployed, or it is destroyed; deploy core first: pulumi up -s demo-core": {},
		"stack demo-core has the hand-off version x, which is no number: run up for core again":                                 version("x"),
	} {
		err := core(outputs).Run("demo-bootstrap", func(ctx *pulumi.Context) error {
			_, err := Import(ctx, "demo-core", "aws", false)
			return err
		})
		assert.Check(t, is.ErrorContains(err, want))
	}
}

func TestImportOfAnotherCloud(t *testing.T) {
	outputs := resource.PropertyMap{versionKey: resource.NewProperty(float64(SchemaVersion)), cloudKey: resource.NewProperty("azure")}
	err := core(outputs).Run("demo-bootstrap", func(ctx *pulumi.Context) error {
		_, err := Import(ctx, "demo-core", "aws", false)
		return err
	})
	assert.Check(t, is.ErrorContains(err, "stack demo-core is of a cluster on azure, and the cluster file says aws: correct cloud.provider"))
}

// noStack answers like an engine that knows no such stack.
type noStack struct{ recorder.Recorder }

func (*noStack) NewResource(pulumi.MockResourceArgs) (string, resource.PropertyMap, error) {
	return "", nil, errors.New("unknown stack")
}

func TestImportWithoutCore(t *testing.T) {
	var err error
	failed := pulumi.RunErr(func(ctx *pulumi.Context) error {
		_, err = Import(ctx, "demo-core", "aws", false)
		return err
	}, pulumi.WithMocks("tombolo", "demo-bootstrap", &noStack{}))
	assert.Check(t, failed != nil, "the run did not fail")
	assert.Check(t, is.ErrorContains(err, "deploy core first: pulumi up -s demo-core"))
}

func TestImportAsksForTheFullName(t *testing.T) {
	_, values := sample(false)
	outputs := resource.PropertyMap{}
	for k, v := range values {
		outputs[resource.PropertyKey(k)] = resource.NewPropertyValue(v)
	}
	r := core(outputs)
	err := r.Run("demo-bootstrap", func(ctx *pulumi.Context) error {
		_, err := Import(ctx, "demo-core", "aws", false)
		return err
	})
	assert.NilError(t, err)
	assert.Check(t, is.Equal(r.OfType(reference)[0].Name, "organization/tombolo/demo-core"))
}

func TestFromOutputs(t *testing.T) {
	_, outputs := sample(false)
	text, err := json.Marshal(outputs)
	assert.NilError(t, err)
	var decoded map[string]any
	assert.NilError(t, json.Unmarshal(text, &decoded))
	values, err := FromOutputs(decoded)
	assert.NilError(t, err)
	eachOf(reflect.ValueOf(&values).Elem(), "aws", func(key string, field reflect.Value) {
		assert.Check(t, !field.IsZero(), "%s was not read", key)
	})
	for want, change := range map[string]func(){
		"read hand-off: output vpcId of stack core is <nil>, expected string: run up for core again": func() { delete(decoded, "vpcId") },
		"stack core has no hand-off": func() { delete(decoded, versionKey) },
	} {
		change()
		_, err := FromOutputs(decoded)
		assert.Check(t, is.ErrorContains(err, want))
		decoded["vpcId"], decoded[versionKey] = "vpc-1", float64(SchemaVersion)
	}
}

func TestFromOutputsOnAzure(t *testing.T) {
	_, outputs := sampleOn("azure", false)
	values, err := FromOutputs(outputs)
	assert.NilError(t, err)
	eachOf(reflect.ValueOf(&values).Elem(), "azure", func(key string, field reflect.Value) {
		assert.Check(t, !field.IsZero(), "%s was not read", key)
	})
	delete(outputs, "vnetId")
	_, err = FromOutputs(outputs)
	assert.Check(t, is.ErrorContains(err, "read hand-off: output vnetId of stack core is <nil>, expected string: run up for core again"))
}

func TestNetworks(t *testing.T) {
	vpc := Values{Cloud: "aws", AWS: AWSValues{VPCID: "vpc-1", VPCCIDR: "10.0.0.0/16", PrivateSubnetIDs: []string{"a", "b"}}}
	assert.DeepEqual(t, vpc.Network(), Network{Key: "vpc_id", ID: "vpc-1", Text: "vpc-1 (10.0.0.0/16), 2 private and 0 public subnets"})
	id := "/subscriptions/s/resourceGroups/network-team/providers/Microsoft.Network/virtualNetworks/shared"
	vnet := Values{Cloud: "azure", Azure: AzureValues{VNetID: id, VNetCIDR: "10.8.0.0/14", NodeSubnetID: id + "/subnets/aks"}}
	assert.DeepEqual(t, vnet.Network(), Network{Key: "network_id", ID: id, Text: "shared (10.8.0.0/14) in resource group network-team, subnet aks"})
	assert.DeepEqual(t, Values{Cloud: "acme"}.Network(), Network{})
}

// TestServicesOnAzure: a service's identity is its client id.
func TestServicesOnAzure(t *testing.T) {
	h := Handoff{Cloud: "azure"}.WithMaps(pulumi.StringMap{"shop": pulumi.String("c0")}, pulumi.StringMap{})
	of, err := Of("azure", map[string]any{"serviceClientIds": map[string]any{"shop": "c0"}})
	assert.NilError(t, err)
	for _, h := range []Handoff{h, of} {
		for service, want := range map[string]string{"shop": "c0", "none": ""} {
			found, err := internals.UnsafeAwaitOutput(t.Context(), h.ServiceIdentity(service))
			assert.NilError(t, err)
			assert.Equal(t, found.Value, want)
		}
	}
}

// TestKubeconfigOnAzure: kubelogin signs in as its environment says, and never asks a person.
func TestKubeconfigOnAzure(t *testing.T) {
	v := Values{Cloud: "azure", ClusterName: "demo", Region: "germanywestcentral", ClusterEndpoint: "https://k8s.example:443", ClusterCA: "Q0E="}
	_, err := v.Kubeconfig()
	assert.Error(t, err, `kubeconfig of cluster "demo": the tenant of Entra is required: set cloud.tenant`)
	const tenant = "00000000-0000-4000-8000-00000000000a"
	v.Azure.TenantID = tenant
	told, err := v.Kubeconfig()
	assert.NilError(t, err)
	v.Azure.TenantID, v.By.Tenant = "", tenant
	got, err := v.Kubeconfig()
	assert.NilError(t, err)
	assert.Equal(t, string(told), string(got))
	var read kubeconfig
	assert.NilError(t, yaml.Unmarshal(got, &read))
	assert.DeepEqual(t, *read.Users[0].User.Exec, execPlugin{
		APIVersion: "client.authentication.k8s.io/v1beta1", Command: "kubelogin", InteractiveMode: "Never",
		Args: []string{"get-token", "--server-id", "6dae42f8-4368-4678-94ff-3960e28e3630", "--environment", "AzurePublicCloud", "--tenant-id", tenant},
	})
}

func TestKubeconfigHoldsNoCredentials(t *testing.T) {
	v := Values{Cloud: "aws", ClusterName: "demo", Region: "eu-central-1", ClusterEndpoint: "https://k8s.example", ClusterCA: "Q0E="}
	got, err := v.Kubeconfig()
	assert.NilError(t, err)
	want := `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: Q0E=
    server: https://k8s.example
  name: demo
contexts:
- context:
    cluster: demo
    user: demo
  name: demo
current-context: demo
kind: Config
users:
- name: demo
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      args:
      - eks
      - get-token
      - --cluster-name
      - demo
      - --region
      - eu-central-1
      - --output
      - json
      command: aws
      interactiveMode: Never
`
	assert.Check(t, string(got) == want, "kubeconfig is\n%s\nexpected\n%s", got, want)
	if _, err := (Values{}).Kubeconfig(); err == nil || !strings.Contains(err.Error(), "name, region, endpoint and certificate authority are required") {
		t.Errorf("error %v for no values", err)
	}
}

// TestKubeconfigAssumesTheRole of the cluster file, and holds no credentials either.
func TestKubeconfigAssumesTheRole(t *testing.T) {
	v := Values{Cloud: "aws", ClusterName: "demo", Region: "eu-central-1", ClusterEndpoint: "https://k8s.example", ClusterCA: "Q0E="}
	v.By = config.Cloud{Profile: "ops", Region: "eu-central-1", AssumeRole: &config.AssumeRole{
		RoleARN: "arn:aws:iam::111122223333:role/tombolo", ExternalID: "acme", SessionName: "tombolo-demo",
	}}
	got, err := v.Kubeconfig()
	assert.NilError(t, err)
	var read kubeconfig
	assert.NilError(t, yaml.Unmarshal(got, &read))
	plugin := read.Users[0].User.Exec
	assert.Equal(t, plugin.Command, "sh")
	assert.Check(t, is.Contains(plugin.Args[1], "aws sts assume-role --profile ops --region eu-central-1 --role-arn arn:aws:iam::111122223333:role/tombolo --role-session-name tombolo-demo --external-id acme"))
	assert.DeepEqual(t, plugin.Args[3:], []string{"eks", "get-token", "--cluster-name", "demo", "--region", "eu-central-1", "--output", "json"})
}

// TestReference holds docs/reference/hand-off.md to the type.
func TestReference(t *testing.T) {
	golden.Assert(t, referencePage(t), "../../../docs/reference/hand-off.md")
}

func referencePage(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, `# The hand-off

<!-- Written by `+"`go test ./stacks/handoff -run TestReference -update`"+`; do not edit. -->

The hand-off is the outputs of the stack `+"`<name>-core`"+`, which bootstrap reads. Its version is %d, which is the output
`+"`%s`"+`; bootstrap refuses another version. `+"`tombolo outputs <name>`"+` prints the outputs. Outputs that core marks as secret
stay secret.

| output | value | meaning |
|---|---|---|
| `+"`%s`"+` | string | the provider of the cloud |
`, SchemaVersion, versionKey, cloudKey)
	table(t, &b, reflect.TypeFor[Handoff]())
	typ := reflect.TypeFor[Handoff]()
	for i := range typ.NumField() {
		if cloud, ok := typ.Field(i).Tag.Lookup("cloud"); ok {
			fmt.Fprintf(&b, "\nA cluster on `%s` also has these outputs:\n\n| output | value | meaning |\n|---|---|---|\n", cloud)
			table(t, &b, typ.Field(i).Type)
		}
	}
	return b.String()
}

// table writes a line for each output of a type.
func table(t *testing.T, b *strings.Builder, typ reflect.Type) {
	t.Helper()
	meanings := fieldComments(t, typ.Name())
	for i := range typ.NumField() {
		field := typ.Field(i)
		key := field.Tag.Get("output")
		if key == "" {
			continue // no output of its own
		}
		value := map[reflect.Kind]string{reflect.Slice: "list of strings", reflect.Map: "map of strings", reflect.String: "string"}[plain(field.Type).Kind()]
		assert.Assert(t, value != "" && meanings[field.Name] != "", "%s has a type or a comment that the reference does not know", field.Name)
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", key, value, meanings[field.Name])
	}
}

// fieldComments are the comments of a type's fields, without the name that
// each begins with.
func fieldComments(t *testing.T, typ string) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "handoff.go", nil, parser.ParseComments)
	assert.NilError(t, err)
	out := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || spec.Name.Name != typ {
			return true
		}
		for _, field := range spec.Type.(*ast.StructType).Fields.List {
			name := field.Names[0].Name
			text := strings.Join(strings.Fields(field.Doc.Text()), " ")
			for _, verb := range []string{" is ", " are "} {
				text = strings.TrimPrefix(text, name+verb)
			}
			out[name] = strings.ReplaceAll(strings.NewReplacer("<", `\<`, "|", `\|`).Replace(text), `""`, "empty")
		}
		return false
	})
	return out
}
