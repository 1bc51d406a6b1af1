package infraconfig

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/golden"

	"tombolo/components/recorder"
	"tombolo/internal/names"
)

const token = "kubernetes:core/v1:ConfigMap"

func facts(cloud string) Facts {
	out := Facts{}
	for _, k := range names.InfraKeys(cloud, map[string]string{
		"vpc_id": "vpc-1", "private_subnet_ids": "subnet-1,subnet-2", "public_subnet_ids": "",
	}) {
		out[k.Name] = pulumi.String(k.Example)
	}
	return out
}

func run(args *InfraConfigArgs) (*recorder.Recorder, error) {
	return recorder.Make("demo-bootstrap", "demo", NewInfraConfig, args)
}

func TestConfigMaps(t *testing.T) {
	r, err := run(&InfraConfigArgs{
		Cloud: names.AWSCloud, Namespace: "flux-system", Facts: facts(names.AWSCloud), Extra: map[string]string{"domain": "demo.example"},
		Labels: map[string]string{"tier": "test"}, Annotations: map[string]string{"owner": "platform"},
		Services: []Service{{
			Name: "external-dns", Namespace: "dns", ServiceAccount: "external-dns", RoleARN: pulumi.String("arn:role"),
			Values: map[string]any{"serviceAccount": map[string]any{"labels": map[string]any{"x": "y"}}, "region": "over"},
		}},
	})
	assert.NilError(t, err)
	assert.Check(t, is.Len(r.Problems(), 0))
	general, _ := r.Named(token, "demo-general")
	for path, want := range map[string]string{
		"metadata.name": "infra-config", "metadata.namespace": "flux-system", "metadata.labels.tier": "test", "metadata.annotations.owner": "platform",
		"data.vpc_id": "vpc-1", "data.private_subnet_ids": "subnet-1,subnet-2", "data.public_subnet_ids": "", "data.domain": "demo.example",
	} {
		assert.Check(t, is.Equal(general.String(path), want), path)
	}
	for _, key := range names.InfraKeyNames(names.AWSCloud) {
		_, ok := general.Value("data." + key)
		assert.Check(t, ok, "key %s is not published", key)
	}
	service, _ := r.Named(token, "demo-external-dns")
	assert.Check(t, is.Equal(service.String("metadata.namespace")+"/"+service.String("metadata.name"), "dns/external-dns-values"))
	want := `accountId: "111122223333"
clusterName: demo
region: over
serviceAccount:
  annotations:
    eks.amazonaws.com/role-arn: arn:role
  create: true
  labels:
    x: "y"
  name: external-dns
vpcId: vpc-1
`
	assert.Check(t, is.Equal(service.String(`data["values.yaml"]`), want))
}

// TestConfigMapsOnAzure: other keys, and workload identity, of which the pods of a service have a
// label.
func TestConfigMapsOnAzure(t *testing.T) {
	r, err := run(&InfraConfigArgs{
		Cloud: names.AzureCloud, Namespace: "flux-system", Facts: facts(names.AzureCloud), Extra: map[string]string{"vpc_id": "free here"},
		Services: []Service{
			{Name: "external-dns", Namespace: "dns", ServiceAccount: "external-dns", ClientID: pulumi.String("c0")},
			{Name: "plain", Namespace: "dns"},
		},
	})
	assert.NilError(t, err)
	general, _ := r.Named(token, "demo-general")
	for _, key := range names.InfraKeyNames(names.AzureCloud) {
		_, ok := general.Value("data." + key)
		assert.Check(t, ok, "key %s is not published", key)
	}
	service, _ := r.Named(token, "demo-external-dns")
	want := `accountId: 00000000-0000-4000-8000-000000000001
clusterName: demo
podLabels:
  azure.workload.identity/use: "true"
region: germanywestcentral
serviceAccount:
  annotations:
    azure.workload.identity/client-id: c0
  create: true
  name: external-dns
tenantId: 00000000-0000-4000-8000-00000000000a
vnetId: /subscriptions/00000000-0000-4000-8000-000000000001/resourceGroups/demo/providers/Microsoft.Network/virtualNetworks/demo
`
	assert.Check(t, is.Equal(service.String(`data["values.yaml"]`), want))
	plain, _ := r.Named(token, "demo-plain")
	assert.Check(t, !strings.Contains(plain.String(`data["values.yaml"]`), "podLabels"))
}

