package automation

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/backend"
	"tombolo/automation/fault"
	"tombolo/automation/handover"
	"tombolo/automation/preflight"
	"tombolo/config"
	"tombolo/stacks/catalog"
)

// ready is a bench with all tools, and clusters of one account to examine.
func ready(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	bin := t.TempDir()
	for _, name := range []string{"aws", "node", "git"} {
		assert.NilError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), 0o755))
	}
	kubectl(t, bin, `{"clientVersion": {"gitVersion": "v1.35.2"}}`)
	b.opts.Env["PATH"] = bin
	b.opts.Env["PULUMI_DEBUG_PROVIDERS"] = "aws:1,eks:2,kubernetes:3"
	return b
}

// kubectl is a program that says this.
func kubectl(t *testing.T, bin, says string) {
	t.Helper()
	assert.NilError(t, os.WriteFile(filepath.Join(bin, "kubectl"), []byte("#!/bin/sh\necho '"+says+"'\n"), 0o755))
}

func planned(name string) *config.Cluster {
	c := demo()
	c.Name = name
	c.Network = config.Network{NAT: config.NATPerZone, Zones: []string{"a", "b", "c"}}
	c.Kubernetes.Compute = config.NodeGroupCompute
	c.GitOps = config.GitOps{Engine: config.Flux, URL: "https://git.example/platform.git", Branch: "main"}
	return c
}

func said(findings []preflight.Finding) []string {
	var out []string
	for _, f := range findings {
		out = append(out, string(f.Level)+" "+f.Check+": "+f.Message)
	}
	return out
}

func TestDoctor(t *testing.T) {
	b := ready(t)
	reports, err := b.Doctor(t.Context(), []*config.Cluster{planned("one"), planned("two")})
	assert.NilError(t, err)
	want := []string{
		"ok tools: pulumi, aws, node, kubectl 1.35.2 and git are there",
		"ok plugins: aws (runs already), eks (runs already), kubernetes (runs already)",
		"ok state backend: it can be read and written",
		"ok credentials: an access key of the environment",
		"ok account: arn:aws:iam::111122223333:user/ada",
		"ok region: eu-central-1 is enabled",
		"ok quota: 1 more VPCs in eu-central-1, 2 with the other clusters: 0 of 5 are used",
		"fail quota: 3 more Elastic IP addresses in eu-central-1, 6 with the other clusters: 0 of 5 are used",
		"ok quota: 1 more EKS clusters in eu-central-1, 2 with the other clusters: 0 of 5 are used",
		"ok zones: a, b and c can be used",
		"ok Git repository: https://git.example/platform.git has branch main",
		"ok distribution: that of flux is there, with its checksum",
	}
	for i, name := range []string{"one", "two"} {
		way := "ok way to the API: the Kubernetes API of " + name + " will be reachable inside its network from the cluster's own nodes alone; " +
			"this machine reaches every network, as TOMBOLO_ADDRESSES says"
		diff := cmp.Diff(append(slices.Clone(want), way), said(reports[i].Findings))
		assert.Check(t, diff == "" && reports[i].Cluster == name, "%s (-want +got):\n%s", reports[i].Cluster, diff)
	}
	assert.Check(t, len(b.cli.states) == 0 && len(b.cli.operations()) <= 1,
		"stacks %v were made, and %v ran", b.cli.states, b.cli.operations())
}

// Clusters that are brought up together are judged together, and only what would
// fail is told. One that exists takes nothing more.
func TestReady(t *testing.T) {
	b := ready(t)
	b.cli.states["old-core"] = apitype.DeploymentV3{Resources: []apitype.ResourceV3{
		{URN: "urn:pulumi:s::p::aws:eks/cluster:Cluster::eks", Type: "aws:eks/cluster:Cluster", Custom: true, ID: "old"},
		{URN: "urn:pulumi:s::p::aws:ec2/vpc:Vpc::vpc", Type: "aws:ec2/vpc:Vpc", Custom: true, ID: "vpc-1"},
	}}
	b.deps.preflight = func(_ context.Context, c *config.Cluster, _ catalog.Options) error {
		if c.Name == "two" {
			return errors.New("gitops.auth.password: variable TOKEN is not set")
		}
		return nil
	}
	reports, err := b.Ready(t.Context(), []*config.Cluster{planned("old"), planned("one"), planned("two")})
	assert.NilError(t, err)
	const addresses = "fail quota: 3 more Elastic IP addresses in eu-central-1, 9 with the other clusters: 0 of 5 are used"
	want := map[string][]string{
		"old": nil, "one": {addresses}, "two": {addresses, "fail distribution: gitops.auth.password: variable TOKEN is not set"},
	}
	for _, r := range reports {
		assert.Assert(t, is.DeepEqual(said(r.Findings), want[r.Cluster]), r.Cluster)
	}
}

