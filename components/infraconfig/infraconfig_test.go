package infraconfig

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/recorder"
)

var update = flag.Bool("update", false, "rewrite golden files")

const token = "kubernetes:core/v1:ConfigMap"

func facts() Facts {
	s := func(v string) pulumi.StringInput { return pulumi.String(v) }
	return Facts{
		ClusterName: s("demo"), Environment: s("dev"), Cloud: s("aws"), Region: s("eu-central-1"), AccountID: s("111122223333"), Partition: s("aws"),
		ClusterARN: s("arn:c"), ClusterEndpoint: s("https://k8s"), ClusterVersion: s("1.35"),
		OIDCIssuer: s("https://oidc"), OIDCProviderARN: s("arn:oidc"), VPCID: s("vpc-1"), VPCCIDR: s("10.0.0.0/16"),
		PrivateSubnetIDs: pulumi.ToStringArray([]string{"subnet-1", "subnet-2"}), PublicSubnetIDs: pulumi.ToStringArray(nil),
		ClusterSecurityGroupID: s("sg-1"), NodeRoleARN: s("arn:node"), GitOpsPath: s("clusters/demo"),
	}
}

func run(t *testing.T, args *InfraConfigArgs) (*recorder.Recorder, error) {
	t.Helper()
	r := &recorder.Recorder{}
	return r, r.Run("demo-bootstrap", func(ctx *pulumi.Context) error {
		_, err := NewInfraConfig(ctx, "demo", args)
		return err
	})
}

func TestConfigMaps(t *testing.T) {
	r, err := run(t, &InfraConfigArgs{
		Namespace: "flux-system", Facts: facts(), Extra: map[string]string{"domain": "demo.example"},
		Labels: map[string]string{"tier": "test"}, Annotations: map[string]string{"owner": "platform"},
		Services: []Service{{
			Name: "external-dns", Namespace: "dns", ServiceAccount: "external-dns", RoleARN: pulumi.String("arn:role"),
			Values: map[string]any{"serviceAccount": map[string]any{"labels": map[string]any{"x": "y"}}, "region": "over"},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if problems := r.Problems(); len(problems) > 0 {
		t.Errorf("problems: %v", problems)
	}
	general, _ := r.Named(token, "demo-general")
	for path, want := range map[string]string{
		"metadata.name": "infra-config", "metadata.namespace": "flux-system", "metadata.labels.tier": "test", "metadata.annotations.owner": "platform",
		"data.vpc_id": "vpc-1", "data.private_subnet_ids": "subnet-1,subnet-2", "data.public_subnet_ids": "", "data.domain": "demo.example",
	} {
		if got := general.String(path); got != want {
			t.Errorf("%s is %q, expected %q", path, got, want)
		}
	}
	for _, k := range Keys() {
		if _, ok := general.Value("data." + k.Name); !ok {
			t.Errorf("key %s is not published", k.Name)
		}
	}
	service, _ := r.Named(token, "demo-external-dns")
	if got := service.String("metadata.namespace") + "/" + service.String("metadata.name"); got != "dns/external-dns-values" {
		t.Errorf("the service's ConfigMap is %s", got)
	}
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
	if got := service.String(`data["values.yaml"]`); got != want {
		t.Errorf("values are\n%s\nexpected\n%s", got, want)
	}
}

func TestInfraConfigValidate(t *testing.T) {
	for want, change := range map[string]func(*InfraConfigArgs){
		"a namespace is required": func(a *InfraConfigArgs) { a.Namespace = "" },
		"fact VPCID is missing":   func(a *InfraConfigArgs) { a.Facts.VPCID = nil },
		"key vpc_id is published from the infrastructure; choose another name": func(a *InfraConfigArgs) { a.Extra = map[string]string{"vpc_id": "x"} },
		`key "my-key" cannot be a variable; use letters, digits and _`:         func(a *InfraConfigArgs) { a.Extra = map[string]string{"my-key": "x"} },
		"a service needs a name and a namespace":                               func(a *InfraConfigArgs) { a.Services = []Service{{Name: "x"}} },
		"a service is given twice": func(a *InfraConfigArgs) {
			a.Services = []Service{{Name: "x", Namespace: "y"}, {Name: "x", Namespace: "z"}}
		},
	} {
		args := &InfraConfigArgs{Namespace: "flux-system", Facts: facts()}
		change(args)
		if _, err := run(t, args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected %q", err, want)
		}
	}
}

// TestReference keeps docs/reference/infra-config.md in step with Keys.
func TestReference(t *testing.T) {
	var b strings.Builder
	b.WriteString("# The infra ConfigMap\n\n<!-- Written by `go test ./components/infraconfig -update`; do not edit. -->\n\n")
	fmt.Fprintf(&b, "The ConfigMap `%s` holds what the infrastructure knows about the cluster. It is in `flux-system`, with Argo CD in `argocd`, on a spoke in `tombolo`. "+
		"Manifests of a tree for Flux use a key as `${key}`; Argo CD's templates find each key among the annotations of the cluster's registration.\n\n", Name)
	b.WriteString("| key | meaning | example |\n|---|---|---|\n")
	for _, k := range Keys() {
		fmt.Fprintf(&b, "| `%s` | %s | `%s` |\n", k.Name, k.Description, k.Example)
	}
	b.WriteString("\nThe cluster file's `values` add keys; they cannot replace these.\n\n")
	fmt.Fprintf(&b, "## Values of a service\n\nThe ConfigMap `<service>-values` in the service's namespace holds Helm values under the key `%s`, for a HelmRelease's `valuesFrom`:\n\n", ValuesKey)
	b.WriteString("| value | meaning |\n|---|---|\n| `clusterName` | Name of the cluster. |\n| `region` | Region of the cluster. |\n| `accountId` | Account of the cluster. |\n| `vpcId` | Id of the VPC. |\n" +
		"| `serviceAccount` | `create`, `name` and, for IRSA, the annotation with the role; only for a service with an identity. |\n" +
		"\nThe service's own `values` in the cluster file are merged over them: maps key by key, all else by replacement.\n")
	path := filepath.Join("..", "..", "docs", "reference", "infra-config.md")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != b.String() {
		t.Errorf("%s is not up to date: run go test ./components/infraconfig -update", path)
	}
}
