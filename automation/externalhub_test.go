package automation

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"tombolo/automation/argocd"
	"tombolo/automation/health"
	"tombolo/automation/kube"
	"tombolo/automation/kube/kubetest"
	"tombolo/config"
)

func externalSpoke() *config.Cluster {
	return &config.Cluster{Name: "spoke", GitOps: config.GitOps{Engine: config.ArgoCD, ExternalHub: &config.ExternalHub{
		Name: "company-hub", Endpoint: "https://hub.example.com", CertificateAuthority: "Q0E=",
		Token: &config.SecretRef{Env: "TOMBOLO_HUB_TOKEN"},
	}}}
}

// newExternalFleet is a spoke that is registered with a hub of others, which has these
// objects too.
func newExternalFleet(t *testing.T, onHub ...string) *fleet {
	t.Helper()
	f := newFleet(t, onHub...)
	f.opts.Env["TOMBOLO_HUB_TOKEN"] = "t0ken"
	f.deps.dialHub = func(kubeconfig []byte) (kube.Cluster, error) {
		assert.Check(t, strings.Contains(string(kubeconfig), "token: t0ken"))
		return f.clusters["mgmt"], nil
	}
	f.cli.states = map[string]apitype.DeploymentV3{"spoke-core": handedOff("spoke"), "spoke-bootstrap": registeredOutside()}
	return f
}

// registeredOutside is a bootstrap whose registration is on the hub of others.
func registeredOutside() apitype.DeploymentV3 {
	d := registeredWith("company-hub", "spoke")
	for i := range d.Resources {
		if d.Resources[i].Inputs["clusterIdentifier"] != nil {
			d.Resources[i].Inputs["clusterIdentifier"] = "external-hub/company-hub"
		}
	}
	return d
}

func (f *fleet) registered(t *testing.T) bool {
	t.Helper()
	found, err := (argocd.Hub{Client: f.clusters["mgmt"].Client}).Registration(t.Context(), "spoke")
	assert.NilError(t, err)
	return found != nil
}

func (f *fleet) inState() bool {
	return slices.ContainsFunc(f.cli.states["spoke-bootstrap"].Resources, func(r apitype.ResourceV3) bool { return r.ID == "argocd/cluster-spoke" })
}

// forbid has the hub refuse to list Applications.
func (f *fleet) forbid() {
	f.clusters["mgmt"].Client.(*fake.FakeDynamicClient).PrependReactor("list", "applications", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Group: argocd.Group, Resource: "applications"}, "", errors.New("no"))
	})
}

// TestDestroyLeavesAnExternalHub: the registration goes before anything else of bootstrap,
// and the state forgets it: the token in the state may be void.
func TestDestroyLeavesAnExternalHub(t *testing.T) {
	for name, test := range map[string]struct {
		forbidden bool
		note      string
	}{
		"may list applications":     {},
		"may not list applications": {forbidden: true, note: "hub company-hub does not let the token list Applications"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newExternalFleet(t)
			if test.forbidden {
				f.forbid()
			}
			gone := false
			f.cli.during = func(operation string) {
				gone = gone || operation == "destroy spoke-bootstrap" && !f.registered(t) && !f.inState()
			}
			f.mustDestroy(t, externalSpoke(), DestroyOptions{Only: "bootstrap"})
			assert.Check(t, gone, "the registration was there when bootstrap was destroyed")
			assert.Check(t, strings.Contains(strings.Join(f.seen.notes(), "\n"), test.note), "notes: %q", f.seen.notes())
		})
	}
}

// TestDestroyWithTheirApplications: those of a hub of others are not ours to delete.
func TestDestroyWithTheirApplications(t *testing.T) {
	f := newExternalFleet(t, kubetest.Application("theirs"))
	_, err := f.Destroy(t.Context(), externalSpoke(), DestroyOptions{Only: "bootstrap"})
	wantPrecondition(t, err, "destroy spoke: hub company-hub, which others run, has 1 application for it: Application argocd/theirs; "+
		"nothing was changed: have the hub's owners delete them, while the cluster is there, and run the command again")
	assert.Check(t, f.registered(t) && f.inState())
}

