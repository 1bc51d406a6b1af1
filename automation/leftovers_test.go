package automation

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/backend"
	"tombolo/automation/cloud"
	"tombolo/automation/cloud/aws"
	"tombolo/automation/preflight"
	"tombolo/automation/recovery"
	"tombolo/automation/teardown"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/owner"
)

const arnOf = "arn:aws:ec2:eu-central-1:111122223333:"

// roomyCloud is a cloud with an account that has everything, and room for more.
// Another look than its own may be put in the place of Lookup and Facts.
type roomyCloud struct {
	cloud.Cloud
	lookup func(context.Context, *config.Cluster, string, []recovery.Query) ([]recovery.Sighting, error)
	facts  func(context.Context, *config.Cluster) preflight.Facts
}

func (r *roomyCloud) Lookup(ctx context.Context, c *config.Cluster, owner string, queries []recovery.Query) ([]recovery.Sighting, error) {
	if r.lookup != nil {
		return r.lookup(ctx, c, owner, queries)
	}
	return r.Cloud.Lookup(ctx, c, owner, queries)
}

func (r *roomyCloud) Facts(ctx context.Context, c *config.Cluster) preflight.Facts {
	if r.facts != nil {
		return r.facts(ctx, c)
	}
	return roomy(ctx, c)
}

// fakeCloud has resources by their ARNs.
type fakeCloud struct {
	roomyCloud
	has []string
	// passing are those that are gone after so many looks.
	passing map[string]int
	tags    map[string]map[string]string
	// stays says that nothing can be deleted, unproven that nothing has a proof.
	stays, unproven bool
	looks           []teardown.Search
	removed         []string
}

// inFakeCloud has the driver ask such a cloud.
func inFakeCloud(d *Driver) *fakeCloud {
	f := &fakeCloud{roomyCloud: roomyCloud{Cloud: aws.Cloud{Pulumi: d.pulumi}}}
	d.deps.cloud = func(*config.Cluster) cloud.Cloud { return f }
	return f
}

func (f *fakeCloud) Find(_ context.Context, _ *config.Cluster, q teardown.Search) ([]teardown.Leftover, error) {
	f.looks = append(f.looks, q)
	var out []teardown.Leftover
	for _, arn := range f.has {
		if left, passes := f.passing[arn]; passes {
			f.passing[arn]--
			if left <= 0 {
				continue
			}
		}
		if l, ok := aws.Identify(arn, f.tags[arn]); ok && !q.Known(l) {
			if !f.unproven {
				l.Proof = "made by a controller"
			}
			out = append(out, l)
		}
	}
	return out, nil
}

func (f *fakeCloud) Remove(_ context.Context, _ *config.Cluster, _ teardown.Search, all []teardown.Leftover) error {
	for _, l := range all {
		f.removed = append(f.removed, l.ID)
		if !f.stays {
			f.has = slices.DeleteFunc(f.has, func(arn string) bool { return arn == l.CloudID })
		}
	}
	return nil
}

func upped(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.mustUp(t, demo(), UpOptions{})
	b.cli.calls = nil
	return b
}

func TestLeftoversStopBeforeCore(t *testing.T) {
	b := upped(t)
	b.cloud.has = []string{
		arnOf + "security-group/sg-9", arnOf + "volume/vol-9",
		arnOf + "vpc/vpc-1",        // core's
		arnOf + "instance/i-1",     // a node's
		arnOf + "security-group/3", // EKS's
	}
	b.cloud.tags = map[string]map[string]string{
		arnOf + "security-group/3": {"aws:eks:cluster-name": "demo"}, arnOf + "volume/vol-9": {"CSIVolumeName": "pvc-9"},
	}
	_, err := b.Destroy(t.Context(), demo(), DestroyOptions{DrainTimeout: 20 * time.Millisecond})
	left := new(teardown.LeftoversError)
	want := "destroy demo: controllers have left over volume vol-9, security group sg-9; delete what is not needed and run the same command again, " +
		"or have it done with --leftovers delete; with --keep-data what holds data stays (stack demo-core was kept)"
	assert.Check(t, errors.As(err, &left) && err.Error() == want, "error is %T\n%v, want\n%s", err, err, want)
	assert.DeepEqual(t, b.cli.operations(), []string{"destroy demo-bootstrap"})
	assert.Check(t, is.Equal(b.cloud.looks[0].Network, "vpc-1"), "the VPC whose interfaces were looked for")
}

// uppedWithControlPlane has core have one, too.
func uppedWithControlPlane(t *testing.T) *bench {
	t.Helper()
	b := upped(t)
	b.makeLive()
	return b
}

