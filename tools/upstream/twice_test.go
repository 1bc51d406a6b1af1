package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/lab/charts"
	"tombolo/tools/upstream/facts"
)

// mend says why a template's random text or lookup does no harm.
type mend struct {
	// ignored: Argo CD ignores the objects of known.
	ignored bool
	// unset is a value whose default leaves the function uncalled.
	unset string
	// set are values of the tree, all true, that mend it: for Flux alone if it is ignored.
	set []string
}

// mends are those of each template with such a function, by chart.
var mends = map[string]map[string]mend{
	// README.md of the chart, keepTLSSecret: an upgrade keeps the certificate.
	"aws-load-balancer-controller": {"templates/_helpers.tpl": {ignored: true, set: []string{"keepTLSSecret"}}},
	// _helpers.tpl: the password of the Secret that there is, or a random one.
	// pvc.yaml: lookup is called for a volume claim.
	"grafana": {"templates/_helpers.tpl": {ignored: true}, "templates/pvc.yaml": {unset: "grafana/persistence"}},
	// The function is under this condition, for the one component that the trees enable.
	"loki": {"templates/_workload.tpl": {unset: "singleBinary/statefulSetRecreateJob"}},
	// The webhooks' certificates are cert-manager's, and what the functions made is not used.
	// The heartbeat's schedule is the time of the rendering.
	"linkerd-control-plane": {
		"templates/destination-rbac.yaml":    {set: []string{"profileValidator/externalSecret", "policyValidator/externalSecret"}},
		"templates/heartbeat.yaml":           {set: []string{"disableHeartBeat"}},
		"templates/proxy-injector-rbac.yaml": {set: []string{"proxyInjector/externalSecret"}},
	},
	// What genCA makes is used with this value alone, which is off by default.
	"trust-manager": {
		"templates/deployment.yaml": {unset: "app/webhook/tls/helmCert"},
		"templates/webhook.yaml":    {unset: "app/webhook/tls/helmCert"},
	},
	// Both are off by default, and the functions called only for them.
	"sealed-secrets": {
		"templates/networkpolicy.yaml": {unset: "networkPolicy/enabled"},
		"templates/tls-secret.yaml":    {unset: "ingress/enabled"},
	},
	// Only for the type helm; the default is metrics-server.
	"metrics-server": {"templates/apiservice.yaml": {unset: "tls/type"}},
}

// TestGeneratorsAreMended: each template that may give something else each time is
// mended in the trees, or its function is not called with their values.
func TestGeneratorsAreMended(t *testing.T) {
	pins, err := pinned(os.DirFS("../.."))
	assert.NilError(t, err)
	checked := 0
	for _, p := range pins {
		f, ok, err := facts.Find(p.Chart, p.Version)
		assert.NilError(t, err)
		assert.Assert(t, ok, p.Chart)
		for _, template := range slices.Sorted(maps.Keys(f.Generators)) {
			checked++
			m, ok := mends[p.Chart][template]
			if !ok {
				t.Errorf("%s: %s calls %v: say how the trees mend it", p.Chart, template, f.Generators[template])
				continue
			}
			assert.Check(t, !m.ignored || len(known[p.Chart]) > 0, "%s: no objects are known to differ", p.Chart)
			for _, user := range pins {
				if user.Chart != p.Chart && !slices.Contains(dependencies(t, user), p.Chart) {
					continue
				}
				assert.Check(t, m.unset == "" || value(user.Values, m.unset) == nil, "%s: the tree sets %s, with which %s differs each time", user.Chart, m.unset, template)
				for _, set := range m.set {
					assert.Check(t, value(user.Values, set) == true, "%s: the tree does not set %s", user.Chart, set)
				}
			}
		}
	}
	assert.Check(t, checked >= 5, checked)
	for chart := range mends {
		used := func(p pin) bool { return p.Chart == chart }
		assert.Check(t, slices.ContainsFunc(pins, used), "no tree has the chart %s", chart)
	}
}

func dependencies(t *testing.T, p pin) []string {
	t.Helper()
	f, _, err := facts.Find(p.Chart, p.Version)
	assert.NilError(t, err)
	return f.Dependencies
}

// value at a path in values.
func value(values map[string]any, path string) any {
	var at any = values
	for key := range strings.SplitSeq(path, "/") {
		m, _ := at.(map[string]any)
		at = m[key]
	}
	return at
}

// TestStandInsRenderTwice: under Argo CD, a chart that renders differently each
// time is applied anew for ever. With the tree's values and those that the
// catalogue gives, the lab's charts do not.
func TestStandInsRenderTwice(t *testing.T) {
	pins, err := pinned(os.DirFS("../.."))
	assert.NilError(t, err)
	standIns, err := charts.Load(os.DirFS("../../lab/charts"))
	assert.NilError(t, err)
	rendered := 0
	for _, c := range standIns {
		for _, p := range pins {
			if p.Chart != c.Name {
				continue
			}
			rendered++
			file := filepath.Join(t.TempDir(), c.File())
			assert.NilError(t, os.WriteFile(file, c.Archive, 0o600))
			differ, err := renderedTwice(file, p.Values)
			assert.NilError(t, err, c.Name)
			assert.Check(t, len(differ) == 0, "%s: %v", c.Name, differ)
		}
	}
	assert.Check(t, rendered > 15, rendered)
}
