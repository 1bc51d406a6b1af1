package gotemplate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// template parameters of a cluster.
func oneCluster() map[string]any {
	return map[string]any{
		"name": "one", "server": "https://one.eks.test",
		"metadata": map[string]any{
			"labels":      map[string]string{"environment": "dev"},
			"annotations": map[string]string{"vpc_id": "vpc-1", "tombolo/values": `{"addons": {"dns": {"zone": "a.test"}}}`},
		},
	}
}

func TestRender(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "plain",
		"{{ .name }}-{{ .metadata.labels.environment }}":                                              "one-dev",
		`{{ index (index .metadata.annotations "tombolo/values" | fromJson).addons "dns" | toJson }}`: `{"zone":"a.test"}`,
		`{{ normalize "A_b" }} {{ slugify "A b" }}`:                                                   "a-b a-b",
		"{{ toYaml .metadata.labels }}":                                                               "environment: dev",
		`{{ (fromYaml "a: [1]").a | toJson }} {{ fromYamlArray "[2]" | toJson }}`:                     "[1] [2]",
		`{{ index .metadata.labels "ring" | default "late" }}`:                                        "late",
		`{{ if eq (index .metadata.labels "ring") "first" }}a{{ else }}b{{ end }}`:                    "b",
		`{{ with index .metadata.labels "ring" }}a{{ end }}`:                                          "",
		`{{ if false }}{{ .metadata.labels.ring }}{{ end }}`:                                          "",
	} {
		if out := Render(text, oneCluster(), []string{MissingIsError}); out.Text != want || out.Err != nil || len(out.Missing) > 0 {
			t.Errorf("%s: got %q, %v, missing %v; want %q", text, out.Text, out.Err, out.Missing, want)
		}
	}
}

func TestRenderFindsWhatIsMissing(t *testing.T) {
	for text, want := range map[string][]Lookup{
		"{{ .metadata.labels.ring }}":                                {{"labels", "ring", false}},
		"{{ $.metadata.annotations.zone }}":                          {{"annotations", "zone", false}},
		"{{ .metadata.labels.ring }} {{ .metadata.annotations.a }}":  {{"labels", "ring", false}, {"annotations", "a", false}},
		`{{ index .metadata.labels "ring" }}`:                        {{"labels", "ring", true}},
		`{{ index .metadata.labels "ring" | quote }}`:                {{"labels", "ring", true}},
		`{{ if true }}{{ index $.metadata.labels "ring" }}{{ end }}`: {{"labels", "ring", true}},
	} {
		parameters := oneCluster()
		out := Render(text, parameters, []string{MissingIsError})
		assert.Check(t, slices.Equal(out.Missing, want), "%s: missing %v, want %v", text, out.Missing, want)
		assert.Check(t, is.Len(registered(parameters, "labels"), 1), text)
	}
}

func TestRenderFails(t *testing.T) {
	for text, want := range map[string]string{
		"{{ .sever }}":              `map has no entry for key "sever"`,
		"{{ env \"HOME\" }}":        `function "env" not defined`,
		"{{ getHostByName \"a\" }}": `function "getHostByName" not defined`,
		"{{ .name":                  "unclosed action",
		"{{ fromYaml \"[\" }}":      "decoding: ",
	} {
		out := Render(text, oneCluster(), []string{MissingIsError})
		assert.Check(t, strings.Contains(fmt.Sprint(out.Err), want), "%s: error %v, want %s", text, out.Err, want)
	}
}

func TestRenderWithoutOptions(t *testing.T) {
	for text, want := range map[string]string{
		`{{ .none | default "a" }}`:                               "a",
		`{{ if .metadata.labels.ring }}a{{ else }}b{{ end }}`:     "b",
		`{{ .values | toJson }}`:                                  "null",
		`{{ with .metadata.annotations.vpc_id }}{{ . }}{{ end }}`: "vpc-1",
	} {
		out := Render(text, oneCluster(), nil)
		assert.Check(t, out.Text == want && out.Err == nil && len(out.Missing) == 0, "%s: got %+v", text, out)
	}
	out := Render("{{ .metadata.labels.ring }}", oneCluster(), nil)
	assert.Check(t, slices.Equal(out.Missing, []Lookup{{"labels", "ring", false}}), "%+v", out)
	out = Render("{{ .ring }}", oneCluster(), nil)
	assert.Check(t, is.ErrorContains(out.Err, `no entry for key "ring"`))
}

func TestPlain(t *testing.T) {
	given := map[string]any{"name": "one", "metadata.labels.ring": "first", "path[0]": "apps", "count": 1}
	for text, want := range map[string]string{
		"a-{{name}}": "a-one", "{{ metadata.labels.ring }}/{{path[0]}}": "first/apps",
		"{{none}} {{ .name }} {{count}} {{}}": "{{none}} {{ .name }} {{count}} {{}}", "{{": "{{", "a {{\n}}": "a {{\n}}",
	} {
		got, _, err := Plain(text, given)
		assert.Check(t, got == want && err == nil, "%s: got %q, %v", text, got, err)
	}
	_, left, _ := Plain("{{none}}{{name}}{{ .name }}", given)
	assert.Check(t, is.DeepEqual(left, []string{"none", ".name"}))
	_, _, err := Plain("{{name}} {{", given)
	assert.Check(t, err != nil)
}