// TestDestroyWithoutTheExternalHub: what cannot be asked is given up where that is asked for.
func TestDestroyWithoutTheExternalHub(t *testing.T) {
	for name, prepare := range map[string]func(f *fleet, c *config.Cluster){
		"silent":     func(f *fleet, _ *config.Cluster) { silent(f.clusters["mgmt"]) },
		"no token":   func(f *fleet, _ *config.Cluster) { f.opts.Env = nil },
		"other name": func(_ *fleet, c *config.Cluster) { c.GitOps.ExternalHub.Name = "another" },
		"own hub":    func(_ *fleet, c *config.Cluster) { c.GitOps.ExternalHub, c.GitOps.Hub = nil, "mgmt" },
	} {
		t.Run(name, func(t *testing.T) {
			f, c := newExternalFleet(t), externalSpoke()
			prepare(f, c)
			_, err := f.Destroy(t.Context(), c, DestroyOptions{Only: "bootstrap"})
			assert.ErrorContains(t, err, "nothing was changed: ")
			assert.ErrorContains(t, err, "if the hub is gone for good, add --unreachable")
			assert.Check(t, f.inState())
			f.mustDestroy(t, c, DestroyOptions{Only: "bootstrap", Unreachable: true})
			assert.Check(t, strings.Contains(strings.Join(f.seen.notes(), "\n"), "hub company-hub is given up: if it is there still, its owners should delete Secret argocd/cluster-spoke"))
		})
	}
}

// TestUpAsksTheExternalHubFirst: a token without its rights is known before core is made.
func TestUpAsksTheExternalHubFirst(t *testing.T) {
	f := newExternalFleet(t)
	f.cli.states = nil
	f.clusters["mgmt"].Client.(*fake.FakeDynamicClient).PrependReactor("get", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "cluster-spoke", errors.New("no"))
	})
	_, err := f.Up(t.Context(), externalSpoke(), UpOptions{})
	assert.ErrorContains(t, err, "up spoke: hub company-hub, which others run, cannot be asked")
	assert.ErrorContains(t, err, "its token may get, create, patch, update and delete Secret argocd/cluster-spoke")
	assert.Check(t, len(f.cli.states) == 0, "something was made")
}

// TestUpRegistersAgain what somebody has deleted on a hub of others.
func TestUpRegistersAgain(t *testing.T) {
	f, c := newExternalFleet(t), externalSpoke()
	found, err := (argocd.Hub{Client: f.clusters["mgmt"].Client}).Registration(t.Context(), "spoke")
	assert.NilError(t, err)
	assert.NilError(t, (argocd.Hub{Client: f.clusters["mgmt"].Client, Owner: found.Owner()}).DeleteRegistration(t.Context(), *found))
	known := true
	f.cli.during = func(operation string) {
		if operation == "up spoke-bootstrap" {
			known = f.inState()
		}
	}
	f.mustUp(t, c, UpOptions{})
	assert.Check(t, !known, "the state had a registration that the hub does not have, so none would be made")
}

// TestVerifyWithAnExternalHub looks at the registration, and at no Application.
func TestVerifyWithAnExternalHub(t *testing.T) {
	f, c := newExternalFleet(t), externalSpoke()
	f.forbid()
	look, err := f.Look(t.Context(), c)
	assert.NilError(t, err)
	i := slices.IndexFunc(look.Checks, func(c health.Check) bool { return c.Kind == "Secret" })
	assert.Assert(t, i >= 0, "checks: %v", look.Checks)
	assert.Check(t, look.Checks[i].Ready)
	_, err = f.Verify(t.Context(), c, health.Options{Revision: "abc"})
	wantPrecondition(t, err, "verify spoke: what revision hub company-hub is at cannot be asked: others run it; leave --revision out")
}