var plane = owner.ControlPlane{ID: "arn:aws:eks:eu-central-1:111122223333:cluster/demo", Issuer: "https://oidc.eks.eu-central-1.amazonaws.com/id/A1"}

// TestTheIdentityOutlivesCore: a second destruction searches by what the first one has
// kept, and takes it away when nothing is left.
func TestTheIdentityOutlivesCore(t *testing.T) {
	b := uppedWithControlPlane(t)
	b.cli.during = func(op string) {
		if op != "destroy demo-core" {
			return
		}
		st := &backend.State{Deployment: b.cli.states["demo-core"]}
		assert.Check(t, st.ControlPlane() == plane,
			"before core is destroyed, the state has the control plane %v beside the identity", st.ControlPlane())
		b.cloud.has = []string{"arn:aws:logs:eu-central-1:111122223333:log-group:/aws/eks/demo/cluster"}
	}
	_, err := b.Destroy(t.Context(), demo(), DestroyOptions{})
	left := new(teardown.LeftoversError)
	assert.Assert(t, errors.As(err, &left), "error %v", err)
	st := &backend.State{Deployment: b.cli.states["demo-core"]}
	assert.Check(t, st.Owner() == "identity-of-demo" && st.ControlPlane() == plane && len(st.Outputs()) == 0,
		"the state has the identity %q, the control plane %v and the outputs %v", st.Owner(), st.ControlPlane(), st.Outputs())
	b.cloud.looks, b.cli.during, b.cli.calls = nil, nil, nil
	result := b.mustDestroy(t, demo(), DestroyOptions{Leftovers: teardown.DeleteLeftovers})
	q := b.cloud.looks[0]
	assert.Check(t, q.Owner == "identity-of-demo" && q.ControlPlane == plane, "the second destruction searches by %+v", q)
	core, _ := result.Stack(stacks.Core)
	assert.Check(t, len(b.cli.operations()) == 0 && len(core.Leftovers) == 1 && core.Leftovers[0].Proof != "",
		"the CLI was asked for %v, and deleted was %v", b.cli.operations(), core.Leftovers)
	n := len(b.cli.states["demo-core"].Resources)
	assert.Check(t, n == 0, "the state has %d resources in the end", n)
}

// TestWhatIsKeptKeepsTheIdentity: data that was kept is told by it later.
func TestWhatIsKeptKeepsTheIdentity(t *testing.T) {
	b := uppedWithControlPlane(t)
	b.cloud.has = []string{"arn:aws:s3:::demo-loki"}
	b.mustDestroy(t, demo(), DestroyOptions{KeepData: true})
	st := (&backend.State{Deployment: b.cli.states["demo-core"]})
	assert.Check(t, st.Owner() == "identity-of-demo", "the identity is gone, and a bucket is left")
}

// TestWithoutAProof: a state from before cannot tell whose a resource with the name is.
func TestWithoutAProof(t *testing.T) {
	b := upped(t)
	core := b.cli.states["demo-core"]
	core.Resources = core.Resources[:3]
	b.cli.states["demo-core"] = core
	b.cloud.has, b.cloud.unproven = []string{arnOf + "natgateway/nat-9"}, true
	b.mustDestroy(t, demo(), DestroyOptions{Leftovers: teardown.DeleteLeftovers, DrainTimeout: time.Hour})
	assert.DeepEqual(t, b.seen.notes(), []string{"note demo-core: the state has no identity, so it cannot be told whose these are, and they were left alone: " +
		"NAT gateway nat-9; delete by hand what is not needed"})
	assert.Check(t, len(b.cloud.removed) == 0 && b.cloud.looks[0].Owner == "",
		"deleted %v, searched as %q", b.cloud.removed, b.cloud.looks[0].Owner)
}

func TestLeftoversAreDeleted(t *testing.T) {
	b := upped(t)
	b.cloud.has = []string{arnOf + "security-group/sg-9", arnOf + "volume/vol-9"}
	b.cloud.tags = map[string]map[string]string{arnOf + "volume/vol-9": {"CSIVolumeName": "pvc-9"}}
	b.mustDestroy(t, demo(), DestroyOptions{Leftovers: teardown.DeleteLeftovers, DrainTimeout: 20 * time.Millisecond})
	assert.DeepEqual(t, b.cloud.removed, []string{"vol-9", "sg-9"})
	assert.DeepEqual(t, b.cli.operations(), []string{"destroy demo-bootstrap", "destroy demo-core"})
	assert.DeepEqual(t, b.seen.notes(), []string{
		"note demo-core: deletes what is left over: volume vol-9: made by a controller",
		"note demo-core: deletes what is left over: security group sg-9: made by a controller",
	})
}

