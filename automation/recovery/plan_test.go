package recovery

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/backend"
	"tombolo/automation/pulumicli"
	"tombolo/config"
	"tombolo/internal/names"
)

const demoURN = "urn:pulumi:demo-core::tombolo::"

func interruptedState(t *testing.T) *backend.State {
	t.Helper()
	raw, err := os.ReadFile("testdata/interrupted.json")
	assert.NilError(t, err)
	st, err := backend.ParseState("demo-core", apitype.UntypedDeployment{Version: 3, Deployment: raw})
	assert.NilError(t, err)
	return st
}

var demo = &config.Cluster{Name: "demo"}

// aCloud finds resources in a few ways.
type aCloud struct{ Cloud }

func (aCloud) Finder(token string) (Finder, bool) {
	byName := Finder{ID: func(in Inputs, _ *config.Cluster) string { return in.String("name") }}
	byTags := func(kind string) Finder {
		return Finder{Match: func(s Sighting, in Inputs) (string, bool) {
			_, id, ok := strings.Cut(s.CloudID, ":"+kind+"/")
			return id, ok && s.Tags["Name"] == in.Tags()["Name"]
		}}
	}
	f, ok := map[string]Finder{
		"aws:iam/role:Role":     byName,
		"aws:ec2/vpc:Vpc":       byTags("vpc"),
		"aws:ec2/eip:Eip":       byTags("elastic-ip"),
		"aws:ec2/subnet:Subnet": byTags("subnet"),
		"aws:efs/mountTarget:MountTarget": {
			Query: func(in Inputs) (Query, bool) {
				return Query{in.String("subnetId"), "EFS mount target for " + in.String("fileSystemId") + " (*)"}, true
			},
			Match: func(s Sighting, in Inputs) (string, bool) {
				_, id, ok := strings.Cut(s.Description, "EFS mount target for "+in.String("fileSystemId")+" (")
				return strings.TrimSuffix(id, ")"), ok && s.SubnetID == in.String("subnetId")
			},
		},
	}[token]
	return f, ok
}

func TestKubernetesIDs(t *testing.T) {
	for _, test := range []struct {
		token string
		in    Inputs
		want  string
	}{
		{"kubernetes:core/v1:ConfigMap", Inputs{"metadata": map[string]any{"name": "c", "namespace": "n"}}, "n/c"},
		{"kubernetes:core/v1:Namespace", Inputs{"metadata": map[string]any{"name": "n"}}, "n"},
		{"kubernetes:core/v1:Namespace", Inputs{}, ""},
	} {
		f, ok := finderFor(aCloud{}, test.token)
		assert.Check(t, ok && f.ID(test.in, demo) == test.want, "id of %s from %v is not %q", test.token, test.in, test.want)
	}
	_, ok := finderFor(aCloud{}, "kubernetes:core/v1:ConfigMapPatch")
	assert.Check(t, !ok, "a patch is found again")
}

// inTheCloud is what a look by tag finds.
func inTheCloud() []Sighting {
	ec2 := "arn:aws:ec2:eu-central-1:111122223333:"
	return []Sighting{
		{CloudID: ec2 + "vpc/vpc-0old", Tags: map[string]string{"Name": "demo-vpc"}},
		{CloudID: ec2 + "vpc/vpc-0new", Tags: map[string]string{"Name": "demo-vpc"}},
		{CloudID: ec2 + "vpc/vpc-0other", Tags: map[string]string{"Name": "other"}},
		{CloudID: ec2 + "elastic-ip/eipalloc-1", Tags: map[string]string{"Name": "demo-nat"}},
		{CloudID: ec2 + "elastic-ip/eipalloc-2", Tags: map[string]string{"Name": "demo-nat"}},
	}
}

func TestPlanRecovery(t *testing.T) {
	st := interruptedState(t)
	p := newPlan(aCloud{}, demo, st, 0)
	assert.Assert(t, p.needsLookup(), "nothing is looked up by tag")
	p.match(inTheCloud())
	want := map[resource.URN]string{
		demoURN + "aws:ec2/vpc:Vpc::demo-vpc":  "vpc-0new",
		demoURN + "aws:iam/role:Role::cluster": "demo-cluster",
	}
	assert.DeepEqual(t, p.adoptions(), want)
	refresh := []string{
		demoURN + "aws:ec2/vpc:Vpc::demo-vpc", demoURN + "aws:iam/role:Role::cluster", demoURN + "aws:iam/role:Role::nodes",
	}
	assert.DeepEqual(t, p.refresh(st), refresh)
	assert.Check(t, len(p.blind) == 2,
		"blind are %v, want the bucket of a type that nothing finds, and the role without its parent", p.blind)
}

