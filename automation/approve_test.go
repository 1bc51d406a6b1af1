package automation

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"gotest.tools/v3/assert"

	"tombolo/automation/approved"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/owner"
)

// Parts of a change: a queue in core, a ConfigMap with its URL and a secret in bootstrap.
const (
	queueURN  = "urn:pulumi:s::tombolo::aws:sqs/queue:Queue::events"
	mapURN    = "urn:pulumi:s::tombolo::kubernetes:core/v1:ConfigMap::infra"
	secretURN = "urn:pulumi:s::tombolo::kubernetes:core/v1:Secret::token"
	aSecret   = "hunter2"
)

func announced(op apitype.OpType, urn string, inputs map[string]any) apitype.EngineEvent {
	token := strings.Split(urn, "::")[2]
	return apitype.EngineEvent{ResourcePreEvent: &apitype.ResourcePreEvent{Metadata: apitype.StepEventMetadata{
		Op: op, URN: urn, Type: token, New: &apitype.StepEventStateMetadata{Type: token, Custom: true, Inputs: inputs},
	}}}
}

// planBench is a cluster that is deployed, and a change of it: core would get a queue,
// whose URL bootstrap publishes.
type planBench struct {
	*bench
	cluster *config.Cluster
}

func newPlanBench(t *testing.T) *planBench {
	t.Helper()
	b := newBench(t)
	b.env["PULUMI_CONFIG_PASSPHRASE"] = "correct horse"
	b.opts.Env = b.env
	c := demo()
	c.File = filepath.Join(t.TempDir(), "demo.yaml")
	assert.NilError(t, os.WriteFile(c.File, []byte("name: demo\n"), 0o600))
	for _, k := range stacks.Kinds() {
		b.cli.states[stacks.Name("demo", k)] = deployed(stacks.Name("demo", k))
	}
	b.cli.secrets = map[string]string{secretURN + " stringData": aSecret}
	b.cli.plan = map[string][]apitype.EngineEvent{
		"preview demo-core": {announced(apitype.OpCreate, queueURN, map[string]any{"name": "events-1a2b3c4", "delay": 5})},
		"up demo-core":      {announced(apitype.OpCreate, queueURN, map[string]any{"name": "events-9f8e7d6", "delay": 5})},
		"preview demo-bootstrap": {
			announced(apitype.OpUpdate, mapURN, map[string]any{"url": plugin.UnknownStringValue, "region": "eu", "queue": "q/events-1a2b3c4", "owner": owner.Unborn}),
			announced(apitype.OpCreate, secretURN, map[string]any{"stringData": "[secret]"}),
		},
	}
	return &planBench{b, c}
}

func (b *planBench) plan(t *testing.T) approved.Cluster {
	t.Helper()
	r := b.mustPreview(t, b.cluster, PreviewOptions{Plan: true})
	b.cli.calls = nil
	return *r.Plan
}

// afterCore has bootstrap previewed with what core's up has decided.
func (b *planBench) afterCore(region string, more ...apitype.EngineEvent) {
	b.cli.during = func(operation string) {
		if operation != "up demo-core" {
			return
		}
		b.cli.plan["preview demo-bootstrap"] = append([]apitype.EngineEvent{
			announced(apitype.OpUpdate, mapURN, map[string]any{"url": "https://q", "region": region, "queue": "q/events-9f8e7d6", "owner": "abc"}),
			announced(apitype.OpCreate, secretURN, map[string]any{"stringData": "[secret]"}),
		}, more...)
		b.cli.plan["up demo-bootstrap"] = slices.Clone(b.cli.plan["preview demo-bootstrap"])
	}
}

// moveCore has the state of core be another one.
func (b *planBench) moveCore() {
	core := b.cli.states["demo-core"]
	core.Resources = core.Resources[:2]
	b.cli.states["demo-core"] = core
}

