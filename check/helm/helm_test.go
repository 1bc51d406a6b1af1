package helm

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/check/tree/treetest"
)

const template = `name: {{ .Release.Name }}
namespace: {{ .Release.Namespace }}
a: {{ .Values.a }}
b: {{ .Values.cluster.b | quote }}
`

func TestRender(t *testing.T) {
	files := treetest.Index(t, treetest.FS(map[string]string{
		"chart/Chart.yaml":            "apiVersion: v2\nname: it\nversion: 1.0.0\n",
		"chart/values.yaml":           "a: 1\ncluster: {}\n",
		"chart/templates/object.yaml": template,
		"other/a.yaml":                "a: 1\n",
	}))
	c, read, err := Load(files, "chart")
	assert.Assert(t, err == nil && strings.Join(read, " ") == "chart/Chart.yaml chart/templates/object.yaml chart/values.yaml",
		"read %s: %v", read, err)
	values, err := Overlay(map[string]any{"a": 2, "cluster": map[string]any{}}, "a: 3\n")
	assert.NilError(t, err)
	_, err = Render(c, "one", "there", values, true)
	key, name, line, ok := MissingValue(err)
	assert.Check(t, ok && key == "b" && name == "it/templates/object.yaml" && line == 4, "missing %q in %s:%d, from %v", key, name, line, err)
	assert.NilError(t, Set(values, []Parameter{{Name: "cluster.b", Value: "1,2", ForceString: true}}))
	texts, err := Render(c, "one", "there", values, true)
	want := "a: 3\nb: 1,2\nname: one\nnamespace: there\n"
	assert.Check(t, err == nil && strings.Join(texts, "") == want, "rendered %q, %v; want %q", texts, err, want)
}

// TestLoadOtherVersion: Helm 4 loads charts of two versions, and takes one that names none for the first.
func TestLoadOtherVersion(t *testing.T) {
	for version, want := range map[string]string{"v1": "", "v2": "", "": "", "v1beta1": "which Helm does not load"} {
		_, _, err := Load(treetest.Index(t, treetest.FS(map[string]string{"c/Chart.yaml": "apiVersion: " + version + "\nname: it\nversion: 1.0.0\n"})), "c")
		if got := fmt.Sprint(err); !strings.Contains(got, want) || (want == "") != (err == nil) {
			t.Errorf("%q: error %v", version, err)
		}
	}
}

func TestBadValues(t *testing.T) {
	if _, err := Overlay(nil, "a: ["); err == nil || !strings.HasPrefix(err.Error(), "reading Helm values: ") {
		t.Errorf("error %v", err)
	}
	err := Set(map[string]any{}, []Parameter{{Name: "a[", Value: "b"}})
	if err == nil || !strings.HasPrefix(err.Error(), "parameter a[: ") {
		t.Errorf("error %v", err)
	}
}

func TestCause(t *testing.T) {
	files := treetest.Index(t, treetest.FS(map[string]string{
		"Chart.yaml":          "apiVersion: v2\nname: it\nversion: 1.0.0\n",
		"templates/bad.yaml":  "a: 1\nb: {{ fail \"no good\" }}\n",
		"templates/none.yaml": "",
	}))
	c, _, err := Load(files, ".")
	assert.NilError(t, err)
	_, err = Render(c, "one", "there", nil, false)
	cause, template, line := Cause(err, func(name string) bool { return name == "it/templates/bad.yaml" })
	assert.Check(t, template == "it/templates/bad.yaml" && line == 2 && strings.Contains(cause, "no good"), "%s at %s:%d", cause, template, line)
}
