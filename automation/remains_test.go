package automation

import (
	"errors"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"

	"tombolo/automation/teardown"
)

func remainsOf(t *testing.T, b *bench) Remains {
	t.Helper()
	r, err := b.Remains(t.Context(), demo())
	assert.NilError(t, err)
	return r
}

// TestRemains is the way of a cluster from its first up to the end of its destruction.
func TestRemains(t *testing.T) {
	r := remainsOf(t, newBench(t))
	assert.Check(t, r.None() && !r.Incomplete, "of a cluster that was never made there is %+v", r)
	b := uppedWithControlPlane(t)
	r = remainsOf(t, b)
	assert.Check(t, !r.None() && !r.Incomplete && r.Identity && len(r.Resources) >= 2, "of a cluster that lives there is %+v", r)
	// The search for leftovers finds one, and the identity stays.
	b.cli.during = func(op string) {
		if op == "destroy demo-core" {
			b.cloud.has = []string{"arn:aws:logs:eu-central-1:111122223333:log-group:/aws/eks/demo/cluster"}
		}
	}
	_, err := b.Destroy(t.Context(), demo(), DestroyOptions{})
	left := new(teardown.LeftoversError)
	assert.Assert(t, errors.As(err, &left), "error %v", err)
	assert.DeepEqual(t, remainsOf(t, b), Remains{Identity: true, Incomplete: true})
	// A resource that the destruction did not get to, and one that it was at.
	core := b.cli.states["demo-core"]
	vpc := apitype.ResourceV3{URN: "urn:pulumi:s::tombolo::aws:ec2/vpc:Vpc::demo-vpc", Type: "aws:ec2/vpc:Vpc", Custom: true, ID: "vpc-1"}
	key := apitype.ResourceV3{URN: "urn:pulumi:s::tombolo::aws:kms/key:Key::demo-secrets", Type: "aws:kms/key:Key", Custom: true, ID: "key-1"}
	core.Resources = append(core.Resources, vpc)
	core.PendingOperations = []apitype.OperationV2{{Resource: key, Type: apitype.OperationTypeDeleting}}
	b.cli.states["demo-core"] = core
	assert.DeepEqual(t, remainsOf(t, b), Remains{Identity: true, Incomplete: true, Resources: []string{
		"aws:ec2/vpc:Vpc demo-vpc", "aws:kms/key:Key demo-secrets, whose outcome is not known",
	}})
	core.Resources, core.PendingOperations, b.cli.during = core.Resources[:len(core.Resources)-1], nil, nil
	b.cli.states["demo-core"] = core
	b.mustDestroy(t, demo(), DestroyOptions{Leftovers: teardown.DeleteLeftovers})
	assert.DeepEqual(t, remainsOf(t, b), Remains{})
}
