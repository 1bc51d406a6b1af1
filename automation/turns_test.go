package automation

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestTurns: one after the other, none for longer than the longest turn, and nobody waits who was
// cancelled.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns, began := newTurns(3), time.Now()
		done := turns.take(t.Context())
		go func() {
			time.Sleep(2 * time.Second)
			done()
			done() // gives nothing away that another one has
		}()
		turns.take(t.Context())
		assert.Check(t, is.Equal(time.Since(began), 2*time.Second))
		turns.take(t.Context())
		assert.Check(t, is.Equal(time.Since(began), 2*time.Second+longestTurn))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		turns.take(ctx)()
		assert.Check(t, is.Equal(time.Since(began), 3*time.Second+longestTurn))
	})
	assert.Check(t, is.Equal(cap(newTurns(1).free), 1))
	assert.Check(t, is.Equal(cap(newTurns(8).free), 4))
}

// TestOnMaking: a turn ends when the cloud begins to make the control plane, and steps are told on.
func TestOnMaking(t *testing.T) {
	var made, seen int
	s := &session{onStep: func(apitype.StepEventMetadata) { seen++ }}
	s.onMaking("aws:eks/cluster:Cluster", func() { made++ })
	s.onStep(apitype.StepEventMetadata{Op: apitype.OpCreate, Type: "aws:ec2/vpc:Vpc"})
	s.onStep(apitype.StepEventMetadata{Op: apitype.OpSame, Type: "aws:eks/cluster:Cluster"})
	assert.Check(t, is.Equal(made, 0))
	s.onStep(apitype.StepEventMetadata{Op: apitype.OpCreate, Type: "aws:eks/cluster:Cluster"})
	assert.Check(t, is.Equal(made, 1))
	assert.Check(t, is.Equal(seen, 3))
	s = &session{}
	s.onMaking("aws:eks/cluster:Cluster", func() { made++ })
	s.onStep(apitype.StepEventMetadata{Op: apitype.OpCreate, Type: "aws:eks/cluster:Cluster"})
	assert.Check(t, is.Equal(made, 2))
}