func TestWhatPassesIsWaitedFor(t *testing.T) {
	b := upped(t)
	gone := arnOf + "network-interface/eni-1"
	b.cloud.has, b.cloud.passing = []string{gone}, map[string]int{gone: 1}
	b.mustDestroy(t, demo(), DestroyOptions{DrainTimeout: time.Second})
	assert.Check(t, slices.Contains(b.seen.lines, "waiting demo: the cloud to take away network interface eni-1"),
		"observer was told %q", b.seen.lines)
	assert.Check(t, len(b.cloud.removed) == 0, "deleted %v, which would have gone", b.cloud.removed)
}

// TestWhatDoesNotPassIsNotWaitedFor: no controller gives back an elastic IP.
func TestWhatDoesNotPassIsNotWaitedFor(t *testing.T) {
	b := upped(t)
	b.cloud.has = []string{arnOf + "elastic-ip/eipalloc-9"}
	_, err := b.Destroy(t.Context(), demo(), DestroyOptions{DrainTimeout: time.Hour})
	left := new(teardown.LeftoversError)
	assert.Check(t, errors.As(err, &left) && len(b.cloud.looks) == 1, "error %v after %d looks, want one", err, len(b.cloud.looks))
}

func TestTheLastSearchMustBeEmpty(t *testing.T) {
	b := upped(t)
	b.cli.during = func(op string) {
		if op == "destroy demo-core" {
			b.cloud.has = []string{"arn:aws:logs:eu-central-1:111122223333:log-group:/aws/eks/demo/cluster"}
		}
	}
	_, err := b.Destroy(t.Context(), demo(), DestroyOptions{Remove: true})
	assert.Error(t, err, "destroy demo: after everything was destroyed, the cloud still has log group /aws/eks/demo/cluster; "+
		"delete what is not needed and run the same command again, or have it done with --leftovers delete")
	_, there := b.cli.states["demo-core"]
	assert.Check(t, there, "the stack is gone from the backend, and nothing would search again")
	b.cli.during = nil
	b.mustDestroy(t, demo(), DestroyOptions{Remove: true, Leftovers: teardown.DeleteLeftovers})
	assert.Check(t, len(b.cloud.has)+len(b.cli.states) == 0, "left: %v, stacks %v", b.cloud.has, b.cli.states)
}

// makeBucket has core have a bucket with data, and its policy.
func (b *bench) makeBucket() {
	const bucket = "urn:pulumi:s::tombolo::aws:s3/bucketV2:BucketV2::demo-loki-bucket"
	b.cli.add("demo-core",
		apitype.ResourceV3{URN: bucket, Type: "aws:s3/bucketV2:BucketV2", Custom: true, ID: "demo-loki", Outputs: map[string]any{"arn": "arn:aws:s3:::demo-loki"}},
		apitype.ResourceV3{URN: bucket + "-policy", Type: "aws:s3/bucketPolicy:BucketPolicy", Custom: true, ID: "demo-loki"})
}

func TestKeepData(t *testing.T) {
	b := upped(t)
	b.makeBucket()
	b.cloud.has = []string{"arn:aws:s3:::demo-loki", arnOf + "snapshot/snap-1", arnOf + "volume/vol-9"}
	b.cloud.tags = map[string]map[string]string{arnOf + "volume/vol-9": {"CSIVolumeName": "pvc-9", "Name": "demo-pvc-9"}}
	var retained []string
	b.cli.during = func(op string) {
		for _, r := range b.cli.states["demo-core"].Resources {
			if op == "destroy demo-core" && r.RetainOnDelete {
				retained = append(retained, string(r.Type))
			}
		}
	}
	result := b.mustDestroy(t, demo(), DestroyOptions{KeepData: true, Leftovers: teardown.DeleteLeftovers})
	assert.DeepEqual(t, retained, []string{"aws:s3/bucketV2:BucketV2", "aws:s3/bucketPolicy:BucketPolicy"})
	kept, _ := result.Stack(stacks.Core)
	assert.DeepEqual(t, kept.Kept, []teardown.Kept{
		{Type: "aws:s3/bucketV2:BucketV2", ID: "demo-loki", Name: "demo-loki-bucket"},
		{Type: "aws:ebs/volume:Volume", ID: "vol-9", Name: "demo-pvc-9"},
		{Type: "aws:ebs/snapshot:Snapshot", ID: "snap-1"},
	})
	notes := []string{
		"note demo-core: keeps aws:s3/bucketV2:BucketV2 demo-loki (demo-loki-bucket)",
		"note demo-core: keeps volume vol-9 (demo-pvc-9)",
		"note demo-core: keeps snapshot snap-1",
	}
	assert.DeepEqual(t, b.seen.notes(), notes)
	assert.Check(t, len(b.cloud.removed) == 0, "deleted %v", b.cloud.removed)
}
