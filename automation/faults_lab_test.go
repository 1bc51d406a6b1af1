//go:build lab

package automation

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	awssdk "github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/pulumicli"
	"tombolo/automation/recovery"
	"tombolo/config"
	"tombolo/internal/names"
	"tombolo/lab/aws"
	"tombolo/lab/standin"
	"tombolo/stacks"
	"tombolo/stacks/owner"
	"tombolo/stacks/programs"
	"tombolo/tests/tier"
)

// noClusters is all that stands behind an EKS that nobody uses.
type noClusters struct{}

var errNoClusters = errors.New("this account has no clusters")

func (noClusters) Start(context.Context, standin.ClusterSpec) (standin.ClusterInfo, error) {
	return standin.ClusterInfo{}, errNoClusters
}
func (noClusters) Stop(context.Context, string) error { return nil }
func (noClusters) SetNodes(context.Context, string, string, []standin.Node) error {
	return errNoClusters
}
func (noClusters) TokenKey(string) (crypto.PublicKey, error) { return nil, errNoClusters }

// faultBench is a driver with the real CLI and the lab's AWS.
type faultBench struct {
	*Driver
	t     *testing.T
	seen  *witness
	cloud *standin.Cloud
	// given is what the account has from the start.
	given []standin.Item
}

func newFaultBench(t *testing.T) *faultBench {
	t.Helper()
	return newFaultBenchOf(t, demo().Cloud.Account)
}

// newFaultBenchOf is a bench of an account.
func newFaultBenchOf(t *testing.T, account string) *faultBench {
	t.Helper()
	d, seen := realBench(t, network)
	cloud, err := aws.Open(t.TempDir(), standin.Options{Clusters: noClusters{}, Account: account})
	assert.NilError(t, err)
	t.Cleanup(cloud.Close)
	d.env["PULUMI_DEBUG_PROVIDERS"] = "aws:" + serveStandIn(t, cloud)
	d.deps.pauses = []time.Duration{time.Millisecond, time.Millisecond}
	return &faultBench{Driver: d, t: t, seen: seen, cloud: cloud, given: cloud.Inventory()}
}

// serveStandIn serves the provider of a stand-in, and returns its port.
func serveStandIn(t *testing.T, cloud *standin.Cloud, o ...grpc.ServerOption) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	server := grpc.NewServer(o...)
	pulumirpc.RegisterResourceProviderServer(server, cloud.Provider())
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
}

