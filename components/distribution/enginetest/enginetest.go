// Package enginetest has the tests that all GitOps engines have in common.
package enginetest

import (
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals"
	"gotest.tools/v3/assert"

	"tombolo/components/distribution"
	"tombolo/components/recorder"
)

// Engine is an engine under test.
type Engine struct {
	// Args that New uses, for tests to change.
	Args *distribution.EngineArgs
	// New makes the engine with the Args.
	New func(*pulumi.Context) (*distribution.Engine, error)
}

func (e Engine) run(t *testing.T) (r *recorder.Recorder, made []string) {
	t.Helper()
	r = &recorder.Recorder{}
	err := r.Run("bootstrap", func(ctx *pulumi.Context) error {
		engine, err := e.New(ctx)
		if err != nil {
			return err
		}
		result, err := internals.UnsafeAwaitOutput(ctx.Context(), engine.Made)
		made, _ = result.Value.([]string)
		return err
	})
	return r.Sound(t, err), made
}

// Ownership tests that Pulumi forgets the objects of the distribution once they are
// handed over, and keeps those that are ours.
func (e Engine) Ownership(t *testing.T, ours func(recorder.Resource) bool) {
	t.Helper()
	for _, e.Args.HandedOver = range []bool{false, true} {
		r, _ := e.run(t)
		for _, res := range r.All() {
			if !res.Custom {
				continue
			}
			if ignored := slices.Contains(res.IgnoreChanges, "*"); ignored != (e.Args.HandedOver && !ours(res)) {
				t.Errorf("handed over %t: %s %s: changes ignored: %t", e.Args.HandedOver, res.Type, res.Name, ignored)
			}
		}
	}
}

// Outlives tests which resources stay when the stack is destroyed.
func (e Engine) Outlives(t *testing.T, stays func(recorder.Resource) bool) {
	t.Helper()
	_, made := e.run(t)
	for _, e.Args.HandedOver = range []bool{false, true} {
		e.Args.Made = made
		r, _ := e.run(t)
		for _, res := range r.All() {
			if res.Custom && res.RetainOnDelete != stays(res) {
				t.Errorf("handed over %t: %s %s: outlives the stack: %t", e.Args.HandedOver, res.Type, res.Name, res.RetainOnDelete)
			}
		}
	}
}

// KeepsWhatWasMade tests that after the hand-over another manifest neither makes nor
// deletes an object: identity is one that was made, the Deployment before becomes
// the Deployment after. Both names are those of Pulumi's resources.
func (e Engine) KeepsWhatWasMade(t *testing.T, identity, before, after string) {
	t.Helper()
	const deployment = "kubernetes:apps/v1:Deployment"
	_, made := e.run(t)
	assert.Assert(t, slices.Contains(made, identity), "made are %v, without %s", made, identity)
	name := func(resource string) string {
		return "name: " + resource[strings.Index(resource, "deployment-")+len("deployment-"):]
	}
	e.Args.HandedOver, e.Args.Made = true, made
	e.Args.Manifest = []byte(strings.ReplaceAll(string(e.Args.Manifest), name(before), name(after)))
	r, _ := e.run(t)
	_, kept := r.Named(deployment, before)
	assert.Check(t, kept, "an object that the manifest no longer has is not kept")
	_, added := r.Named(deployment, after)
	assert.Check(t, !added, "an object that is new in the manifest is made")
}

// ForPods tests that pods of the distribution find what they need to start, and that this
// stays ours after the hand-over; namespace is the engine's.
func (e Engine) ForPods(t *testing.T, namespace string) {
	t.Helper()
	e.Args.CertificateAuthority = "-----BEGIN CERTIFICATE-----\n"
	e.Args.PullConfig = pulumi.ToSecret(pulumi.String(`{"auths": {}}`)).(pulumi.StringOutput)
	for _, e.Args.HandedOver = range []bool{false, true} {
		r, _ := e.run(t)
		for object, want := range map[string]map[string]string{
			"kubernetes:core/v1:ConfigMap company-ca": {`data["ca.crt"]`: "-----BEGIN CERTIFICATE-----\n"},
			"kubernetes:core/v1:Secret image-pull":    {"type": "kubernetes.io/dockerconfigjson"},
		} {
			token, name, _ := strings.Cut(object, " ")
			i := slices.IndexFunc(r.OfType(token), func(o recorder.Resource) bool { return o.String("metadata.name") == name })
			assert.Assert(t, i >= 0, "there is no %s", object)
			made := r.OfType(token)[i]
			made.Expect(t, want)
			made.Expect(t, map[string]string{"metadata.namespace": namespace})
			assert.Check(t, len(made.IgnoreChanges) == 0, "%s is left as it is", object)
			if data, _ := made.Value("data"); name == "image-pull" {
				assert.Assert(t, data.IsSecret(), "the credentials are no secret")
				assert.Equal(t, data.SecretValue().Element.ObjectValue()[".dockerconfigjson"].StringValue(), "eyJhdXRocyI6IHt9fQ==")
			}
			for _, d := range r.OfType("kubernetes:apps/v1:Deployment") {
				assert.Check(t, d.WaitsFor(made.Name), "%s does not wait for %s", d.Name, object)
			}
		}
	}
}

// Identified tests that the pods that read Git get an identity of Entra, by patches: the account says which
// one it is before they start, and another one rolls them.
func Identified(t *testing.T, r *recorder.Recorder, namespace, reader, clientID string) {
	t.Helper()
	account, pods := r.OfType("kubernetes:core/v1:ServiceAccountPatch"), r.OfType("kubernetes:apps/v1:DeploymentPatch")
	assert.Assert(t, len(account) == 1 && len(pods) == 1, "%d patches of accounts and %d of Deployments", len(account), len(pods))
	for _, patch := range []recorder.Resource{account[0], pods[0]} {
		patch.Expect(t, map[string]string{"metadata.name": reader, "metadata.namespace": namespace, `metadata.annotations["pulumi.com/patchForce"]`: "true"})
		assert.Check(t, len(patch.IgnoreChanges) == 0, "%s is left alone", patch.Name)
	}
	account[0].Expect(t, map[string]string{`metadata.annotations["azure.workload.identity/client-id"]`: clientID})
	pods[0].Expect(t, map[string]string{
		`spec.template.metadata.labels["azure.workload.identity/use"]`: "true", `spec.template.metadata.annotations["tombolo/git-identity"]`: clientID,
		`metadata.annotations["pulumi.com/skipAwait"]`: "true",
	})
	assert.Check(t, account[0].WaitsFor("ServiceAccount::") && pods[0].WaitsFor("Deployment::"), "a patch comes before its object")
	for _, d := range r.OfType("kubernetes:apps/v1:Deployment") {
		assert.Check(t, d.WaitsFor("ServiceAccountPatch::"), "%s does not wait for the account", d.Name)
	}
}