func TestRecoveryReport(t *testing.T) {
	st := interruptedState(t)
	p := newPlan(aCloud{}, demo, st, 0)
	p.match(inTheCloud())
	after := &backend.State{Deployment: apitype.DeploymentV3{Resources: []apitype.ResourceV3{
		{URN: demoURN + "aws:ec2/vpc:Vpc::demo-vpc", ID: "vpc-0new"},
		{URN: demoURN + "aws:iam/role:Role::nodes", ID: "nodes"},
	}}}
	want := "recovered: 7 operations were interrupted; adopted aws:ec2/vpc:Vpc demo-vpc vpc-0new; " +
		"2 creations had not happened: aws:iam/role:Role cluster, aws:ec2/subnet:Subnet a; " +
		"2 creations are made again, as nothing tells whether it happened: aws:s3/bucket:Bucket b, aws:iam/role:Role child; " +
		"1 resource compared with the cloud: aws:iam/role:Role nodes; " +
		"aws:ec2/eip:Eip nat may be any of eipalloc-1, eipalloc-2: delete what is not needed"
	got := p.report(after)
	assert.Check(t, got == want, "report is\n%s, want\n%s", got, want)
	got = p.report(nil)
	assert.Check(t, strings.Contains(got, "; 1 resource is no longer there: aws:iam/role:Role nodes; "), "report is\n%s", got)
}

// TestMountTargetsAreFoundByTheirInterfaces, of which each subnet has others.
func TestMountTargetsAreFoundByTheirInterfaces(t *testing.T) {
	const a, b = demoURN + "aws:efs/mountTarget:MountTarget::a", demoURN + "aws:efs/mountTarget:MountTarget::b"
	creating := func(urn resource.URN, subnet string) apitype.OperationV2 {
		return apitype.OperationV2{Type: apitype.OperationTypeCreating, Resource: apitype.ResourceV3{
			URN: urn, Type: "aws:efs/mountTarget:MountTarget", Custom: true,
			Inputs: map[string]any{"fileSystemId": "fs-1", "subnetId": subnet},
		}}
	}
	p := newPlan(aCloud{}, demo, &backend.State{Deployment: apitype.DeploymentV3{
		PendingOperations: []apitype.OperationV2{creating(a, "subnet-a"), creating(b, "subnet-b")},
	}}, 0)
	want := []Query{{"subnet-a", "EFS mount target for fs-1 (*)"}, {"subnet-b", "EFS mount target for fs-1 (*)"}}
	got := p.queries()
	assert.Check(t, p.needsLookup() && slices.Equal(got, want), "interfaces are %v, want %v", got, want)
	p.match([]Sighting{
		{SubnetID: "subnet-a", Description: "EFS mount target for fs-1 (fsmt-a)"},
		{SubnetID: "subnet-a", Description: "EFS mount target for fs-12 (fsmt-other)"},
		{SubnetID: "subnet-b", Description: "ELB net/EFS"},
	})
	assert.DeepEqual(t, p.adoptions(), map[resource.URN]string{a: "fsmt-a"})
}

func TestAdoptKeepsWhatItDoesNotKnow(t *testing.T) {
	st := interruptedState(t)
	urn := resource.URN(demoURN + "aws:ec2/vpc:Vpc::demo-vpc")
	edited, err := adopt(st.Raw, map[resource.URN]string{urn: "vpc-0new"})
	assert.NilError(t, err)
	text := string(edited.Deployment)
	for _, part := range []string{`12345678901234567890`, `"salt":"v1:salt"`, `"id":"vpc-0new"`} {
		assert.Check(t, is.Contains(text, part))
	}
	after, err := backend.ParseState("demo-core", edited)
	assert.NilError(t, err)
	assert.Check(t, len(after.Deployment.PendingOperations) == 0 && len(after.Deployment.Resources) == 6,
		"%d pending operations and %d resources, want 0 and 6", len(after.Deployment.PendingOperations), len(after.Deployment.Resources))
	r, ok := after.Find(urn)
	assert.Check(t, ok && r.Inputs["cidrBlock"] == "10.0.0.0/16" && r.Provider != "", "adopted resource is %+v", r)
}

