package export

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/golden"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/internal/names"
	"tombolo/tests/definition"
	"tombolo/tools/upstream/facts"
)

func cluster(name string, wave int, hub string) *config.Cluster {
	c := &config.Cluster{Name: name, Environment: "test", Wave: wave}
	c.Cloud.Region, c.Cloud.Account = "eu-central-1", "111122223333"
	c.GitOps.Engine = config.Flux
	if hub != "" {
		c.GitOps.Engine, c.GitOps.Hub = config.ArgoCD, hub
	}
	return c
}

// some are a hub with spokes in its own wave and the next, and two with an engine
// of their own, of which one is protected.
func some() []*config.Cluster {
	kept := cluster("ledger", 1, "")
	kept.Protect = true
	return []*config.Cluster{
		cluster("mgmt", 0, "mgmt"), cluster("canary", 0, ""), cluster("near", 0, "mgmt"),
		cluster("shop", 1, "mgmt"), kept,
	}
}

// run runs the group on clusters, and returns what it writes.
func run(t *testing.T, clusters []*config.Cluster, output render.Format, backend string, args ...string) (string, error) {
	t.Helper()
	f, load := clitest.New(t, output), clitest.Clusters(clusters...)
	f.Globals.Backend = backend
	matrix := NewCmdMatrix(f.Factory, func(_ context.Context, o *MatrixOptions) error { o.Clusters = load; return matrixRun(t.Context(), o) })
	operator := NewCmdOperator(f.Factory, func(_ context.Context, o *OperatorOptions) error {
		o.Clusters = load
		return operatorRun(t.Context(), o)
	})
	cmd := matrix
	if args[0] == "operator" {
		cmd = operator
	}
	err := clitest.Execute(t, cmd, args[1:]...)
	return f.Out.String(), err
}

func TestMatrix(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"all":            {[]string{"--all"}, "canary/0 mgmt/0 near/1 ledger/2 shop/2"},
		"destruction":    {[]string{"--all", "--destroy"}, "ledger/0 shop/0 canary/1 near/1 mgmt/2"},
		"one wave":       {[]string{"--wave", "1"}, "ledger/0 shop/0"},
		"one stage":      {[]string{"--all", "--stage", "1"}, "near/1"},
		"no such stage":  {[]string{"--all", "--stage", "9"}, ""},
		"the first only": {[]string{"--all", "--stage", "0"}, "canary/0 mgmt/0"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := run(t, some(), render.Plain, "", append([]string{"matrix"}, tt.args...)...)
			assert.NilError(t, err)
			var m matrix
			if err := json.Unmarshal([]byte(out), &m); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			var got []string
			for _, e := range m.Include {
				got = append(got, e.Cluster+"/"+string(rune('0'+e.Stage)))
			}
			if got := strings.Join(got, " "); !sameStages(got, tt.want) {
				t.Errorf("jobs %q, want %q", got, tt.want)
			}
			if m.Include == nil || strings.Count(out, "\n") != 1 {
				t.Errorf("it is no line with a list: %q", out)
			}
		})
	}
	out, err := run(t, some()[:1], render.Plain, "", "matrix", "--all")
	want := `{"include":[{"cluster":"mgmt","environment":"test","region":"eu-central-1","account":"111122223333","wave":0,"stage":0,"hub":"mgmt"}]}` + "\n"
	if err != nil || out != want {
		t.Errorf("wrote %q, error %v, want %q", out, err, want)
	}
	if _, err := run(t, some(), render.Plain, "", "matrix", "--all", "--stage", "-1"); err == nil || !strings.Contains(err.Error(), "--stage is -1") {
		t.Errorf("a stage below 0: %v", err)
	}
}

// sameStages compares without the order inside a stage.
func sameStages(got, want string) bool {
	sets := func(s string) map[string]bool {
		out := map[string]bool{}
		for f := range strings.FieldsSeq(s) {
			out[f] = true
		}
		return out
	}
	order := func(s string) (out string) {
		for f := range strings.FieldsSeq(s) {
			out += f[len(f)-1:]
		}
		return out
	}
	return cmp.Equal(sets(got), sets(want)) && order(got) == order(want)
}

func operatorArgs(more ...string) []string {
	return append([]string{
		"operator", "--all", "--image", "registry.example/tombolo:1.4.0",
		"--repo", "https://git.example.com/clusters.git", "--branch", "main",
	}, more...)
}

