package charts

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tools/upstream/facts"
)

// TestSchemasAreGenerated: no stand-in keeps a schema by hand, each has facts, and
// each addition says where it is from.
func TestSchemasAreGenerated(t *testing.T) {
	list, err := Load(os.DirFS("."))
	assert.NilError(t, err)
	for _, c := range list {
		_, known, err := facts.Find(c.Name, c.Version)
		assert.NilError(t, err)
		own := c.Name == "cluster-reporter"
		assert.Check(t, known != own, "%s %s: facts of it: %v", c.Name, c.Version, known)
		files := contents(t, c)
		assert.Check(t, len(files[c.Name+"/"+schemaFile]) > 0, c.Name)
		assert.Check(t, files[c.Name+"/"+additionsFile] == nil, c.Name)
		_, err = os.Stat(filepath.Join(c.Name, schemaFile))
		assert.Check(t, is.Equal(err != nil, known), "%s: a stand-in's schema is made from its facts; delete the file", c.Name)
	}
	additions, err := filepath.Glob("*/" + additionsFile)
	assert.NilError(t, err)
	assert.Check(t, len(additions) > 5)
	for _, file := range additions {
		data, err := os.ReadFile(file)
		assert.NilError(t, err)
		var content struct {
			Comment string `json:"$comment"`
		}
		assert.NilError(t, json.Unmarshal(data, &content))
		assert.Check(t, content.Comment != "", "%s: $comment must say where it is from", file)
	}
}

// TestSchemaIsUpstreams: a stand-in refuses what its chart does not read, takes
// what it does although the tree does not set it, and requires what is added.
func TestSchemaIsUpstreams(t *testing.T) {
	account := func(name string) map[string]any {
		return map[string]any{"name": name, "annotations": map[string]any{"eks.amazonaws.com/role-arn": "arn:aws:iam::111122223333:role/x"}}
	}
	efs := func(edit func(top, controller map[string]any)) map[string]any {
		controller := map[string]any{"serviceAccount": account("efs-csi-controller-sa"), "tags": map[string]any{}}
		top := map[string]any{"controller": controller, "node": map[string]any{"serviceAccount": account("efs-csi-node-sa")}}
		edit(top, controller)
		return top
	}
	for _, tt := range []struct {
		name, chart string
		values      map[string]any
		want        string // part of the refusal
	}{
		{name: "what it reads", chart: "aws-efs-csi-driver", values: efs(func(_, c map[string]any) { c["replicaCount"] = 2 })},
		{name: "what the tree does not set", chart: "aws-efs-csi-driver", values: efs(func(_, c map[string]any) { c["logLevel"] = 5 })},
		{name: "a free map", chart: "aws-efs-csi-driver", values: efs(func(_, c map[string]any) { c["podAnnotations"] = map[string]any{"a": "b"} })},
		{name: "null", chart: "aws-efs-csi-driver", values: efs(func(_, c map[string]any) { c["logLevel"] = nil })},
		{name: "another place", chart: "aws-efs-csi-driver", values: efs(func(top, _ map[string]any) { top["replicaCount"] = 2 }), want: "replicaCount"},
		{name: "another type", chart: "aws-efs-csi-driver", values: efs(func(_, c map[string]any) { c["replicaCount"] = "two" }), want: "string"},
		{name: "an addition", chart: "aws-efs-csi-driver", values: efs(func(_, c map[string]any) { c["serviceAccount"] = account("efs") }), want: "efs-csi-controller-sa"},
		{name: "a mesh without keys in its values", chart: "linkerd-control-plane", values: mesh("injectCaFrom", true)},
		{name: "a webhook that nothing vouches for", chart: "linkerd-control-plane", values: mesh("timeoutSeconds", true), want: "proxyInjector"},
		{name: "a mesh without a trust anchor", chart: "linkerd-control-plane", values: mesh("injectCaFrom", false), want: "identityTrustAnchorsPEM"},
		{name: "a dependency's value", chart: "kube-prometheus-stack", values: stack("adminUser")},
		{name: "a dependency's unknown value", chart: "kube-prometheus-stack", values: stack("adminUsr"), want: "adminUsr"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := schemaOf(t, tt.chart).Validate(tt.values)
			if tt.want == "" {
				assert.NilError(t, err)
				return
			}
			assert.Check(t, err != nil && strings.Contains(fmt.Sprintf("%#v", err), tt.want), "%#v", err)
		})
	}
}

// stack has a value of Grafana's.
func stack(key string) map[string]any {
	return map[string]any{
		"prometheus": map[string]any{"prometheusSpec": map[string]any{"externalLabels": map[string]any{}}},
		"grafana":    map[string]any{key: "x"},
	}
}

// mesh has a webhook whose certificate is another's, with a key of its values, and a trust anchor
// that may be.
func mesh(key string, externalCA bool) map[string]any {
	value := map[string]any{"injectCaFrom": "linkerd/linkerd-proxy-injector", "timeoutSeconds": 5}[key]
	return map[string]any{
		"identity":      map[string]any{"externalCA": externalCA, "issuer": map[string]any{"scheme": "kubernetes.io/tls"}},
		"proxyInjector": map[string]any{"externalSecret": true, key: value},
	}
}

// TestUnknownVersion: a stand-in in a version without facts is an error, and
// another chart is not.
func TestUnknownVersion(t *testing.T) {
	chart := func(name string) fstest.MapFS {
		return fstest.MapFS{name + "/Chart.yaml": {Data: []byte("apiVersion: v2\nname: " + name + "\nversion: 0.0.1\n")}}
	}
	_, err := Load(chart("metrics-server"))
	assert.Check(t, is.ErrorContains(err, "not 0.0.1: run `go run ./tools/upstream -write` and build tombolo anew"))
	_, err = Load(chart("mine"))
	assert.NilError(t, err)
}