// network is a program of a few resources: some have ids of AWS's choice, one
// has a name. Both stacks of a cluster run it, the second one without effect.
func network(p *pulumi.Context) error {
	if !strings.HasSuffix(p.Stack(), "-core") {
		return nil
	}
	own, err := owner.New(p, "")
	if err != nil {
		return err
	}
	provider, err := awssdk.NewProvider(p, "aws", &awssdk.ProviderArgs{
		Region: pulumi.String("eu-central-1"), DefaultTags: awssdk.ProviderDefaultTagsArgs{Tags: pulumi.ToStringMap(own.Tags())},
	})
	if err != nil {
		return err
	}
	tags := func(name string) pulumi.StringMap {
		return pulumi.StringMap{"Name": pulumi.String(name), names.ClusterTag: pulumi.String("demo")}
	}
	vpc, err := ec2.NewVpc(p, "net", &ec2.VpcArgs{CidrBlock: pulumi.String("10.0.0.0/16"), Tags: tags("net")}, pulumi.Provider(provider))
	if err != nil {
		return err
	}
	_, err = ec2.NewSubnet(p, "a", &ec2.SubnetArgs{
		VpcId: vpc.ID(), CidrBlock: pulumi.String("10.0.0.0/24"), AvailabilityZone: pulumi.String("eu-central-1a"), Tags: tags("a"),
	}, pulumi.Provider(provider))
	if err != nil {
		return err
	}
	_, err = iam.NewRole(p, "role", &iam.RoleArgs{
		Name:             pulumi.String("demo-role"),
		AssumeRolePolicy: pulumi.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}`),
	}, pulumi.Provider(provider))
	return err
}

func (b *faultBench) fault(f standin.Fault) {
	b.t.Helper()
	_, err := b.cloud.AddFault(f)
	assert.NilError(b.t, err)
}

// made are the ids in the account but those it was given, sorted.
func (b *faultBench) made() []string { return besides(b.cloud, b.given) }

// besides are what a cloud has but what it was given, as types and ids, sorted.
func besides(cloud *standin.Cloud, given []standin.Item) []string {
	var ids []string
	for _, item := range cloud.Inventory() {
		if !slices.Contains(given, item) {
			ids = append(ids, item.Type+" "+item.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// known are the ids in core's state, sorted.
func (b *faultBench) known() []string {
	b.t.Helper()
	st, err := b.backend.State(b.t.Context(), "demo-core")
	assert.NilError(b.t, err)
	var ids []string
	for _, r := range st.Deployment.Resources {
		if strings.HasPrefix(string(r.Type), "aws:") {
			ids = append(ids, string(r.Type)+" "+string(r.ID))
		}
	}
	slices.Sort(ids)
	return ids
}

// converged asserts that one more up changes nothing, that the account holds
// what the state does, and that all of it can be destroyed.
func (b *faultBench) converged() {
	b.t.Helper()
	result, err := b.Up(b.t.Context(), demo(), UpOptions{Force: true})
	assert.Check(b.t, err == nil && result.Stacks[0].Changes.Total() == 0, "another up changes %v, error %v", result.Stacks, err)
	diff := cmp.Diff(b.known(), b.made())
	assert.Check(b.t, diff == "" && len(b.made()) == 3, "state and account (-state +account):\n%s", diff)
	b.destroyed()
}

func (b *faultBench) destroyed() {
	b.t.Helper()
	if _, err := b.Destroy(b.t.Context(), demo(), DestroyOptions{}); err != nil {
		b.t.Error(err)
	}
	left := b.made()
	assert.Check(b.t, len(left) == 0, "left over: %v", left)
}

// TestFaultsAreRetried: what goes away by itself costs a second try, and
// neither a resource too many nor one too few.
func TestFaultsAreRetried(t *testing.T) {
	tier.Short(t, "AWS's faults that go away cost another try and make nothing twice")
	t.Parallel()
	const (
		vpc  = "aws:ec2/vpc:Vpc"
		role = "aws:iam/role:Role"
	)
	for _, test := range []struct {
		name   string
		faults []standin.Fault
		notes  []string // none: the provider copes
	}{
		{"throttled a little", []standin.Fault{{Kind: standin.FaultThrottled, Operation: "create", Type: vpc, Count: 3}}, nil},
		{"slow", []standin.Fault{{Kind: standin.FaultSlow, Operation: "create", Type: vpc, Delay: time.Second}}, nil},
		{"throttled", []standin.Fault{{Kind: standin.FaultThrottled, Operation: "create", Type: vpc, Count: 4}}, []string{
			"RequestLimitExceeded: Request limit exceeded.; trying again in 1ms, 1 of 2",
		}},
		{"server error", []standin.Fault{{Kind: standin.FaultServerError, Operation: "create", Type: role, Count: 4}}, []string{
			"recovered: 1 creation got no answer; 1 creation had not happened", "exceeded maximum number of attempts, 4", "1 of 2",
		}},
		{"answers lost", []standin.Fault{
			{Kind: standin.FaultAnswerLost, Operation: "create", Type: vpc}, {Kind: standin.FaultAnswerLost, Operation: "create", Type: role},
		}, []string{"got no answer; adopted aws:", "aws:ec2/vpc:Vpc net vpc-", "aws:iam/role:Role role demo-role"}},
		{"answer lost, and not found at first", []standin.Fault{
			{Kind: standin.FaultAnswerLost, Operation: "create", Type: vpc}, {Kind: standin.FaultNotFound, Operation: "read", Type: vpc},
		}, []string{"adopted aws:ec2/vpc:Vpc net vpc-"}},
		{"not found after creation", []standin.Fault{{Kind: standin.FaultNotFound, Operation: "create", Type: vpc, Count: 4}}, []string{
			"create: couldn't find resource (4 retries); trying again",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newFaultBench(t)
			for _, f := range test.faults {
				b.fault(f)
			}
			_, err := b.Up(t.Context(), demo(), UpOptions{Force: true})
			assert.NilError(t, err)
			left := b.cloud.Faults()
			assert.Check(t, len(left) == 0, "faults that did not happen: %v", left)
			notes := strings.Join(b.seen.notes(), "\n")
			for _, want := range test.notes {
				assert.Check(t, is.Contains(notes, want))
			}
			if test.notes == nil && notes != "" {
				t.Errorf("notes:\n%s", notes)
			}
			b.converged()
		})
	}
}

// TestFaultsThatStay fail with a clear cause, after as many tries as make
// sense; the next up finishes the work.
func TestFaultsThatStay(t *testing.T) {
	tier.Short(t, "a fault that stays has a clear cause, and the next up finishes the work")
	t.Parallel()
	for _, test := range []struct {
		name  string
		fault standin.Fault
		tries int
		want  string
	}{
		{"quota", standin.Fault{Kind: standin.FaultQuota, Operation: "create", Type: "Vpc"}, 1, "VpcLimitExceeded: The maximum number of VPCs has been reached.; " + quotaRemedy},
		{"throttled for good", standin.Fault{Kind: standin.FaultThrottled, Operation: "create", Type: "Vpc", Count: 12}, 3, "RequestLimitExceeded: Request limit exceeded.; " + throttledRemedy},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newFaultBench(t)
			b.fault(test.fault)
			_, err := b.Up(t.Context(), demo(), UpOptions{Force: true})
			deployment := new(pulumicli.Error)
			assert.Check(t, errors.As(err, &deployment) && strings.Contains(err.Error(), test.want), "got  %v\nwant %s", err, test.want)
			tries := 0
			for _, line := range b.seen.lines {
				if line == "started up demo-core" {
					tries++
				}
			}
			assert.Check(t, tries == test.tries, "tried %d times, want %d", tries, test.tries)
			_, err = b.Up(t.Context(), demo(), UpOptions{Force: true})
			assert.NilError(t, err)
			b.converged()
		})
	}
}

// TestDestroyAfterALostAnswer: what was adopted goes in the right order, though
// no up wrote down what it depends on.
func TestDestroyAfterALostAnswer(t *testing.T) {
	tier.Short(t, "what was adopted is destroyed in the right order")
	t.Parallel()
	b := newFaultBench(t)
	b.deps.pauses = nil
	b.fault(standin.Fault{Kind: standin.FaultAnswerLost, Operation: "create", Type: "Subnet"})
	_, err := b.Up(t.Context(), demo(), UpOptions{Force: true})
	assert.Assert(t, err != nil && strings.Contains(err.Error(), "request send failed"), "error %v", err)
	diff := cmp.Diff(b.known(), b.made())
	assert.Check(t, diff == "" && len(b.made()) == 3, "state and account (-state +account):\n%s", diff)
	b.destroyed()
}

// TestLostAnswerOfADeletion: the next destroy finds that it is done.
func TestLostAnswerOfADeletion(t *testing.T) {
	tier.Short(t, "the next destroy learns that a deletion was done")
	t.Parallel()
	b := newFaultBench(t)
	_, err := b.Up(t.Context(), demo(), UpOptions{Force: true})
	assert.NilError(t, err)
	b.fault(standin.Fault{Kind: standin.FaultAnswerLost, Operation: "delete", Type: "Vpc"})
	_, err = b.Destroy(t.Context(), demo(), DestroyOptions{})
	assert.Assert(t, err != nil && strings.Contains(err.Error(), "deleting EC2 VPC"), "error %v", err)
	b.destroyed()
}

// zones is network, and asks the cloud for something in every preview.
func zones(p *pulumi.Context) error {
	if !strings.HasSuffix(p.Stack(), "-core") {
		return nil
	}
	provider, err := awssdk.NewProvider(p, "asking", &awssdk.ProviderArgs{Region: pulumi.String("eu-central-1")})
	if err != nil {
		return err
	}
	p.Export("region", pulumi.String("eu-central-1"))
	if _, err := awssdk.GetAvailabilityZones(p, &awssdk.GetAvailabilityZonesArgs{}, pulumi.Provider(provider)); err != nil {
		return err
	}
	return network(p)
}

// TestFaultsOfPreviews: an up begins with previews, and what goes away by itself
// there is tried again as often.
func TestFaultsOfPreviews(t *testing.T) {
	tier.Short(t, "a fault of a preview that goes away is tried again as often")
	t.Parallel()
	throttled := standin.Fault{Kind: standin.FaultThrottled, Operation: "invoke", Type: "aws:index/getAvailabilityZones:getAvailabilityZones", Count: 4}
	for _, test := range []struct {
		name string
		do   func(*faultBench) error
	}{
		{"with a plan", func(b *faultBench) error {
			_, err := b.Up(b.t.Context(), demo(), UpOptions{Plan: true, Refresh: true})
			return err
		}},
		{"to find out that nothing changes", func(b *faultBench) error {
			_, err := b.Up(b.t.Context(), demo(), UpOptions{Force: true})
			return err
		}},
		{"alone", func(b *faultBench) error {
			_, err := b.Preview(b.t.Context(), demo(), PreviewOptions{})
			return err
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newFaultBench(t)
			b.deps.program = func(*config.Cluster, stacks.Kind, programs.Options) (pulumi.RunFunc, error) { return zones, nil }
			_, err := b.Up(t.Context(), demo(), UpOptions{Force: true})
			assert.NilError(t, err)
			b.fault(throttled)
			assert.NilError(t, test.do(b))
			left := b.cloud.Faults()
			assert.Check(t, len(left) == 0, "faults that did not happen: %v", left)
			b.converged()
			b.fault(standin.Fault{Kind: standin.FaultThrottled, Operation: "invoke", Type: throttled.Type, Count: 12})
			_, err = b.Preview(t.Context(), demo(), PreviewOptions{})
			assert.Assert(t, is.Regexp("Rate exceeded|RequestLimitExceeded", fmt.Sprint(err)))
		})
	}
}

// TestAnswersLostAndNobodyThere: what was adopted cannot be confirmed, because the
// cloud fails there too. It is not taken for made: the next up asks again.
func TestAnswersLostAndNobodyThere(t *testing.T) {
	tier.Short(t, "what nobody confirms is not taken for made")
	t.Parallel()
	b := newFaultBench(t)
	b.deps.pauses = nil
	b.fault(standin.Fault{Kind: standin.FaultServerError, Operation: "create", Type: "Role", Count: 4})
	b.fault(standin.Fault{Kind: standin.FaultServerError, Operation: "read", Type: "Role", Count: 8})
	if _, err := b.Up(t.Context(), demo(), UpOptions{Force: true}); err == nil || !strings.Contains(err.Error(), "exceeded maximum number of attempts") {
		t.Fatalf("error %v", err)
	}
	st, err := b.backend.State(t.Context(), "demo-core")
	if err != nil || len(st.Unverified()) != 1 {
		t.Fatalf("not verified are %v, error %v", st.Unverified(), err)
	}
	// The first read of these does not succeed either.
	_, err = b.Up(t.Context(), demo(), UpOptions{Force: true})
	assert.Check(t, err != nil, "an up went on with a resource that nobody has seen")
	_, err = b.Up(t.Context(), demo(), UpOptions{Force: true})
	assert.NilError(t, err)
	notes := strings.Join(b.seen.notes(), "\n")
	assert.Check(t, strings.Contains(notes, "1 resource is no longer there: aws:iam/role:Role role"), "notes:\n%s", notes)
	b.converged()
}

// TestAnswerLostAndListedLate: the cloud lists by tags what it has made only a
// little later.
func TestAnswerLostAndListedLate(t *testing.T) {
	tier.Short(t, "what the cloud lists late is found all the same")
	t.Parallel()
	b := newFaultBench(t)
	looks, asked := 0, inRoomyCloud(b.Driver)
	asked.lookup = func(ctx context.Context, c *config.Cluster, owner string, queries []recovery.Query) ([]recovery.Sighting, error) {
		if looks++; looks == 1 {
			return nil, nil
		}
		return asked.Cloud.Lookup(ctx, c, owner, queries)
	}
	b.fault(standin.Fault{Kind: standin.FaultAnswerLost, Operation: "create", Type: "Vpc"})
	_, err := b.Up(t.Context(), demo(), UpOptions{Force: true})
	assert.NilError(t, err)
	if notes := strings.Join(b.seen.notes(), "\n"); looks != 2 || !strings.Contains(notes, "got no answer; adopted aws:ec2/vpc:Vpc net vpc-") {
		t.Errorf("looked %d times:\n%s", looks, notes)
	}
	b.converged()
}