func TestOperator(t *testing.T) {
	fromGit, err := run(t, some(), render.Plain, "s3://acme-state?region=eu-central-1", operatorArgs(
		"--git-secret", "clusters-git", "--env-secret", "tombolo-env", "--role-arn", "arn:aws:iam::111122223333:role/tombolo-apply")...)
	assert.NilError(t, err)
	golden.Assert(t, fromGit, "operator-git.yaml")
	fromImage, err := run(t, some()[1:2], render.Plain, "", "operator", "canary", "--image", "registry.example/tombolo:1.4.0",
		"--image-dir", "/project", "--organization", "acme", "--namespace", "infra")
	assert.NilError(t, err)
	golden.Assert(t, fromImage, "operator-image.yaml")
	for _, out := range []string{fromGit, fromImage} {
		for _, object := range decode(t, out) {
			checkObject(t, object)
		}
	}
}

// decode reads every object strictly, as its type.
func decode(t *testing.T, text string) []metav1.Object {
	t.Helper()
	types := map[string]func() metav1.Object{
		"ServiceAccount":                   func() metav1.Object { return new(corev1.ServiceAccount) },
		"ClusterRoleBinding":               func() metav1.Object { return new(rbacv1.ClusterRoleBinding) },
		"ValidatingAdmissionPolicy":        func() metav1.Object { return new(admissionv1.ValidatingAdmissionPolicy) },
		"ValidatingAdmissionPolicyBinding": func() metav1.Object { return new(admissionv1.ValidatingAdmissionPolicyBinding) },
		"Stack":                            func() metav1.Object { return new(stack) },
	}
	var out []metav1.Object
	reader := kyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return out
		}
		assert.NilError(t, err)
		var kind metav1.TypeMeta
		assert.NilError(t, yaml.Unmarshal(document, &kind))
		object := types[kind.Kind]()
		if err := yaml.UnmarshalStrict(document, object); err != nil {
			t.Fatalf("%s: %v\n%s", kind.Kind, err, document)
		}
		out = append(out, object)
	}
}

// checkObject asserts what every Stack has to have.
func checkObject(t *testing.T, object metav1.Object) {
	t.Helper()
	s, ok := object.(*stack)
	if !ok {
		return
	}
	if s.APIVersion != "pulumi.com/v1" || s.Spec.WorkspaceTemplate.Spec.Image == "" || s.Spec.ServiceAccountName == "" {
		t.Errorf("%s: %+v", s.Name, s)
	}
	if protected := s.Labels[names.ClusterLabel] == "ledger"; s.Spec.DestroyOnFinalize == protected {
		t.Errorf("%s: destroyOnFinalize is %t", s.Name, s.Spec.DestroyOnFinalize)
	}
}

// TestOperatorOrder: nothing waits for itself, and all of a wave wait for the one
// before.
func TestOperatorOrder(t *testing.T) {
	out, err := run(t, some(), render.Plain, "", operatorArgs()...)
	assert.NilError(t, err)
	got := map[string]string{}
	for _, object := range decode(t, out) {
		if s, ok := object.(*stack); ok {
			var names []string
			for _, p := range s.Spec.Prerequisites {
				names = append(names, p.Name)
			}
			got[s.Name] = strings.Join(names, " ")
		}
	}
	first := "canary-bootstrap mgmt-bootstrap near-bootstrap"
	want := map[string]string{
		"mgmt-core": "", "mgmt-bootstrap": "mgmt-core", "canary-core": "", "canary-bootstrap": "canary-core",
		"near-core": "", "near-bootstrap": "near-core mgmt-bootstrap",
		"shop-core": first, "shop-bootstrap": "shop-core mgmt-bootstrap",
		"ledger-core": first, "ledger-bootstrap": "ledger-core",
	}
	for name := range got {
		if strings.HasSuffix(name, "-core") && got[name] != "" && len(strings.Fields(got[name])) == 3 {
			got[name] = first // in whichever order
		}
	}
	assert.Check(t, is.DeepEqual(got, want))
}

