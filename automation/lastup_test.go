package automation

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/unchanged"
	"tombolo/config"
)

// raised is a bench with a cluster whose up was recorded. The driver knows a key.
func raised(t *testing.T, c *config.Cluster, env map[string]string) *bench {
	t.Helper()
	b := unchangedBench(t)
	t.Setenv("PULUMI_CONFIG_PASSPHRASE", "open sesame")
	for name, value := range env {
		t.Setenv(name, value)
	}
	b.mustUp(t, c, UpOptions{})
	b.cli.calls = nil
	return b
}

func TestUpOfAnUnchangedCluster(t *testing.T) {
	b := raised(t, demo(), nil)
	result := b.mustUp(t, demo(), UpOptions{})
	assert.DeepEqual(t, b.cli.operations(), []string(nil))
	assert.Check(t, result.UnchangedSince != nil && strings.Contains(result.UnchangedSince.By, "@"), "%+v", result.UnchangedSince)
	assert.Assert(t, is.Len(result.Stacks, 2))
	core := result.Stacks[0]
	assert.Check(t, core.Operation == "up" && core.Changes["same"] > 0 && core.Changes.Total() == 0 && core.Outputs["vpcId"] == "vpc-1", "%+v", core)
	assert.Check(t, slices.ContainsFunc(b.seen.lines, func(line string) bool { return strings.Contains(line, "unchanged since the up of ") }), "%q", b.seen.lines)
}

// TestUpAfterACreation starts no engine, unless something has changed.
func TestUpAfterACreation(t *testing.T) {
	b := upped(t)
	result := b.mustUp(t, demo(), UpOptions{})
	assert.DeepEqual(t, b.cli.operations(), []string(nil))
	assert.Check(t, result.UnchangedSince != nil)
	changed := demo()
	changed.Tags = map[string]string{"a": "b"}
	b.mustUp(t, changed, UpOptions{})
	assert.Check(t, len(b.cli.operations()) > 0)
}

// TestUpThatStartsTheEngine: whatever is not known to be as it was is looked at.
func TestUpThatStartsTheEngine(t *testing.T) {
	withSecret := func() *config.Cluster {
		c := demo()
		c.GitOps.Auth = &config.Auth{Type: config.AuthBasic, Username: "flux", Password: &config.SecretRef{Env: "TOMBOLO_TEST_TOKEN"}}
		return c
	}
	token := map[string]string{"TOMBOLO_TEST_TOKEN": "s3cr3t"}
	for name, test := range map[string]struct {
		cluster func() *config.Cluster
		change  func(t *testing.T, b *bench, c *config.Cluster, o *UpOptions)
		stays   bool
	}{
		"nothing":           {demo, func(*testing.T, *bench, *config.Cluster, *UpOptions) {}, true},
		"a secret, nothing": {withSecret, func(*testing.T, *bench, *config.Cluster, *UpOptions) {}, true},
		"refresh":           {demo, func(_ *testing.T, _ *bench, _ *config.Cluster, o *UpOptions) { o.Refresh = true }, false},
		"force":             {demo, func(_ *testing.T, _ *bench, _ *config.Cluster, o *UpOptions) { o.Force = true }, false},
		"a key of the file": {demo, func(_ *testing.T, _ *bench, c *config.Cluster, _ *UpOptions) { c.Labels = map[string]string{"a": "b"} }, false},
		"a roll-back":       {demo, func(_ *testing.T, _ *bench, c *config.Cluster, _ *UpOptions) { c.RollBack = true }, false},
		"a secret": {withSecret, func(t *testing.T, _ *bench, _ *config.Cluster, _ *UpOptions) {
			t.Setenv("TOMBOLO_TEST_TOKEN", "other")
		}, false},
		"the passphrase": {withSecret, func(_ *testing.T, b *bench, _ *config.Cluster, _ *UpOptions) {
			b.deps.secretsKey = func() (unchanged.Key, error) { return unchanged.NewKey("other", "") }
		}, false},
		"no passphrase": {withSecret, func(_ *testing.T, b *bench, _ *config.Cluster, _ *UpOptions) {
			b.deps.secretsKey = func() (unchanged.Key, error) { return unchanged.Key{}, nil }
		}, false},
		"a passphrase that cannot be read": {withSecret, func(_ *testing.T, b *bench, _ *config.Cluster, _ *UpOptions) {
			b.deps.secretsKey = func() (unchanged.Key, error) { return unchanged.Key{}, errors.New("gone") }
		}, false},
		"the state of core": {demo, func(_ *testing.T, b *bench, _ *config.Cluster, _ *UpOptions) {
			b.edit("demo-core", func(s *apitype.DeploymentV3, _ *apitype.ResourceV3) { s.Resources[2].ID = "vpc-2" })
		}, false},
		"the state of bootstrap": {demo, func(_ *testing.T, b *bench, _ *config.Cluster, _ *UpOptions) {
			b.edit("demo-bootstrap", func(s *apitype.DeploymentV3, _ *apitype.ResourceV3) { s.Resources[2].ID = "vpc-2" })
		}, false},
		"an operation under way": {demo, func(_ *testing.T, b *bench, _ *config.Cluster, _ *UpOptions) {
			b.edit("demo-core", func(s *apitype.DeploymentV3, _ *apitype.ResourceV3) {
				s.PendingOperations = []apitype.OperationV2{{Resource: s.Resources[2], Type: apitype.OperationTypeUpdating}}
			})
		}, false},
		"a stack that is gone": {demo, func(_ *testing.T, b *bench, _ *config.Cluster, _ *UpOptions) {
			delete(b.cli.states, "demo-bootstrap")
		}, false},
		"a record that cannot be read": {demo, func(_ *testing.T, b *bench, _ *config.Cluster, _ *UpOptions) {
			b.cli.tags["demo-bootstrap"][unchanged.Tag] = "{"
		}, false},
		"a parameter that only the program reads": {demo, func(_ *testing.T, _ *bench, c *config.Cluster, _ *UpOptions) {
			c.Services = []config.Service{{Name: "shop", Values: map[string]any{"host": map[string]any{"fromSsm": "/shop/host"}}}}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := raised(t, test.cluster(), token)
			c, o := test.cluster(), UpOptions{}
			test.change(t, b, c, &o)
			_, err := b.Up(t.Context(), c, o)
			if test.stays {
				assert.NilError(t, err)
			}
			assert.Check(t, is.Equal(len(b.cli.operations()) == 0, test.stays), "operations %q, error %v", b.cli.operations(), err)
		})
	}
}

