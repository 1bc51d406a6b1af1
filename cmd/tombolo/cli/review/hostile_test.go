package review

import (
	"bytes"
	"slices"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"golang.org/x/net/html"
	"gotest.tools/v3/assert"

	"tombolo/automation/plan"
	"tombolo/config/strict"
	"tombolo/internal/markdown/hostile"
)

// hostileChange is a change in which a text is wherever somebody else may choose one: a tag and
// its key, a name, a label, an annotation, a reason and where a secret goes.
func hostileChange(text string) plan.Set {
	c := previewed("demo", "cluster file: "+text, []events.EngineEvent{
		step(apitype.OpUpdate, vpcType, text, object{"tags": object{"team": "a", text: "a"}}, object{"tags": object{"team": text, text: "b"}}, "tags.team", `tags["`+text+`"]`),
		outputs(object{"vpcId": "vpc-1"}, object{"vpcId": text}),
	}, []events.EngineEvent{
		step(apitype.OpUpdate, configMapType, "demo-general",
			object{"metadata": object{"namespace": "flux-system", "name": "infra-config", "labels": object{"a": "b"}, "annotations": object{"a": "b"}}, "data": object{"vpc_id": "vpc-1"}},
			object{"metadata": object{"namespace": "flux-system", "name": "infra-config", "labels": object{"a": text}, "annotations": object{"a": text}}, "data": object{"vpc_id": text}},
			"metadata.labels.a", "metadata.annotations.a", "data.vpc_id"),
	})
	c.Labels = map[string]string{"environment": text}
	c.Secrets[0].For = text
	c.Warnings = strict.Problems{{Line: 3, Path: text, Message: text, Remedy: text}}
	return plan.Set{Since: text, Clusters: []plan.Cluster{c}, Unchanged: []string{"other"}}
}

// TestHostileChange: no such text is markup in a comment or on a page.
func TestHostileChange(t *testing.T) {
	comment := func(text string) []string {
		root, err := hostile.Shown(Comment(hostileChange(text), Options{}))
		assert.NilError(t, err)
		return hostile.Markup(root)
	}
	page := func(text string) []string {
		written, err := Page(hostileChange(text))
		assert.NilError(t, err)
		root, err := html.Parse(bytes.NewReader(written))
		assert.NilError(t, err)
		return hostile.Markup(root)
	}
	for what, markup := range map[string]func(string) []string{"comment": comment, "page": page} {
		plain := markup("plain")
		for _, text := range hostile.Texts() {
			for _, part := range markup(text) {
				if !slices.Contains(plain, part) {
					t.Errorf("%q makes %q in the %s", text, part, what)
				}
			}
		}
	}
}
