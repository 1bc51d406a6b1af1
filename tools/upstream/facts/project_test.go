package facts_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tools/upstream/facts"
)

const root = "../../.."

// documents of all YAML files below a folder, by file. What is a template, or
// of no one shape, is left out.
func documents(t *testing.T, folder string) map[string][]map[string]any {
	t.Helper()
	out := map[string][]map[string]any{}
	project := os.DirFS(root)
	err := fs.WalkDir(project, folder, func(file string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(file) != ".yaml" || strings.Contains(file, "/templates/") {
			return err
		}
		data, err := fs.ReadFile(project, file)
		if err != nil {
			return err
		}
		for d := yaml.NewDecoder(bytes.NewReader(data)); ; {
			var object map[string]any
			err := d.Decode(&object)
			var shape *yaml.TypeError
			switch {
			case errors.Is(err, io.EOF):
				return nil
			case err != nil && !errors.As(err, &shape):
				return err
			case err == nil:
				out[file] = append(out[file], object)
			}
		}
	})
	assert.NilError(t, err)
	return out
}

func at(value any, keys ...string) any {
	for _, key := range keys {
		m, _ := value.(map[string]any)
		value = m[key]
	}
	return value
}

// filled is an object with nothing, which fits any type, where a variable of
// the infra ConfigMap is the whole value.
func filled(value any) any {
	switch value := value.(type) {
	case string:
		if strings.HasPrefix(value, "${") && strings.HasSuffix(value, "}") {
			return nil
		}
	case map[string]any:
		for key, inner := range value {
			value[key] = filled(inner)
		}
	case []any:
		for i, inner := range value {
			value[i] = filled(inner)
		}
	}
	return value
}

func text(value any, keys ...string) string {
	s, _ := at(value, keys...).(string)
	return s
}

func values(t *testing.T, file string) map[string]any {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, file))
	assert.NilError(t, err)
	var out map[string]any
	assert.NilError(t, yaml.Unmarshal(data, &out))
	return out
}

// holds checks values against the facts of a chart's version.
func holds(t *testing.T, where, chart, version string, given any) {
	t.Helper()
	c, ok, err := facts.Find(chart, version)
	assert.NilError(t, err)
	if !ok {
		t.Errorf("%s: no facts of %s %s; run `go run ./tools/upstream -write`", where, chart, version)
		return
	}
	m, _ := given.(map[string]any)
	problems, err := c.CheckValues(m)
	assert.NilError(t, err)
	for _, problem := range problems {
		t.Errorf("%s: %s", where, problem)
	}
}

// TestFluxTree: every release of an addon is of a chart with facts, which takes
// the release's values and those that the catalogue gives.
func TestFluxTree(t *testing.T) {
	found := 0
	for file, objects := range documents(t, "platform/flux/addons") {
		for _, o := range objects {
			if text(o, "kind") != "HelmRelease" {
				continue
			}
			found++
			chart, version := text(o, "spec", "chart", "spec", "chart"), text(o, "spec", "chart", "spec", "version")
			holds(t, file, chart, version, at(o, "spec", "values"))
			from, _ := at(o, "spec", "valuesFrom").([]any)
			for _, f := range from {
				sample := "config/addon/testdata/golden/" + strings.TrimSuffix(text(f, "name"), "-values") + ".yaml"
				holds(t, sample, chart, version, values(t, sample)["values"])
			}
		}
	}
	assert.Check(t, found > 15, found)
}

// TestArgoTree: the same of the Argo CD tree's values, and its pins.
func TestArgoTree(t *testing.T) {
	found := 0
	files, err := filepath.Glob(filepath.Join(root, "platform/argocd/app-of-apps/addons/*.yaml"))
	assert.NilError(t, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		assert.NilError(t, err)
		var entries []map[string]any
		assert.NilError(t, yaml.Unmarshal(data, &entries))
		for _, e := range entries {
			found++
			given := map[string]any{}
			if name := text(e, "values"); name != "" {
				given = values(t, "platform/argocd/"+name)
			}
			holds(t, file, text(e, "chart"), text(e, "version"), given)
		}
	}
	assert.Check(t, found > 15, found)
}