// TestUpOfBootstrapAlone: what core does not depend on starts no engine for it.
func TestUpOfBootstrapAlone(t *testing.T) {
	for name, test := range map[string]struct {
		change func(b *bench, c *config.Cluster, o *UpOptions)
		core   bool
	}{
		"a label":  {func(_ *bench, c *config.Cluster, _ *UpOptions) { c.Labels = map[string]string{"a": "b"} }, false},
		"a branch": {func(_ *bench, c *config.Cluster, _ *UpOptions) { c.GitOps.Branch = "next" }, false},
		"a distribution": {func(_ *bench, c *config.Cluster, _ *UpOptions) {
			c.GitOps.Distribution.SHA256 = strings.Repeat("a", 64)
		}, false},
		"a tag": {func(_ *bench, c *config.Cluster, _ *UpOptions) { c.Tags = map[string]string{"a": "b"} }, true},
		"a label and tag": {func(_ *bench, c *config.Cluster, _ *UpOptions) {
			c.Labels, c.Tags = map[string]string{"a": "b"}, map[string]string{"a": "b"}
		}, true},
		"force": {func(_ *bench, c *config.Cluster, o *UpOptions) {
			c.Labels, o.Force = map[string]string{"a": "b"}, true
		}, true},
		"the state of bootstrap": {func(b *bench, _ *config.Cluster, _ *UpOptions) {
			b.edit("demo-bootstrap", func(s *apitype.DeploymentV3, _ *apitype.ResourceV3) { s.Resources[2].ID = "x" })
		}, false},
		"the state of core": {func(b *bench, _ *config.Cluster, _ *UpOptions) {
			b.edit("demo-core", func(s *apitype.DeploymentV3, _ *apitype.ResourceV3) { s.Resources[2].ID = "vpc-2" })
		}, true},
		"an operation on core under way": {func(b *bench, _ *config.Cluster, _ *UpOptions) {
			b.edit("demo-core", func(s *apitype.DeploymentV3, _ *apitype.ResourceV3) {
				s.PendingOperations = []apitype.OperationV2{{Resource: s.Resources[2], Type: apitype.OperationTypeUpdating}}
			})
		}, true},
		"a record of older programs": {func(b *bench, c *config.Cluster, _ *UpOptions) {
			c.Labels = map[string]string{"a": "b"}
			b.cli.tags["demo-bootstrap"][unchanged.Tag] = `{"digest": "d", "at": "2026-11-25T14:40:00Z"}`
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := raised(t, demo(), nil)
			c, o := demo(), UpOptions{}
			test.change(b, c, &o)
			result, err := b.Up(t.Context(), c, o)
			operations := b.cli.operations()
			onCore := slices.ContainsFunc(operations, func(o string) bool { return strings.HasSuffix(o, "demo-core") })
			assert.Check(t, is.Equal(onCore, test.core), "operations %q, error %v", operations, err)
			assert.Check(t, slices.ContainsFunc(operations, func(o string) bool { return strings.HasSuffix(o, "demo-bootstrap") }) || test.core, "%q", operations)
			assert.Check(t, result.UnchangedSince == nil)
			if test.core {
				return
			}
			assert.NilError(t, err)
			assert.DeepEqual(t, operations, []string{"up demo-bootstrap"})
			assert.Check(t, is.Equal(result.Stacks[0].Changes.Total(), 0), "%+v", result.Stacks[0])
			assert.Check(t, is.Equal(result.Stacks[0].Outputs["vpcId"], "vpc-1"))
			_, still := b.Unchanged(t.Context(), c)
			assert.Check(t, still, "the up was not recorded")
		})
	}
}

