package automation

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/backend"
	"tombolo/automation/fault"
	"tombolo/automation/kube"
	"tombolo/automation/kube/kubetest"
	"tombolo/automation/preflight"
	"tombolo/automation/upgrade"
	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/config/strict"
	"tombolo/stacks/handoff"
	"tombolo/stacks/owner"
)

// ofFile is the cluster of config/testdata/base.yaml, in a file of its own.
func ofFile(t *testing.T, edits ...string) *config.Cluster {
	t.Helper()
	text, err := os.ReadFile("../config/testdata/base.yaml")
	assert.NilError(t, err)
	file := filepath.Join(t.TempDir(), "demo.yaml")
	assert.NilError(t, os.WriteFile(file, []byte(strings.NewReplacer(edits...).Replace(string(text))), 0o600))
	c, err := config.Load(file)
	assert.NilError(t, err)
	return c
}

// rebuildable is a bench with a cluster that is deployed as its file says.
func rebuildable(t *testing.T) (*bench, *config.Cluster) {
	t.Helper()
	b, c := ready(t), ofFile(t)
	b.mustUp(t, c, UpOptions{})
	b.cli.calls = nil
	return b, c
}

// rebuild plans and rebuilds. The verification fails with an error, if one is given.
func (b *bench) rebuild(ctx context.Context, c *config.Cluster, o RebuildOptions, verification error) (RebuildPlan, error) {
	p, err := b.PlanRebuild(ctx, c, o)
	if err != nil {
		return p, err
	}
	o.Verify = func(context.Context, *config.Cluster) error {
		b.cli.calls = append(b.cli.calls, "verify")
		return verification
	}
	return p, b.Rebuild(ctx, c, p, o)
}

// makeLive has core have a control plane in Frankfurt.
func (b *bench) makeLive() {
	b.cli.add("demo-core", apitype.ResourceV3{
		URN: "urn:pulumi:s::tombolo::aws:eks/cluster:Cluster::demo", Type: "aws:eks/cluster:Cluster", Custom: true, ID: "demo",
		Outputs: map[string]any{
			"arn": plane.ID, "name": "demo", "version": "1.35",
			"identities": []any{map[string]any{"oidcs": []any{map[string]any{"issuer": plane.Issuer}}}},
		},
	})
}

func (b *bench) record() string {
	return (&backend.State{Deployment: b.cli.states["demo-core"]}).Rebuild()
}

// untested has a rebuild go on with the engine of the file.
var untested = []upgrade.Risk{upgrade.UntestedEngine}

var wholeRebuild = []string{"destroy demo-bootstrap", "destroy demo-core", "up demo-core", "up demo-bootstrap", "verify"}

func TestRebuild(t *testing.T) {
	b, c := rebuildable(t)
	var phases []string
	p, err := b.rebuild(t.Context(), c, RebuildOptions{
		Version: "1.36", Accept: untested,
		Began: func(p RebuildPhase) { phases = append(phases, p.String()) },
		Ended: func(p RebuildPhase, _ time.Duration) { phases = append(phases, "ended "+p.String()) },
	}, nil)
	assert.NilError(t, err)
	assert.DeepEqual(t, b.cli.operations(), wholeRebuild)
	assert.DeepEqual(t, phases, []string{
		"destroy, drain", "ended destroy, drain", "destroy, bootstrap", "ended destroy, bootstrap", "destroy, core", "ended destroy, core",
		"up, core", "ended up, core", "up, bootstrap", "ended up, bootstrap", "up, verify", "ended up, verify",
	})
	assert.Check(t, !p.Resumes && p.Version == "1.36")
	assert.Equal(t, b.record(), "", "the record of a rebuild that has ended is gone")
	now, err := config.Load(c.File)
	assert.NilError(t, err)
	assert.Equal(t, now.Kubernetes.Version, "1.36")
	assert.Equal(t, c.Kubernetes.Version, "1.35", "the caller's cluster is its own")
}

