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

// TestReach: a turn ends with the first resource that is made in the cloud.
func TestReach(t *testing.T) {
	step := func(op apitype.OpType, kind string, custom bool) apitype.StepEventMetadata {
		return apitype.StepEventMetadata{Op: op, Type: kind, New: &apitype.StepEventStateMetadata{Custom: custom}}
	}
	var reached, seen int
	s := &session{onStep: func(apitype.StepEventMetadata) { seen++ }}
	s.onReach(func() { reached++ })
	for _, m := range []apitype.StepEventMetadata{
		step(apitype.OpCreate, "pulumi:pulumi:Stack", true), step(apitype.OpCreate, "pulumi:providers:aws", true),
		step(apitype.OpCreate, "tombolo:network:Network", false), step(apitype.OpSame, "aws:ec2/vpc:Vpc", true), {Op: apitype.OpCreate},
	} {
		s.onStep(m)
	}
	assert.Check(t, is.Equal(reached, 0))
	s.onStep(step(apitype.OpCreate, "aws:ec2/vpc:Vpc", true))
	assert.Check(t, is.Equal(reached, 1))
	assert.Check(t, is.Equal(seen, 6))
	(&session{}).onReach(nil)
}