func TestOperatorAsJSON(t *testing.T) {
	out, err := run(t, some()[1:2], render.JSON, "", operatorArgs()...)
	assert.NilError(t, err)
	var list struct {
		Kind  string            `json:"kind"`
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil || list.Kind != "List" || len(list.Items) != 6 {
		t.Errorf("%v, kind %s with %d items", err, list.Kind, len(list.Items))
	}
}

func TestOperatorRefusals(t *testing.T) {
	long := cluster(strings.Repeat("a", 33), 0, "")
	for want, tt := range map[string]struct {
		clusters []*config.Cluster
		backend  string
		args     []string
	}{
		"no --image": {args: []string{"operator", "--all"}},
		"the project comes from Git or from the image":                    {args: []string{"operator", "--all", "--image", "i"}},
		"--branch, --commit, --dir, --git-secret and --program are about": {args: []string{"operator", "--all", "--image", "i", "--image-dir", "/p", "--branch", "main"}},
		`--image-dir is "p"`: {args: []string{"operator", "--all", "--image", "i", "--image-dir", "p"}},
		"the repository is followed by its branch, or stays at a commit": {args: operatorArgs("--commit", "abc")},
		"--backend is file:///state, a directory of this machine":        {backend: "file:///state", args: operatorArgs()},
		"has 43 characters, and the operator takes 42":                   {clusters: []*config.Cluster{long}, args: operatorArgs()},
		"no cluster": {args: []string{"operator", "--image", "i"}},
	} {
		clusters := tt.clusters
		if clusters == nil {
			clusters = some()
		}
		_, err := run(t, clusters, render.Plain, tt.backend, tt.args...)
		assert.Check(t, is.ErrorContains(err, want))
		if f := new(fault.Error); !errors.As(err, &f) {
			t.Errorf("%v is of no class", err)
		}
	}
}

// The project as it is in Git says where its program is built. In a pod there is
// the image's, and the Pulumi engine is to run that one.
func TestPlaceProgram(t *testing.T) {
	project := t.TempDir()
	pulumiYAML, err := os.ReadFile("../../../../Pulumi.yaml")
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(filepath.Join(project, "Pulumi.yaml"), pulumiYAML, 0o644))
	program := filepath.Join(t.TempDir(), names.Program)
	for range 2 { // a pod's init container may run again
		if out, err := exec.CommandContext(t.Context(), "sh", "-c", placeProgramScript, "sh", program, project).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	text, err := os.ReadFile(filepath.Join(project, "Pulumi.yaml"))
	assert.NilError(t, err)
	var got struct {
		Runtime struct{ Options map[string]string }
	}
	assert.NilError(t, yaml.Unmarshal(text, &got))
	assert.Check(t, got.Runtime.Options["buildTarget"] == "", "the program is built: %v", got.Runtime.Options)
	assert.Check(t, is.Equal(got.Runtime.Options["binary"], program))
}

// TestOperatorInAzure: the stacks of a cluster in Azure, and those of a cluster in AWS whose hub
// is there, sign in by the service account's identity. Those of other clusters do not.
func TestOperatorInAzure(t *testing.T) {
	const client, tenant = "00000000-0000-4000-8000-0000000000c1", "00000000-0000-4000-8000-00000000000a"
	aks := func(c *config.Cluster) *config.Cluster {
		c.Cloud = config.Cloud{Provider: config.Azure, Region: "germanywestcentral", Account: "00000000-0000-4000-8000-000000000001", Tenant: tenant}
		return c
	}
	mixed := []*config.Cluster{aks(cluster("hub", 0, "hub")), cluster("spoke", 0, "hub"), cluster("alone", 0, "")}
	out, err := run(t, mixed, render.Plain, "", operatorArgs("--client-id", client, "--role-arn", "arn:aws:iam::111122223333:role/tombolo-apply")...)
	assert.NilError(t, err)
	assert.Check(t, is.Contains(out, "azure.workload.identity/client-id: "+client))
	assert.Check(t, is.Contains(out, "eks.amazonaws.com/role-arn: arn:aws"))
	upstream, _, err := facts.Definition("Stack.pulumi.com/v1")
	assert.NilError(t, err)
	for _, s := range stacksOf(t, out) {
		refusals, err := definition.Refusals(upstream, s.Object)
		assert.NilError(t, err)
		assert.Check(t, is.Len(refusals, 0), s.GetName())
		text, err := yaml.Marshal(s.Object)
		assert.NilError(t, err)
		inAzure := s.GetLabels()[names.ClusterLabel] != "alone"
		for _, want := range []string{`azure.workload.identity/use: "true"`, "value: " + tenant, "value: " + client, "value: workloadidentity"} {
			assert.Check(t, is.Equal(strings.Contains(string(text), want), inAzure), "%s: %s", s.GetName(), want)
		}
	}

	for name, tt := range map[string]struct {
		clusters []*config.Cluster
		flag     []string
		want     string
	}{
		"a role, and no cluster in AWS":        {mixed[:1], []string{"--role-arn", "arn:aws:iam::111122223333:role/tombolo-apply"}, "--role-arn is about AWS, and all clusters are in Azure"},
		"an identity, and no cluster in Azure": {mixed[2:], []string{"--client-id", client}, "--client-id is about Azure, and no cluster is there"},
	} {
		_, err := run(t, tt.clusters, render.Plain, "", operatorArgs(tt.flag...)...)
		assert.Check(t, is.ErrorContains(err, tt.want), name)
	}
}
