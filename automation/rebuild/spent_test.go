package rebuild

import (
	"fmt"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// silent is told everything, and does nothing.
type silent struct{ told []string }

func (s *silent) StackPlanned(string, int)                       {}
func (s *silent) StackStarted(string, string)                    {}
func (s *silent) EngineEvent(stack string, _ events.EngineEvent) { s.told = append(s.told, stack) }
func (s *silent) StackFinished(string, map[string]int, error)    { s.told = append(s.told, "finished") }
func (s *silent) Waiting(_, what string)                         { s.told = append(s.told, what) }
func (s *silent) Note(string, string)                            {}

func metadata(op apitype.OpType, kind string) apitype.StepEventMetadata {
	return apitype.StepEventMetadata{Op: op, URN: "urn:" + kind, Type: kind, New: &apitype.StepEventStateMetadata{Custom: true}}
}

// TestSpent: every moment counts once, as what is worked on that is first in the order.
func TestSpent(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	also := &silent{}
	s := NewSpent(func() time.Time { return at })
	o := s.Beside(also)
	pass := func(seconds int) { at = at.Add(time.Duration(seconds) * time.Second) }
	begin := func(kind string) {
		o.EngineEvent("core", events.EngineEvent{EngineEvent: apitype.EngineEvent{ResourcePreEvent: &apitype.ResourcePreEvent{Metadata: metadata(apitype.OpCreate, kind)}}})
	}
	done := func(kind string) {
		o.EngineEvent("core", events.EngineEvent{EngineEvent: apitype.EngineEvent{ResOutputsEvent: &apitype.ResOutputsEvent{Metadata: metadata(apitype.OpCreate, kind)}}})
	}
	const vpc, cluster, pool, addon = "aws:ec2/vpc:Vpc", "aws:eks/cluster:Cluster", "azure-native:containerservice/v20240901:AgentPool", "aws:eks/addon:Addon"

	begin(vpc) // before any phase: nobody asks
	s.Begin(Phase{"up", "core"})
	pass(1)
	begin(vpc)
	pass(2)
	begin(cluster)
	pass(500)
	done(vpc)
	pass(40)
	done(cluster)
	begin(addon)
	begin(pool)
	pass(150)
	done(pool)
	pass(10)
	o.Waiting("demo", "Kustomization flux-system/addons: not this phase's")
	o.StackFinished("core", nil, nil)
	pass(3)
	assert.DeepEqual(t, s.End(), []Took{{ControlPlane, 540}, {Nodes, 150}, {ManagedAddons, 10}, {Resources, 2}, {Rest, 4}})
	assert.Check(t, is.Len(also.told, 10))

	s.Begin(Phase{"up", "verify"})
	for i, what := range []string{
		"GitRepository flux-system/flux-system: no artifact", "Kustomization flux-system/addons: waits", "HelmRelease loki/loki: not ready: yet",
		"HelmRelease systems/shop: not ready", "Kustomization flux-system/systems: waits", "",
	} {
		o.Waiting("demo", what)
		pass(i + 1)
	}
	assert.DeepEqual(t, s.End(), []Took{{Engine, 1}, {Addons, 5}, {Systems, 9}, {Rest, 6}})

	s.Begin(Phase{"destroy", "drain"})
	pass(5)
	assert.Check(t, is.Len(s.End(), 0), "of one thing there is nothing to tell")
	for what, want := range map[string]On{
		"Kubernetes API: refused": Engine, "Kustomization flux-system/crds: not reconciled yet: is its controller running?": Engine,
		"Application argocd/demo-shop.setup: OutOfSync": Systems, "Application argocd/demo-loki: Progressing": Addons,
	} {
		assert.Check(t, is.Equal(waitedFor(what), want), fmt.Sprint(what))
	}
}