// TestRebuildGoesOn stops a rebuild at each of its operations: the next one does what is
// left, and destroys nothing that is new.
func TestRebuildGoesOn(t *testing.T) {
	for i, operation := range wholeRebuild {
		t.Run(operation, func(t *testing.T) {
			b, c := rebuildable(t)
			var failed error
			if operation == "verify" {
				failed = errors.New("not ready")
			} else {
				b.cli.fail[operation] = failure{stderr: "error: it broke"}
			}
			_, err := b.rebuild(t.Context(), c, RebuildOptions{Version: "1.36", KeepData: true, Accept: untested}, failed)
			assert.Check(t, err != nil)
			assert.Check(t, b.record() != "", "nothing tells of the rebuild")
			now, err := config.Load(c.File)
			assert.NilError(t, err)
			want := "1.35"
			if i >= 2 {
				want = "1.36"
			}
			assert.Equal(t, now.Kubernetes.Version, want, "the file has the new version as soon as the old cluster is gone")

			b.cli.fail, b.cli.calls = map[string]failure{}, nil
			p, err := b.rebuild(t.Context(), now, RebuildOptions{}, nil)
			assert.NilError(t, err)
			assert.Check(t, p.Resumes && p.KeepData && p.Version == "1.36" && p.Destroyed == (i >= 2), "%+v", p)
			assert.DeepEqual(t, b.cli.operations(), wholeRebuild[min(i, 2):])
			assert.Equal(t, b.record(), "")
		})
	}
}

// TestRebuildKeepsData in the state, so that the new cluster goes on with it.
func TestRebuildKeepsData(t *testing.T) {
	b, c := rebuildable(t)
	b.makeBucket()
	b.cloud.has = []string{"arn:aws:s3:::demo-loki", arnOf + "snapshot/snap-1"}
	var had []string
	b.cli.during = func(op string) {
		if op == "up demo-core" {
			for _, r := range b.cli.states["demo-core"].Resources {
				had = append(had, string(r.Type))
			}
			assert.Check(t, b.record() != "")
			st := &backend.State{Deployment: b.cli.states["demo-core"]}
			assert.Check(t, is.Len(st.Outputs(), 0), "outputs of the old cluster")
		}
	}
	_, err := b.rebuild(t.Context(), c, RebuildOptions{KeepData: true}, nil)
	assert.NilError(t, err)
	assert.DeepEqual(t, had, []string{backend.RootType, string(owner.Type), "aws:s3/bucketV2:BucketV2", "aws:s3/bucketPolicy:BucketPolicy"})
	assert.Check(t, is.Contains(b.seen.notes(), "note demo-core: keeps aws:s3/bucketV2:BucketV2 demo-loki (demo-loki-bucket)"))
	assert.Check(t, is.Len(b.cloud.removed, 0))
}

// TestRebuildGoesOnWithoutControlPlane: a kill in the middle of core leaves outputs in the
// state, and nobody who answers.
func TestRebuildGoesOnWithoutControlPlane(t *testing.T) {
	b, c := rebuildable(t)
	b.cli.fail["destroy demo-core"] = failure{stderr: "error: it broke"}
	_, err := b.rebuild(t.Context(), c, RebuildOptions{}, nil)
	assert.Check(t, err != nil)
	b.cli.fail, b.cli.calls = map[string]failure{}, nil
	k := kubetest.ArgoCD(t)
	silent(k)
	b.deps.probeTimeout = 10 * time.Millisecond
	b.deps.dial = func(handoff.Values) (kube.Cluster, error) { return k, nil }
	_, err = b.rebuild(t.Context(), c, RebuildOptions{}, nil)
	assert.NilError(t, err)
	assert.DeepEqual(t, b.cli.operations(), wholeRebuild[1:])
}

// TestAnUpEndsARebuild: the cluster is there as its file says, and the next rebuild is
// another one.
func TestAnUpEndsARebuild(t *testing.T) {
	b, c := rebuildable(t)
	b.cli.fail["destroy demo-core"] = failure{stderr: "error: it broke"}
	_, err := b.rebuild(t.Context(), c, RebuildOptions{}, nil)
	assert.Check(t, err != nil)
	b.cli.fail = map[string]failure{}
	b.mustUp(t, c, UpOptions{})
	p, err := b.PlanRebuild(t.Context(), c, RebuildOptions{})
	assert.NilError(t, err)
	assert.Check(t, !p.Resumes)
}

// TestADestroyEndsARebuild likewise.
func TestADestroyEndsARebuild(t *testing.T) {
	b, c := rebuildable(t)
	b.cli.fail["up demo-core"] = failure{stderr: "error: it broke"}
	_, err := b.rebuild(t.Context(), c, RebuildOptions{}, nil)
	assert.Check(t, err != nil && b.record() != "")
	b.mustDestroy(t, c, DestroyOptions{})
	assert.Equal(t, b.record(), "")
}

