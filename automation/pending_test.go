package automation

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"tombolo/automation/backend"
	"tombolo/config"
)

const demoURN = "urn:pulumi:demo-core::tombolo::"

func interruptedState(t *testing.T) *backend.State {
	t.Helper()
	raw, err := os.ReadFile("testdata/interrupted.json")
	if err != nil {
		t.Fatal(err)
	}
	st, err := backend.ParseState("demo-core", apitype.UntypedDeployment{Version: 3, Deployment: raw})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// inTheCloud is what a look by tag finds.
func inTheCloud() []sighting {
	ec2 := "arn:aws:ec2:eu-central-1:111122223333:"
	return []sighting{
		{ARN: ec2 + "vpc/vpc-0old", Tags: map[string]string{"Name": "demo-vpc"}},
		{ARN: ec2 + "vpc/vpc-0new", Tags: map[string]string{"Name": "demo-vpc"}},
		{ARN: ec2 + "vpc/vpc-0other", Tags: map[string]string{"Name": "other"}},
		{ARN: ec2 + "elastic-ip/eipalloc-1", Tags: map[string]string{"Name": "demo-nat"}},
		{ARN: ec2 + "elastic-ip/eipalloc-2", Tags: map[string]string{"Name": "demo-nat"}},
	}
}

func TestPlanRecovery(t *testing.T) {
	plan := planRecovery(interruptedState(t), scopeOf(demo()), 0)
	if !plan.needsLookup() {
		t.Fatal("nothing is looked up by tag")
	}
	plan.match(inTheCloud())
	want := map[resource.URN]string{
		demoURN + "aws:ec2/vpc:Vpc::demo-vpc":  "vpc-0new",
		demoURN + "aws:iam/role:Role::cluster": "demo-cluster",
	}
	if diff := cmp.Diff(want, plan.adoptions()); diff != "" {
		t.Errorf("adoptions (-want +got):\n%s", diff)
	}
	refresh := []string{
		demoURN + "aws:ec2/vpc:Vpc::demo-vpc", demoURN + "aws:iam/role:Role::cluster", demoURN + "aws:iam/role:Role::nodes",
	}
	if diff := cmp.Diff(refresh, plan.refresh()); diff != "" {
		t.Errorf("refresh (-want +got):\n%s", diff)
	}
	if len(plan.blind) != 2 {
		t.Errorf("blind are %v, want the bucket of a type that nothing finds, and the role without its parent", plan.blind)
	}
}

func TestRecoveryReport(t *testing.T) {
	st := interruptedState(t)
	plan := planRecovery(st, scopeOf(demo()), 0)
	plan.match(inTheCloud())
	after := &backend.State{Deployment: apitype.DeploymentV3{Resources: []apitype.ResourceV3{
		{URN: demoURN + "aws:ec2/vpc:Vpc::demo-vpc", ID: "vpc-0new"},
		{URN: demoURN + "aws:iam/role:Role::nodes", ID: "nodes"},
	}}}
	want := "recovered: 7 operations were interrupted; adopted aws:ec2/vpc:Vpc demo-vpc vpc-0new; " +
		"2 creations had not happened: aws:iam/role:Role cluster, aws:ec2/subnet:Subnet a; " +
		"2 creations are made again, as nothing tells whether it happened: aws:s3/bucket:Bucket b, aws:iam/role:Role child; " +
		"1 resource compared with the cloud: aws:iam/role:Role nodes; " +
		"aws:ec2/eip:Eip nat may be any of eipalloc-1, eipalloc-2: delete what is not needed"
	if got := plan.report(after); got != want {
		t.Errorf("report is\n%s, want\n%s", got, want)
	}
	if got := plan.report(nil); !strings.Contains(got, "; 1 resource is no longer there: aws:iam/role:Role nodes; ") {
		t.Errorf("report is\n%s", got)
	}
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
	plan := planRecovery(&backend.State{Deployment: apitype.DeploymentV3{
		PendingOperations: []apitype.OperationV2{creating(a, "subnet-a"), creating(b, "subnet-b")},
	}}, scopeOf(demo()), 0)
	want := []interfaceQuery{{"subnet-a", "EFS mount target for fs-1 (*)"}, {"subnet-b", "EFS mount target for fs-1 (*)"}}
	if got := plan.interfaces(); !plan.needsLookup() || !slices.Equal(got, want) {
		t.Errorf("interfaces are %v, want %v", got, want)
	}
	plan.match([]sighting{
		{SubnetID: "subnet-a", Description: "EFS mount target for fs-1 (fsmt-a)"},
		{SubnetID: "subnet-a", Description: "EFS mount target for fs-12 (fsmt-other)"},
		{SubnetID: "subnet-b", Description: "ELB net/EFS"},
	})
	if diff := cmp.Diff(map[resource.URN]string{a: "fsmt-a"}, plan.adoptions()); diff != "" {
		t.Errorf("adoptions (-want +got):\n%s", diff)
	}
}

func TestAdoptKeepsWhatItDoesNotKnow(t *testing.T) {
	st := interruptedState(t)
	urn := resource.URN(demoURN + "aws:ec2/vpc:Vpc::demo-vpc")
	edited, err := adopt(st.Raw, map[resource.URN]string{urn: "vpc-0new"})
	if err != nil {
		t.Fatal(err)
	}
	text := string(edited.Deployment)
	for _, part := range []string{`12345678901234567890`, `"salt":"v1:salt"`, `"id":"vpc-0new"`} {
		if !strings.Contains(text, part) {
			t.Errorf("%s is missing in %s", part, text)
		}
	}
	after, err := backend.ParseState("demo-core", edited)
	if err != nil {
		t.Fatal(err)
	}
	if len(after.Deployment.PendingOperations) > 0 || len(after.Deployment.Resources) != 5 {
		t.Errorf("%d pending operations and %d resources, want 0 and 5",
			len(after.Deployment.PendingOperations), len(after.Deployment.Resources))
	}
	if r, ok := after.Find(urn); !ok || r.Inputs["cidrBlock"] != "10.0.0.0/16" || r.Provider == "" {
		t.Errorf("adopted resource is %+v", r)
	}
}

func TestAdoptReplacement(t *testing.T) {
	const urn = demoURN + "aws:ec2/vpc:Vpc::v"
	raw := json.RawMessage(`{"resources":[{"urn":"` + urn + `","id":"vpc-1","type":"aws:ec2/vpc:Vpc","custom":true}],
		"pending_operations":[{"type":"creating","resource":{"urn":"` + urn + `","type":"aws:ec2/vpc:Vpc","custom":true}}]}`)
	edited, err := adopt(apitype.UntypedDeployment{Deployment: raw}, map[resource.URN]string{urn: "vpc-2"})
	if err != nil {
		t.Fatal(err)
	}
	after, err := backend.ParseState("demo-core", edited)
	if err != nil {
		t.Fatal(err)
	}
	live, _ := after.Find(urn)
	if live.ID != "vpc-2" || !after.Deployment.Resources[0].Delete {
		t.Errorf("resources are %+v", after.Deployment.Resources)
	}
}

func TestUpRecoversInterruptedCreations(t *testing.T) {
	b := newBench(t)
	b.cli.states["demo-core"] = interruptedState(t).Deployment
	b.lookup = func(context.Context, *config.Cluster, []interfaceQuery) ([]sighting, error) { return inTheCloud(), nil }
	if _, err := b.Up(t.Context(), demo(), UpOptions{}); err != nil {
		t.Fatal(err)
	}
	want := []string{"refresh demo-core", "up demo-core", "up demo-bootstrap"}
	if diff := cmp.Diff(want, b.cli.operations()); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
	notes := strings.Join(b.seen.notes(), "\n")
	if !strings.Contains(notes, "recovered: 7 operations were interrupted; adopted aws:ec2/vpc:Vpc demo-vpc vpc-0new") {
		t.Errorf("notes are %s", notes)
	}
}

func TestPreviewOnlyNotesInterruptedOperations(t *testing.T) {
	b := newBench(t)
	b.cli.states["demo-core"] = interruptedState(t).Deployment
	if _, err := b.Preview(t.Context(), demo(), PreviewOptions{}); err != nil {
		t.Fatal(err)
	}
	want := "note demo-core: 7 operations were interrupted: the next up finds out what became of that"
	if notes := b.seen.notes(); len(notes) == 0 || notes[0] != want {
		t.Errorf("notes are %q", notes)
	}
	if got := b.cli.operations(); strings.Contains(strings.Join(got, " "), "refresh") {
		t.Errorf("operations are %v", got)
	}
}

func TestUnsettled(t *testing.T) {
	const urn = demoURN + "aws:eks/cluster:Cluster::c"
	for status, want := range map[string]string{"CREATING": "aws:eks/cluster:Cluster c", "ACTIVE": "", "pending": "aws:eks/cluster:Cluster c"} {
		st := &backend.State{Deployment: apitype.DeploymentV3{Resources: []apitype.ResourceV3{
			{URN: urn, Outputs: map[string]any{"status": status}},
		}}}
		if got := unsettled(st, []string{urn}); got != want {
			t.Errorf("status %s: unsettled = %q, want %q", status, got, want)
		}
	}
}