// Everything that is wrong is found at once.
func TestDoctorFindsAll(t *testing.T) {
	b := ready(t)
	b.opts.Env["PATH"], b.opts.Env["PULUMI_DEBUG_PROVIDERS"] = t.TempDir(), ""
	b.opts.Env["AWS_ACCESS_KEY_ID"], b.opts.Env["HOME"], b.opts.Env["AWS_EC2_METADATA_DISABLED"] = "", t.TempDir(), "true"
	b.opts.Env["AWS_PROFILE"], b.opts.Env["AWS_CONFIG_FILE"], b.opts.Env["AWS_SHARED_CREDENTIALS_FILE"] = "", "", ""
	b.opts.Env["AWS_WEB_IDENTITY_TOKEN_FILE"] = ""
	b.missing = errors.New("gitops.distribution: checksum differs")
	b.deps.reachGit = func(context.Context, handover.Repository) error {
		return &fault.Error{What: "https://git.example/platform.git has no branch main", Remedy: "push one"}
	}
	b.cli.fail["stack ls "] = failure{stderr: "error: no such bucket"}
	b.lock(t, "one-core", backend.Owner{PID: 7, Host: "elsewhere", User: "ada"})
	clear(b.cli.states)
	reports, err := b.Doctor(t.Context(), []*config.Cluster{planned("one")})
	assert.NilError(t, err)
	got := strings.Join(said(reports[0].Findings), "\n")
	for _, want := range []string{
		"fail tools: aws is not in PATH", "fail tools: node is not in PATH", "fail tools: git is not in PATH",
		"fail credentials: neither the environment nor the AWS configuration has any",
		"warn lock: stack one-core is locked by ada on elsewhere",
		"fail Git repository: https://git.example/platform.git has no branch main",
		"fail distribution: gitops.distribution: checksum differs",
	} {
		assert.Check(t, is.Contains(got, want))
	}
	for _, f := range reports[0].Findings {
		if f.Level != preflight.OK && f.Remedy == "" {
			t.Errorf("no remedy for %s", f.Message)
		}
	}
}

// A token that is not there is said once.
func TestDoctorSaysOnceThatATokenIsMissing(t *testing.T) {
	b := ready(t)
	b.missing = errors.New("gitops.auth.password: the environment variable TOMBOLO_GIT_TOKEN is not set")
	b.deps.reachGit = func(context.Context, handover.Repository) error { return b.missing }
	reports, err := b.Doctor(t.Context(), []*config.Cluster{planned("one")})
	assert.NilError(t, err)
	got := strings.Join(said(reports[0].Findings), "\n")
	assert.Check(t, is.Equal(strings.Count(got, "TOMBOLO_GIT_TOKEN"), 1), got)
	assert.Check(t, is.Contains(got, "fail Git repository: "))
}

// An identity of the engine's pods is none of the machine's, whose git may know nothing of the host.
func TestDoctorHasNoIdentityOfTheEngine(t *testing.T) {
	b := ready(t)
	b.deps.reachGit = func(context.Context, handover.Repository) error {
		return &fault.Error{What: "read https://dev.azure.com/a/p/_git/r: authentication failed", Remedy: "sign in"}
	}
	c := planned("one")
	c.GitOps.Auth = &config.Auth{Type: config.AuthWorkloadIdentity}
	reports, err := b.Doctor(t.Context(), []*config.Cluster{c})
	assert.NilError(t, err)
	assert.Check(t, is.Contains(strings.Join(said(reports[0].Findings), "\n"), "warn Git repository: read https://dev.azure.com/"))
}

// A cluster that exists needs no more of any quota.
func TestDemandOfWhatExists(t *testing.T) {
	b := newBench(t)
	d := deployed("one-core")
	d.Resources[2].Type = "aws:eks/cluster:Cluster"
	b.cli.states["one-core"] = d
	st, err := b.backend.State(t.Context(), "one-core")
	assert.NilError(t, err)
	want := preflight.Demand{"VPCs": 1, "Elastic IP addresses": 3, "EKS clusters": 0}
	assert.DeepEqual(t, b.cloud.Demand(planned("one"), coreOf(st)), want)
	c := planned("one")
	c.Network = config.Network{Existing: &config.ExistingNetwork{}}
	assert.DeepEqual(t, b.cloud.Demand(c, coreOf(nil)), preflight.Demand{"EKS clusters": 1})
}

// An up that would fail in the account makes nothing; an account is asked once.
func TestUpLooksAtTheAccount(t *testing.T) {
	b, asked := newBench(t), 0
	b.cloud.facts = func(ctx context.Context, c *config.Cluster) preflight.Facts {
		asked++
		f := roomy(ctx, c)
		f.Quotas["VPCs"] = preflight.Quota{Limit: 5, Used: 5}
		return f
	}
	const want = "up one: quota: 1 more VPCs in eu-central-1: 5 of 5 are used " +
		"(delete what is not needed, or ask for more in the console of Service Quotas); nothing was started; `tombolo doctor one` looks again"
	for range 2 {
		_, err := b.Up(t.Context(), planned("one"), UpOptions{})
		wantPrecondition(t, err, want)
	}
	assert.Check(t, asked == 1 && !slices.Contains(b.cli.operations(), "up one-core"), "asked %d times, ran %v", asked, b.cli.operations())
	lives := deployed("one-core")
	lives.Resources[2].Type = "aws:eks/cluster:Cluster"
	b.cli.states["one-core"] = lives
	if _, err := b.Up(t.Context(), planned("one"), UpOptions{}); err != nil {
		t.Errorf("up of a cluster that exists: %v", err)
	}
}