// TestCoreIsRecordedAlone when nothing can be said of what bootstrap reads.
func TestCoreIsRecordedAlone(t *testing.T) {
	t.Setenv("TOMBOLO_TEST_TOKEN", "s3cr3t")
	withSecret := func() *config.Cluster {
		c := demo()
		c.GitOps.Auth = &config.Auth{Type: config.AuthBasic, Username: "flux", Password: &config.SecretRef{Env: "TOMBOLO_TEST_TOKEN"}}
		return c
	}
	b := unchangedBench(t)
	b.deps.secretsKey = func() (unchanged.Key, error) { return unchanged.Key{}, nil }
	b.mustUp(t, withSecret(), UpOptions{})
	_, all := b.Unchanged(t.Context(), withSecret())
	assert.Check(t, !all)
	b.cli.calls = nil
	b.mustUp(t, withSecret(), UpOptions{})
	operations := b.cli.operations()
	assert.Check(t, len(operations) > 0 && !slices.ContainsFunc(operations, func(o string) bool { return strings.HasSuffix(o, "demo-core") }), "%q", operations)
}

// TestWhatIsNotRecorded: an up that failed, and one of whose inputs nothing can be said.
func TestWhatIsNotRecorded(t *testing.T) {
	b := newBench(t)
	b.cli.fail["up demo-bootstrap"] = failure{stderr: "error: no"}
	_, err := b.Up(t.Context(), demo(), UpOptions{})
	assert.Check(t, err != nil)
	assert.Check(t, is.Len(b.cli.tags, 0))

	for name, prepare := range map[string]func(*bench, *config.Cluster){
		"what another up began": func(b *bench, _ *config.Cluster) {
			state := deployed("demo-bootstrap")
			state.Resources[0].Outputs = nil
			b.cli.states["demo-bootstrap"] = state
		},
		"an engine that is taken over": func(_ *bench, c *config.Cluster) { c.GitOps.TakeOver = true },
	} { // the next up hands over
		b, c := newBench(t), demo()
		prepare(b, c)
		b.mustUp(t, c, UpOptions{})
		assert.Check(t, is.Len(b.cli.tags, 0), name)
	}

	b = unchangedBench(t) // somebody else's up of core ends while bootstrap is made
	b.cli.during = func(operation string) {
		if operation == "preview demo-bootstrap" {
			b.edit("demo-core", func(s *apitype.DeploymentV3, _ *apitype.ResourceV3) { s.Resources[2].ID = "vpc-2" })
		}
	}
	b.mustUp(t, demo(), UpOptions{})
	b.cli.during, b.cli.calls = nil, nil
	_, unchanged := b.Unchanged(t.Context(), demo())
	assert.Check(t, !unchanged)
}

// TestADestructionForgetsTheUp before it changes anything: what it does first, such as stopping
// the GitOps engine, is in no state.
func TestADestructionForgetsTheUp(t *testing.T) {
	b := raised(t, demo(), nil)
	_, is := b.Unchanged(t.Context(), demo())
	assert.Check(t, is)
	b.cli.fail["refresh demo-bootstrap"], b.cli.fail["destroy demo-bootstrap"] = failure{stderr: "error: no"}, failure{stderr: "error: no"}
	_, err := b.Destroy(t.Context(), demo(), DestroyOptions{})
	assert.Check(t, err != nil)
	_, is = b.Unchanged(t.Context(), demo())
	assert.Check(t, !is)
}

// TestASpokeDependsOnItsHub: what the hub's core puts out is an input, and nothing else of it.
func TestASpokeDependsOnItsHub(t *testing.T) {
	b := unchangedBench(t)
	spoke, hub := demo(), demo()
	hub.Name, hub.GitOps.Engine = "mgmt", config.ArgoCD
	spoke.GitOps.Engine, spoke.GitOps.Hub = config.ArgoCD, "mgmt"
	b.deps.loadHub = func(*config.Cluster) (*config.Cluster, error) { return hub, nil }
	b.cli.states["mgmt-core"] = handedOff("mgmt")
	assert.NilError(t, b.Record(t.Context(), spoke))
	check := func(want bool, what string) {
		t.Helper()
		_, got := b.Unchanged(t.Context(), spoke)
		assert.Check(t, is.Equal(got, want), what)
	}
	check(true, "nothing")
	b.cli.add("mgmt-core", apitype.ResourceV3{URN: "urn:pulumi:s::tombolo::a:b:C::d", Type: "a:b:C"})
	check(true, "a resource of the hub")
	outputs := b.cli.states["mgmt-core"].Resources[0].Outputs
	outputs["more"] = "x"
	check(false, "an output of the hub")
	delete(outputs, "more")
	check(true, "nothing again")
	hub.Labels = map[string]string{"a": "b"}
	check(false, "the file of the hub")
	hub.Labels = nil
	delete(b.cli.states, "mgmt-core")
	check(false, "no hub")
}