// TestPlanAgain: the same plan twice is the same bytes, whatever names providers make up,
// and no secret is in it, nor a digest of it that needs no key.
func TestPlanAgain(t *testing.T) {
	b := newPlanBench(t)
	first := b.plan(t)
	b.cli.plan["preview demo-core"] = []apitype.EngineEvent{announced(apitype.OpCreate, queueURN, map[string]any{"name": "events-0000000", "delay": 5})}
	b.cli.plan["preview demo-bootstrap"][0].ResourcePreEvent.Metadata.New.Inputs["queue"] = "q/events-0000000"
	second := b.plan(t)
	assert.DeepEqual(t, first, second)
	text, err := json.Marshal(first)
	assert.NilError(t, err)
	assert.Check(t, !strings.Contains(string(text), aSecret) && !strings.Contains(string(text), "[secret]") && first.Keyed,
		"the plan is %s", text)
	bootstrap := first.Stack(stacks.Bootstrap)
	assert.DeepEqual(t, bootstrap.Steps[0].Unknown, []string{"/owner", "/queue", "/url"})
	// The secret is in the digest, by a key: with another passphrase it is another one.
	b.cli.secrets[secretURN+" stringData"] = "hunter3"
	other := b.plan(t)
	assert.Check(t, other.Stack(stacks.Bootstrap).Steps[1].Inputs != bootstrap.Steps[1].Inputs, "another secret has the same digest")
	b.cli.secrets[secretURN+" stringData"] = aSecret
	b.env["PULUMI_CONFIG_PASSPHRASE"] = "other"
	other = b.plan(t)
	assert.Check(t, other.Stack(stacks.Bootstrap).Steps[1].Inputs != bootstrap.Steps[1].Inputs, "the digest has no key")
	// Without a key the engine is not asked for secrets.
	delete(b.env, "PULUMI_CONFIG_PASSPHRASE")
	unkeyed := b.plan(t)
	b.cli.secrets[secretURN+" stringData"] = "hunter3"
	assert.DeepEqual(t, b.plan(t), unkeyed)
	assert.Check(t, !unkeyed.Keyed, "a plan without a key says that it has one")
}

// TestUpOfWhatWasApproved: core is applied, and bootstrap with what that has decided.
func TestUpOfWhatWasApproved(t *testing.T) {
	b := newPlanBench(t)
	p := b.plan(t)
	b.afterCore("eu")
	b.mustUp(t, b.cluster, UpOptions{Approved: &p})
	assert.DeepEqual(t, b.cli.operations(), []string{"preview demo-core", "up demo-core", "preview demo-bootstrap", "up demo-bootstrap"})
	// The state has moved: a plan is applied once.
	b.cli.calls, b.cli.during = nil, nil
	b.moveCore()
	_, err := b.Up(t.Context(), b.cluster, UpOptions{Approved: &p})
	b.refused(t, err, "demo-core: its state has moved")
}

// TestUpOfNothing: a plan without steps changes nothing.
func TestUpOfNothing(t *testing.T) {
	b := newPlanBench(t)
	b.cli.plan = nil
	p := b.plan(t)
	assert.Equal(t, p.Changes(), false)
	b.mustUp(t, b.cluster, UpOptions{Approved: &p})
	assert.DeepEqual(t, b.cli.operations(), []string{"preview demo-core", "preview demo-bootstrap"})
}

// refused checks an error, and that no up has begun.
func (b *planBench) refused(t *testing.T, err error, want string) {
	t.Helper()
	if refused := new(approved.Error); !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
		t.Errorf("error is %v, want an approved.Error with %q", err, want)
	}
	for _, call := range b.cli.operations() {
		assert.Check(t, !strings.HasPrefix(call, "up "), "%s was run", call)
	}
}