func TestRebuildRefusals(t *testing.T) {
	unfinished := func(b *bench) {
		b.cli.states["demo-core"].Resources[0].Outputs["tomboloRebuild"] = `{"began":"2026-01-02T03:04:05Z","version":"1.36"}`
	}
	for name, test := range map[string]struct {
		options RebuildOptions
		given   func(b *bench, c *config.Cluster)
		want    string
	}{
		"protected": {
			given: func(_ *bench, c *config.Cluster) { c.Protect = true },
			want:  "destroy demo: it is protected by its cluster file; nothing was changed: give --yes-destroy demo",
		},
		"not deployed": {
			given: func(b *bench, _ *config.Cluster) { clear(b.cli.states) },
			want:  "demo is not deployed; deploy it with `tombolo up demo`",
		},
		"of others": {
			given: func(_ *bench, c *config.Cluster) { c.Kubernetes.Existing = &config.ExistingCluster{Name: "theirs"} },
			want:  "rebuild demo: it is the existing cluster theirs, which others make and destroy; have its owner make it anew",
		},
		"a version that is none": {
			options: RebuildOptions{Version: "1.99"},
			want:    "kubernetes.version",
		},
		"a version that the cloud does not offer": {
			given: func(b *bench, _ *config.Cluster) {
				b.cloud.facts = func(ctx context.Context, c *config.Cluster) preflight.Facts {
					f := roomy(ctx, c)
					f.Versions = []string{"1.34"}
					return f
				}
				b.asked = preflight.Accounts{} // of the up before
			},
			want: "kubernetes.version: EKS does not offer 1.35 in eu-central-1 (choose one of 1.34)",
		},
		"an engine that is not tested with the version": {
			options: RebuildOptions{Version: "1.36"},
			want:    "demo.yaml:",
		},
		"a cluster elsewhere": {
			given: func(b *bench, c *config.Cluster) { b.makeLive(); c.Cloud.Region = "eu-west-1" },
			want:  "the live cluster has another cloud.region; nothing was started: take the change back and run `tombolo destroy demo`",
		},
		"another engine": {
			given: func(b *bench, c *config.Cluster) {
				b.cli.states["demo-bootstrap"] = registeredWith("demo", "demo")
			},
			want: "the live cluster has another engine or hub; nothing was started",
		},
		"another version while one is not finished": {
			options: RebuildOptions{Version: "1.35"},
			given:   func(b *bench, _ *config.Cluster) { unfinished(b) },
			want:    "rebuild demo: the rebuild that began 2026-01-02T03:04:05Z is not finished, and goes to Kubernetes 1.36, not to 1.35; leave --version out",
		},
		"a record of another release": {
			given: func(b *bench, _ *config.Cluster) {
				b.cli.states["demo-core"].Resources[0].Outputs["tomboloRebuild"] = "later"
			},
			want: "use the release of Tombolo that began it, or run `tombolo up demo`",
		},
		"what the up needs": {
			given: func(b *bench, _ *config.Cluster) { b.missing = errors.New("GIT_TOKEN is not set") },
			want:  "up demo: GIT_TOKEN is not set; nothing was started",
		},
		"a provider of its own": {
			given: func(_ *bench, c *config.Cluster) {
				c.Addons = addon.Selection{"authentik": &addon.AuthentikOptions{Host: "id.example.com"}}
				c.Kubernetes.IdentityProvider = &config.IdentityProvider{IssuerURL: "https://id.example.com/application/o/kubernetes/"}
			},
			want: "rebuild demo: the new cluster could not be made with the identity provider that is its own addon authentik",
		},
		"a key vault of core's": {
			given: func(b *bench, c *config.Cluster) {
				b.cli.add("demo-core", apitype.ResourceV3{
					URN: "urn:pulumi:s::tombolo::azure-native:keyvault/v20230701:Vault::demo", Type: "azure-native:keyvault/v20230701:Vault", Custom: true,
				})
				c.Cloud = config.Cloud{Provider: config.Azure, Account: c.Cloud.Account, ResourceGroup: "demo"}
				c.Addons = addon.Selection{"external-secrets": &addon.SecretsOptions{}}
			},
			want: "with its secrets, whose name Azure keeps for 90 days, and the new cluster needs it; nothing was changed: give --keep-data",
		},
		"a cluster that does not answer": {
			given: func(b *bench, _ *config.Cluster) {
				k := kubetest.ArgoCD(t)
				silent(k)
				b.deps.probeTimeout = 10 * time.Millisecond
				b.deps.dial = func(handoff.Values) (kube.Cluster, error) { return k, nil }
			},
			want: "destroy demo: the Kubernetes API does not answer",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, c := rebuildable(t)
			if test.given != nil {
				test.given(b, c)
			}
			_, err := b.rebuild(t.Context(), c, test.options, nil)
			assert.ErrorContains(t, err, test.want)
			var refused *fault.Error
			var problems strict.Problems
			assert.Check(t, errors.As(err, &refused) || errors.As(err, &problems), "%T", err)
			assert.Check(t, is.Len(b.cli.operations(), 0), "nothing is started")
		})
	}
}