func TestAdoptReplacement(t *testing.T) {
	const urn = demoURN + "aws:ec2/vpc:Vpc::v"
	raw := json.RawMessage(`{"resources":[{"urn":"` + urn + `","id":"vpc-1","type":"aws:ec2/vpc:Vpc","custom":true}],
		"pending_operations":[{"type":"creating","resource":{"urn":"` + urn + `","type":"aws:ec2/vpc:Vpc","custom":true}}]}`)
	edited, err := adopt(apitype.UntypedDeployment{Deployment: raw}, map[resource.URN]string{urn: "vpc-2"})
	assert.NilError(t, err)
	after, err := backend.ParseState("demo-core", edited)
	assert.NilError(t, err)
	live, _ := after.Find(urn)
	assert.Check(t, live.ID == "vpc-2" && after.Deployment.Resources[0].Delete, "resources are %+v", after.Deployment.Resources)
}

func TestUnsettled(t *testing.T) {
	const urn = demoURN + "aws:eks/cluster:Cluster::c"
	for status, want := range map[string]string{"CREATING": "aws:eks/cluster:Cluster c", "ACTIVE": "", "pending": "aws:eks/cluster:Cluster c"} {
		st := &backend.State{Deployment: apitype.DeploymentV3{Resources: []apitype.ResourceV3{
			{URN: urn, Outputs: map[string]any{"status": status}},
		}}}
		got := unsettled(st, []string{urn})
		assert.Check(t, got == want, "status %s: unsettled = %q, want %q", status, got, want)
	}
}

// TestUnsettledOnAzure: a network that is being made is updating.
func TestUnsettledOnAzure(t *testing.T) {
	const urn = demoURN + "azure-native:network/v20190601:VirtualNetwork::v"
	for state, busy := range map[string]bool{"Updating": true, "Creating": true, "Deleting": true, "Succeeded": false, "Failed": false, "Canceled": false} {
		st := &backend.State{Deployment: apitype.DeploymentV3{Resources: []apitype.ResourceV3{
			{URN: urn, Outputs: map[string]any{"provisioningState": state}},
		}}}
		got := unsettled(st, []string{urn})
		assert.Check(t, (got != "") == busy, "state %s: unsettled = %q", state, got)
	}
}

func TestUnansweredCreations(t *testing.T) {
	rec := &pulumicli.Recorder{}
	for name, cause := range map[string]string{
		"lost":    "https response error StatusCode: 0, RequestID: , request send failed",
		"refused": "https response error StatusCode: 409, RequestID: x, EntityAlreadyExists: it exists",
	} {
		urn := "urn:pulumi:s::tombolo::aws:iam/role:Role::" + name
		rec.Record(events.EngineEvent{EngineEvent: apitype.EngineEvent{
			DiagnosticEvent: &apitype.DiagnosticEvent{URN: urn, Severity: "error", Message: cause},
		}})
		rec.FailedCreations = append(rec.FailedCreations, apitype.StepEventMetadata{
			URN: urn, Type: "aws:iam/role:Role", Op: apitype.OpCreate,
			New: &apitype.StepEventStateMetadata{Custom: true, Inputs: map[string]any{"name": name}},
		})
	}
	got := Unanswered(rec)
	assert.Assert(t, len(got) == 1 && got[0].New.Inputs["name"] == "lost", "unanswered are %+v", got)
	secret := got[0]
	secret.New = &apitype.StepEventStateMetadata{Custom: true, Inputs: map[string]any{"a": []any{names.Secret}}}
	raw, err := json.Marshal(apitype.DeploymentV3{Resources: []apitype.ResourceV3{
		{URN: "urn:pulumi:s::tombolo::pulumi:pulumi:Stack::demo-core", Type: backend.RootType},
		{URN: "urn:pulumi:s::tombolo::aws:ec2/vpc:Vpc::v", Type: "aws:ec2/vpc:Vpc", Custom: true, ID: "v"},
	}})
	assert.NilError(t, err)
	n := 0
	st, err := backend.ParseState("demo-core", apitype.UntypedDeployment{Version: 3, Deployment: raw})
	assert.NilError(t, err)
	if st, n, err = withUnanswered(st, append(got, secret)); err != nil {
		t.Fatal(err)
	}
	assert.Assert(t, n == 1 && len(st.Deployment.PendingOperations) == 1, "pending are %+v", st.Deployment.PendingOperations)
	r := st.Deployment.PendingOperations[0].Resource
	assert.DeepEqual(t, r.Dependencies, []resource.URN{"urn:pulumi:s::tombolo::aws:ec2/vpc:Vpc::v"})
	again, err := backend.ParseState("demo-core", st.Raw)
	assert.Check(t, err == nil && len(again.Deployment.PendingOperations) == 1 && again.Deployment.PendingOperations[0].Resource.URN == r.URN,
		"the raw state has %+v, %v", again.Deployment.PendingOperations, err)
}