func TestInfraConfigValidate(t *testing.T) {
	recorder.Refuses(t, "demo", NewInfraConfig, "infra config demo: ", func() *InfraConfigArgs {
		return &InfraConfigArgs{Cloud: names.AWSCloud, Namespace: "flux-system", Facts: facts(names.AWSCloud)}
	}, map[string]func(*InfraConfigArgs){
		"a namespace is required":                                              func(a *InfraConfigArgs) { a.Namespace = "" },
		"fact vpc_id is missing":                                               func(a *InfraConfigArgs) { delete(a.Facts, "vpc_id") },
		`cloud "acme" has no keys`:                                             func(a *InfraConfigArgs) { a.Cloud = "acme" },
		"fact tenant_id is no key of the infra ConfigMap":                      func(a *InfraConfigArgs) { a.Facts["tenant_id"] = pulumi.String("x") },
		"fact vpcid is no key of the infra ConfigMap":                          func(a *InfraConfigArgs) { a.Facts["vpcid"] = pulumi.String("x") },
		"key vpc_id is published from the infrastructure; choose another name": func(a *InfraConfigArgs) { a.Extra = map[string]string{"vpc_id": "x"} },
		`key "my-key" cannot be a variable; use letters, digits and _`:         func(a *InfraConfigArgs) { a.Extra = map[string]string{"my-key": "x"} },
		"a service needs a name and a namespace":                               func(a *InfraConfigArgs) { a.Services = []Service{{Name: "x"}} },
		"a service is given twice": func(a *InfraConfigArgs) {
			a.Services = []Service{{Name: "x", Namespace: "y"}, {Name: "x", Namespace: "z"}}
		},
	})
}

// TestReference keeps docs/reference/infra-config.md in step with names.InfraKeys.
func TestReference(t *testing.T) {
	var b strings.Builder
	b.WriteString("# The infra ConfigMap\n\n<!-- Written by `go test ./components/infraconfig -update`; do not edit. -->\n\n")
	fmt.Fprintf(&b, "The ConfigMap `%s` holds values of the infrastructure. It is in the namespace `flux-system`, with Argo CD in `argocd`, and on a spoke in `tombolo`. "+
		"With Flux, a manifest uses a key as `${key}`. With Argo CD, each key is an annotation of the cluster's registration.\n\n", names.InfraConfig)
	for _, cloud := range []string{names.AWSCloud, names.AzureCloud} {
		fmt.Fprintf(&b, "A cluster on `%s` has these keys:\n\n| key | meaning | example |\n|---|---|---|\n", cloud)
		for _, k := range names.InfraKeys(cloud, nil) {
			fmt.Fprintf(&b, "| `%s` | %s | `%s` |\n", k.Name, k.Description, k.Example)
		}
		b.WriteString("\n")
	}
	b.WriteString("The cluster file's `values` add keys; they cannot replace the keys above.\n\n")
	fmt.Fprintf(&b, "## Values of a service\n\nThe ConfigMap `<service>-values` in the service's namespace holds Helm values under the key `%s`, for a HelmRelease's `valuesFrom`:\n\n", names.ValuesKey)
	b.WriteString("| value | meaning |\n|---|---|\n| `clusterName` | Name of the cluster. |\n| `region` | Region of the cluster. |\n| `accountId` | Account of the cluster. |\n| `vpcId` | On AWS: id of the VPC. |\n" +
		"| `tenantId` | On Azure: tenant of the subscription. |\n| `vnetId` | On Azure: id of the VNet. |\n" +
		"| `serviceAccount` | `create`, `name` and, for IRSA, the annotation with the role, for workload identity the one with the client id; only for a service with an identity. |\n" +
		"| `podLabels` | For workload identity: the label without which pods do not get the identity. |\n" +
		"\nThe service's own `values` in the cluster file are merged over them: maps by key; other values replace.\n")
	golden.Assert(t, b.String(), "../../../docs/reference/infra-config.md")
}
