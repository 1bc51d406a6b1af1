package argocd

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"tombolo/check/definition"
	"tombolo/check/finding"
	"tombolo/check/gotemplate"
	"tombolo/check/manifest"
	"tombolo/check/near"
	"tombolo/check/tree"
)

// options are those that Go's templates have. Another one makes the controller panic. Source: Replace in
// applicationset/utils/utils.go of argoproj/argo-cd v3.5, and Option of text/template.
var options = []string{gotemplate.MissingIsError, "missingkey=default", "missingkey=invalid", "missingkey=zero"}

func (g generation) checkOptions() {
	for _, option := range g.set.Spec.GoTemplateOptions {
		if g.set.Spec.GoTemplate && !slices.Contains(options, option) {
			g.Refer(g.in, tree.Wanted{Object: g.set.Object, Path: []string{"spec", "goTemplateOptions", "[]"}, Value: option}, finding.Errorf(
				"%s: Go's templates have no option %q, and so Argo CD makes nothing of it", g.set.Identity(), option).
				WithRemedy(near.DidYouMean(option, options, "write one of "+strings.Join(options, ", "))))
		}
	}
}

// checkPatch reports fields of the templatePatch that an Application does not have, where it is YAML before it is rendered.
func (g generation) checkPatch() {
	var document yaml.Node
	if yaml.Unmarshal([]byte(g.set.Spec.TemplatePatch), &document) != nil || len(document.Content) == 0 {
		return
	}
	app := Application{Object: manifest.Object{APIVersion: group + "/v1alpha1", Kind: "Application"}}
	schema, _ := definition.ArgoCD().Of(app.Object)
	h := held{Walk: g.Walk, tell: func(p definition.Problem, at []string) {
		if p.IsUnknown {
			g.Refer(g.in, tree.Wanted{Object: g.set.Object, Path: []string{"spec", "templatePatch"}, Value: g.set.Spec.TemplatePatch}, finding.Errorf(
				"%s: its templatePatch has %s, which an Application does not have: Argo CD leaves it out, and does not say so",
				g.set.Identity(), strings.Join(append(slices.Clip(at), p.Field), ".")).WithRemedy(p.Remedy))
		}
	}}
	h.each(nil, document.Content[0], schema)
}