// TestObjects: the objects of the tree, and those of `export operator`, are as
// their definitions have them.
func TestObjects(t *testing.T) {
	checked := map[string]bool{}
	for _, folder := range []string{"platform/flux/addons", "cmd/tombolo/cli/export/testdata"} {
		for file, objects := range documents(t, folder) {
			for _, o := range objects {
				group, version, _ := strings.Cut(text(o, "apiVersion"), "/")
				name := text(o, "kind") + "." + group + "/" + version
				fields, ok, err := facts.Definition(name)
				assert.NilError(t, err)
				if !ok {
					continue
				}
				checked[name] = true
				for _, problem := range fields.Check(filled(o).(map[string]any)) {
					t.Errorf("%s: %s %s: %s", file, name, text(o, "metadata", "name"), problem)
				}
			}
		}
	}
	for _, name := range []string{
		"Stack.pulumi.com/v1", "NodePool.karpenter.sh/v1", "EC2NodeClass.karpenter.k8s.aws/v1",
		"ExternalSecret.external-secrets.io/v1", "ClusterSecretStore.external-secrets.io/v1", "Certificate.cert-manager.io/v1",
	} {
		assert.Check(t, checked[name], name)
	}
}

// TestWrongValues: what was wrong once is found.
func TestWrongValues(t *testing.T) {
	efs, ok, err := facts.Find("aws-efs-csi-driver", "3.2.4")
	assert.NilError(t, err)
	assert.Assert(t, ok)
	problems, err := efs.CheckValues(map[string]any{"replicaCount": 2})
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(problems, []string{"replicaCount: the chart aws-efs-csi-driver 3.2.4 has no such value"}))
	problems, err = efs.CheckValues(map[string]any{"controller": map[string]any{"replicaCount": "two"}})
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(problems, []string{
		"controller/replicaCount is two, the chart aws-efs-csi-driver 3.2.4 takes integer",
	}))

	stack, ok, err := facts.Definition("Stack.pulumi.com/v1")
	assert.NilError(t, err)
	assert.Assert(t, ok)
	pod := map[string]any{"initContainers": []any{map[string]any{"image": "i"}}, "container": "x"}
	template := map[string]any{"spec": map[string]any{"podTemplate": map[string]any{"spec": pod}}}
	in := "spec/workspaceTemplate/spec/podTemplate/spec/"
	assert.Check(t, is.DeepEqual(stack.Check(map[string]any{"spec": map[string]any{"stack": "s", "workspaceTemplate": template}}), []string{
		in + "container: the definition has no such field",
		in + "initContainers/[]/name: the definition requires it",
		in + "containers: the definition requires it",
	}))
}

// TestAuthentikOnRDS: RDS refuses connections without TLS since PostgreSQL 15, and
// the chart has no value for the mode but its containers' environment, which is
// global's. CheckValues leaves global out.
func TestAuthentikOnRDS(t *testing.T) {
	given := values(t, "platform/argocd/addons/authentik/values.yaml")
	mode := ""
	env, _ := at(given, "global", "env").([]any)
	for _, e := range env {
		if text(e, "name") == "AUTHENTIK_POSTGRESQL__SSLMODE" {
			mode = text(e, "value")
		}
	}
	assert.Check(t, is.Equal(mode, "require"))
	all, err := facts.All()
	assert.NilError(t, err)
	i := slices.IndexFunc(all, func(c facts.Chart) bool { return c.Name == "authentik" })
	assert.Assert(t, i >= 0)
	assert.Check(t, is.Equal(all[i].Values["global/env"], facts.List))
}

// TestGatewayAPI: Istio 1.30 and the load balancer controller are built for 1.5;
// 1.6 lacks the versions of TCPRoute and UDPRoute that they read. Linkerd takes 1.2.1 to 1.5.1:
// https://linkerd.io/2-edge/features/gateway-api/
func TestGatewayAPI(t *testing.T) {
	all, err := facts.All()
	assert.NilError(t, err)
	i := slices.IndexFunc(all, func(c facts.Chart) bool { return c.Name == "gateway-api-crds" })
	assert.Assert(t, i >= 0)
	assert.Check(t, strings.HasPrefix(all[i].AppVersion, "v1.5."), all[i].AppVersion)
}