// TestAZoneThatIsRefused: up and preview refuse it before core is made, with its place in the file. A question that
// was not answered is a note.
func TestAZoneThatIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "one.yaml")
	assert.NilError(t, os.WriteFile(file, []byte("name: one\nnetwork:\n  zones: [a,\n    b, c]\n"), 0o600))
	c := planned("one")
	c.File = file
	for name, test := range map[string]struct {
		facts   func(*preflight.Facts)
		refused string
		noted   string
	}{
		"no zone": {func(f *preflight.Facts) { delete(f.Zones, "b") }, " one: zones: one.yaml:4:5: network.zones[1]: AWS has no zone b in eu-central-1 " +
			"(use zones among a and c); nothing was started; `tombolo doctor one` looks again", ""},
		"a zone without control planes": {func(f *preflight.Facts) { f.Zones["c"] = preflight.Zone{ID: "cac1-az3", Open: true} }, "EKS takes no control plane in c, which is cac1-az3", ""},
		"nothing is told": {
			func(f *preflight.Facts) { f.ZonesErr = "UnauthorizedOperation" }, "",
			"note one-core zones: whether a, b and c can be used cannot be told: UnauthorizedOperation; allow ec2:DescribeAvailabilityZones to the credentials in use",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.opts.Root = filepath.Dir(file)
			b.cloud.facts = func(ctx context.Context, c *config.Cluster) preflight.Facts {
				f := roomy(ctx, c)
				test.facts(&f)
				return f
			}
			_, ofPreview := b.Preview(t.Context(), c, PreviewOptions{})
			_, ofUp := b.Up(t.Context(), c, UpOptions{})
			for _, err := range []error{ofPreview, ofUp} {
				if test.refused == "" {
					assert.NilError(t, err)
				} else {
					assert.ErrorContains(t, err, test.refused)
				}
			}
			assert.Check(t, is.Equal(slices.Contains(b.cli.operations(), "up one-core"), test.refused == ""), "%q", b.cli.operations())
			noted := slices.ContainsFunc(b.seen.lines, func(line string) bool {
				return strings.Contains(line, strings.TrimPrefix(test.noted, "note one-core "))
			})
			assert.Check(t, noted, "%q", b.seen.lines)
		})
	}
}

// TestAChangedZoneIsAskedFor, although the cluster lives; other changes ask for nothing.
func TestAChangedZoneIsAskedFor(t *testing.T) {
	b := newBench(t)
	st, err := b.backend.State(t.Context(), "one-core")
	assert.NilError(t, err)
	assert.Check(t, b.hasToAsk(planned("one"), st, nil))
	lives := deployed("one-core")
	lives.Resources[2].Type = "aws:eks/cluster:Cluster"
	b.cli.states["one-core"] = lives
	st, err = b.backend.State(t.Context(), "one-core")
	assert.NilError(t, err)
	for path, want := range map[string]bool{
		"": false, "tags.a": false, "kubernetes.endpoint": false, "kubernetes.nodeGroups[0].size.min": false,
		"network.zones[2]": true, "kubernetes.nodeGroups[1]": true, "kubernetes.nodeGroups[0].instanceTypes[0]": true, "kubernetes.logKeyArn": true,
	} {
		assert.Check(t, is.Equal(b.hasToAsk(planned("one"), st, config.Changes{{Path: path, After: "x"}}), want), path)
	}
}

// TestDoctorAsksTheHub: a spoke is registered at its hub, so that its hub has to know this
// identity, too. One that does not exist yet is made before.
func TestDoctorAsksTheHub(t *testing.T) {
	f := newFleet(t)
	hub := func() []string {
		reports, err := f.Doctor(t.Context(), []*config.Cluster{argoCluster("spoke", "mgmt")})
		assert.NilError(t, err)
		return slices.DeleteFunc(said(reports[0].Findings), func(text string) bool { return !strings.Contains(text, " hub: ") })
	}
	assert.DeepEqual(t, hub(), []string{"ok hub: the Kubernetes API of mgmt takes this identity"})
	silent(f.clusters["mgmt"])
	assert.DeepEqual(t, hub(), []string{"fail hub: the Kubernetes API of mgmt does not answer: connection refused"})
	delete(f.cli.states, "mgmt-core")
	assert.Check(t, is.Len(hub(), 0))
}
