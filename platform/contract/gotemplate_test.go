package contract

import (
	"fmt"
	"slices"
	"strings"
	"testing"
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

func TestRenderTemplate(t *testing.T) {
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
		if out := renderTemplate(text, oneCluster()); out.text != want || out.err != nil || len(out.missing) > 0 {
			t.Errorf("%s: got %q, %v, missing %v; want %q", text, out.text, out.err, out.missing, want)
		}
	}
}

func TestRenderTemplateFindsWhatIsMissing(t *testing.T) {
	for text, want := range map[string][]lookup{
		"{{ .metadata.labels.ring }}":                                {{"labels", "ring", false}},
		"{{ $.metadata.annotations.zone }}":                          {{"annotations", "zone", false}},
		"{{ .metadata.labels.ring }} {{ .metadata.annotations.a }}":  {{"labels", "ring", false}, {"annotations", "a", false}},
		`{{ index .metadata.labels "ring" }}`:                        {{"labels", "ring", true}},
		`{{ index .metadata.labels "ring" | quote }}`:                {{"labels", "ring", true}},
		`{{ if true }}{{ index $.metadata.labels "ring" }}{{ end }}`: {{"labels", "ring", true}},
	} {
		parameters := oneCluster()
		out := renderTemplate(text, parameters)
		if !slices.Equal(out.missing, want) {
			t.Errorf("%s: missing %v, want %v", text, out.missing, want)
		}
		if labels := registered(parameters, "labels"); len(labels) != 1 {
			t.Errorf("%s: the cluster's own labels became %v", text, labels)
		}
	}
}

func TestRenderTemplateFails(t *testing.T) {
	for text, want := range map[string]string{
		"{{ .sever }}":              `map has no entry for key "sever"`,
		"{{ env \"HOME\" }}":        `function "env" not defined`,
		"{{ getHostByName \"a\" }}": `function "getHostByName" not defined`,
		"{{ .name":                  "unclosed action",
		"{{ fromYaml \"[\" }}":      "decoding: ",
	} {
		if out := renderTemplate(text, oneCluster()); !strings.Contains(fmt.Sprint(out.err), want) {
			t.Errorf("%s: error %v, want %s", text, out.err, want)
		}
	}
}

func TestSameRepository(t *testing.T) {
	for _, other := range []string{
		"https://git.example.com/Platform", "https://user@git.example.com/platform.git", "https://git.example.com/platform/",
	} {
		if !sameRepository("https://git.example.com/platform.git", other) {
			t.Errorf("%s is taken for another repository", other)
		}
	}
	if sameRepository("https://git.example.com/platform.git", "https://git.example.com/apps.git") {
		t.Error("another repository is taken for the same")
	}
}
