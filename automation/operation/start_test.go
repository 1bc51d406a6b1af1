package operation

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestStarts: one after the other, none for longer than the longest start, and nobody waits who was
// cancelled.
func TestStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		starts, began := NewStarts(3), time.Now()
		done := starts.Wait(t.Context())
		go func() {
			time.Sleep(2 * time.Second)
			done()
			done() // gives nothing away that another one has
		}()
		starts.Wait(t.Context())
		assert.Check(t, is.Equal(time.Since(began), 2*time.Second))
		starts.Wait(t.Context())
		assert.Check(t, is.Equal(time.Since(began), 2*time.Second+longestStart))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		starts.Wait(ctx)()
		assert.Check(t, is.Equal(time.Since(began), 3*time.Second+longestStart))
	})
	assert.Check(t, is.Equal(cap(NewStarts(1).free), 1))
	assert.Check(t, is.Equal(cap(NewStarts(8).free), 4))
}

// TestOnCreate: a start ends when the cloud begins to make the control plane, and steps are told on.
func TestOnCreate(t *testing.T) {
	var made, seen int
	s := &Session{OnStep: func(apitype.StepEventMetadata) { seen++ }}
	s.OnCreate("aws:eks/cluster:Cluster", func() { made++ })
	s.OnStep(apitype.StepEventMetadata{Op: apitype.OpCreate, Type: "aws:ec2/vpc:Vpc"})
	s.OnStep(apitype.StepEventMetadata{Op: apitype.OpSame, Type: "aws:eks/cluster:Cluster"})
	assert.Check(t, is.Equal(made, 0))
	s.OnStep(apitype.StepEventMetadata{Op: apitype.OpCreate, Type: "aws:eks/cluster:Cluster"})
	assert.Check(t, is.Equal(made, 1))
	assert.Check(t, is.Equal(seen, 3))
	s = &Session{}
	s.OnCreate("aws:eks/cluster:Cluster", func() { made++ })
	s.OnStep(apitype.StepEventMetadata{Op: apitype.OpCreate, Type: "aws:eks/cluster:Cluster"})
	assert.Check(t, is.Equal(made, 2))
}