// TestUpOfAnythingElseIsRefused: what changes between the plan and the up.
func TestUpOfAnythingElseIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*planBench)
		want   string
	}{
		"the cloud has changed, so a step is new": {func(b *planBench) {
			b.cli.plan["preview demo-core"] = append(b.cli.plan["preview demo-core"], announced(apitype.OpUpdate, queueURN+"-2", map[string]any{}))
		}, "it would update aws:sqs/queue:Queue events-2, which is not in the plan"},
		"a step is gone": {
			func(b *planBench) { b.cli.plan["preview demo-core"] = nil },
			"it would no longer create aws:sqs/queue:Queue events, which is in the plan",
		},
		"another operation": {
			func(b *planBench) {
				b.cli.plan["preview demo-core"][0].ResourcePreEvent.Metadata.Op = apitype.OpReplace
			},
			"it would replace aws:sqs/queue:Queue events, which is not in the plan",
		},
		"other inputs": {
			func(b *planBench) {
				b.cli.plan["preview demo-core"][0].ResourcePreEvent.Metadata.New.Inputs["delay"] = 6
			},
			"with other inputs than in the plan",
		},
		"the state":         {(*planBench).moveCore, "its state has moved"},
		"no stack any more": {func(b *planBench) { delete(b.cli.states, "demo-core") }, "the stack is gone"},
		"the state, after the comparison": {func(b *planBench) {
			b.cli.during = func(operation string) {
				if operation == "preview demo-core" {
					b.moveCore()
				}
			}
		}, "its state has moved"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newPlanBench(t)
			p := b.plan(t)
			test.change(b)
			_, err := b.Up(t.Context(), b.cluster, UpOptions{Approved: &p})
			b.refused(t, err, test.want)
		})
	}
}

// TestBootstrapAfterCore: after core's up only what was unknown may be something else.
func TestBootstrapAfterCore(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*planBench)
		want   string
	}{
		"a value that was known": {func(b *planBench) { b.afterCore("us") }, "update kubernetes:core/v1:ConfigMap infra with other inputs"},
		"another step": {func(b *planBench) {
			b.afterCore("eu", announced(apitype.OpDelete, mapURN+"-2", map[string]any{}))
		}, "delete kubernetes:core/v1:ConfigMap infra-2, which is not in the plan"},
		"another secret": {func(b *planBench) {
			b.afterCore("eu")
			b.cli.secrets[secretURN+" stringData"] = "hunter3"
		}, "create kubernetes:core/v1:Secret token with other inputs"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newPlanBench(t)
			p := b.plan(t)
			test.change(b)
			_, err := b.Up(t.Context(), b.cluster, UpOptions{Approved: &p})
			refused := new(approved.Error)
			assert.Check(t, errors.As(err, &refused) && strings.Contains(err.Error(), test.want) && strings.Contains(refused.Done, "stack demo-core was applied"),
				"error is %v, want an approved.Error with %q that says what was done", err, test.want)
			assert.Check(t, !slices.Contains(b.cli.operations(), "up demo-bootstrap"), "bootstrap was applied")
		})
	}
}

// TestUpThatStraysIsCancelled: the engine takes a step in the up that its preview has not
// shown.
func TestUpThatStraysIsCancelled(t *testing.T) {
	b := newPlanBench(t)
	p := b.plan(t)
	b.cli.plan["up demo-core"] = append(b.cli.plan["up demo-core"], announced(apitype.OpDelete, queueURN+"-2", map[string]any{}))
	_, err := b.Up(t.Context(), b.cluster, UpOptions{Approved: &p})
	refused := new(approved.Error)
	assert.Check(t, errors.As(err, &refused) && strings.Contains(err.Error(), "the up began to delete aws:sqs/queue:Queue events-2, which is not in the plan; the up was cancelled"),
		"error is %v", err)
	assert.Check(t, !slices.Contains(b.cli.operations(), "up demo-bootstrap"), "bootstrap was applied")
}

// TestNoPlanOfWhatWasInterrupted: nobody knows what an up would find.
func TestNoPlanOfWhatWasInterrupted(t *testing.T) {
	b := newPlanBench(t)
	st := b.cli.states["demo-core"]
	st.PendingOperations = []apitype.OperationV2{{Type: apitype.OperationTypeCreating, Resource: apitype.ResourceV3{URN: queueURN, Type: "aws:sqs/queue:Queue"}}}
	b.cli.states["demo-core"] = st
	_, err := b.Preview(t.Context(), b.cluster, PreviewOptions{Plan: true})
	assert.ErrorContains(t, err, "no plan can say what an up will find; run `tombolo up demo` without a plan")
}
