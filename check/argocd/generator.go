package argocd

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"dario.cat/mergo"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"tombolo/check/finding"
	"tombolo/check/manifest"
	"tombolo/check/near"
	"tombolo/check/published"
	"tombolo/check/walk"
	"tombolo/internal/names"
)

// generation makes the Applications of an ApplicationSet for some clusters of the hub, as Argo CD
// does. Source: applicationset/generators of argoproj/argo-cd v3.5.
type generation struct {
	*Walk
	in       *walk.Origin
	set      applicationSet
	switches map[string]bool
	// clusters are those that cluster generators give.
	clusters []published.Set
	// overrides says that the generator is not the first of a merge: it adds to parameters, and reaches no
	// cluster itself.
	overrides bool
	// namesOnly makes no more of the Applications than their names.
	namesOnly bool
}

// generator is one of an ApplicationSet: what it has by kind, such as clusters, and its selector.
type generator map[string]json.RawMessage

// ofGenerators is where an ApplicationSet has its generators.
var ofGenerators = []string{"spec", "generators", "[]"}

// generate returns the Applications of an ApplicationSet that are for the cluster.
func (w *Walk) generate(in *walk.Origin, set applicationSet, switches map[string]bool) []Application {
	g := generation{Walk: w, in: in, set: set, switches: switches, clusters: []published.Set{w.Published}}
	g.checkOptions()
	g.checkPatch()
	out := g.applications()
	if !g.asksClusters() {
		out = slices.DeleteFunc(out, w.isOfAnother)
	}
	g.checkNames(out)
	return out
}

// asksClusters says whether a generator gives the clusters' parameters. What is made of others is made for
// all clusters alike.
func (g generation) asksClusters() bool {
	asks := false
	for _, one := range g.set.Spec.Generators {
		one.each(func(inner generator) { asks = asks || inner["clusters"] != nil })
	}
	return asks
}

// each visits a generator and those in it. What cannot be decoded is its own finding.
func (g generator) each(visit func(generator)) {
	visit(g)
	for _, kind := range []string{"matrix", "merge"} {
		var n nested
		if json.Unmarshal(g[kind], &n) == nil {
			for _, inner := range n.Generators {
				inner.each(visit)
			}
		}
	}
}

// isOfAnother says whether an Application goes to another cluster of the hub, whose own it is.
func (w *Walk) isOfAnother(app Application) bool {
	to := app.Spec.Destination
	return slices.ContainsFunc(w.Fleet, func(p published.Set) bool {
		return p.Cluster != w.Published.Cluster && !w.reaches(app) &&
			(to.Name == p.Cluster || to.Server != "" && to.Server == p.Registration.Server)
	})
}

// applications are those that the generators make of the templates.
func (g generation) applications() []Application {
	var out []Application
	for _, one := range g.set.Spec.Generators {
		for _, kind := range one.kinds() {
			of := generator{kind: one[kind]}
			if selector, ok := one["selector"]; ok {
				of["selector"] = selector
			}
			all, ok := g.parameters(of, ofGenerators, nil)
			if !ok {
				g.Elsewhere = true
				g.Refer(g.in, name(g.set.Object), finding.Notef("%s: its generator %s is not followed", g.set.Identity(), kind))
			}
			template := g.template(kind, one[kind])
			if g.namesOnly {
				metadata, _ := template["metadata"].(map[string]any)
				template = map[string]any{"metadata": map[string]any{"name": metadata["name"]}}
			}
			for _, parameters := range all {
				if app, ok := g.fromTemplate(template, parameters); ok {
					out = append(out, app)
				}
			}
		}
	}
	return out
}

// kinds of a generator, which has one; or Argo CD takes each.
func (g generator) kinds() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(g)), func(key string) bool { return key == "selector" })
}

// template is the ApplicationSet's, with what the generator has of its own over it.
func (g generation) template(kind string, raw json.RawMessage) map[string]any {
	var own struct {
		Template map[string]any `json:"template"`
	}
	if json.Unmarshal(raw, &own) != nil || len(own.Template) == 0 {
		return g.set.Spec.Template
	}
	if err := mergo.Merge(&own.Template, g.set.Spec.Template); err != nil {
		g.refuse("the template of its generator "+kind+" does not fit the other", err.Error())
	}
	return own.Template
}

// refuse reports what makes Argo CD make nothing of the ApplicationSet.
func (g generation) refuse(message, remedy string) {
	g.Incomplete = true
	g.Refer(g.in, name(g.set.Object), finding.Errorf("%s: %s", g.set.Identity(), message).WithRemedy(remedy))
}

// parameters are what a generator gives: given are those of the first generator of a matrix, which
// the second's texts may use. It is false of a generator that is not followed.
func (g generation) parameters(of generator, at []string, given map[string]any) ([]map[string]any, bool) {
	kinds := of.kinds()
	if len(kinds) != 1 {
		g.refuse("one of its generators has "+strconv.Itoa(len(kinds))+" kinds", "give each generator one kind")
		return nil, true
	}
	kind := kinds[0]
	at = append(slices.Clip(at), kind)
	if len(given) > 0 {
		rendered, ok := g.rendered(of, at, given)
		if !ok {
			return nil, true
		}
		of = rendered
	}
	var all []map[string]any
	followed := true
	switch kind {
	case "list":
		all = g.list(of[kind])
	case "clusters":
		all = g.ofClusters(of[kind], at)
	case "git":
		all, followed = g.git(of[kind], at)
	case "matrix":
		all, followed = g.matrix(of[kind], at)
	case "merge":
		all, followed = g.merge(of[kind], at)
	default:
		return nil, g.isForeign(kind)
	}
	f := filter{g.Walk, g.in, g.set, g.switches, append(slices.Clone(at[:len(at)-1]), "selector")}
	if kind == "clusters" && len(all) == 1 {
		return f.keepCluster(of["selector"], all[0]), followed
	}
	return f.keep(of["selector"], all), followed
}

// foreign are generators that ask somebody else than Git and the clusters.
var foreign = []string{"scmProvider", "pullRequest", "clusterDecisionResource", "plugin"}

// isForeign reports a generator that there is not; it is false of those that are not followed.
func (g generation) isForeign(kind string) bool {
	if slices.Contains(foreign, kind) {
		return false
	}
	known := append([]string{"list", "clusters", "git", "matrix", "merge"}, foreign...)
	g.Refer(g.in, name(g.set.Object), finding.Errorf("%s: Argo CD has no generator %q, and makes nothing of it", g.set.Identity(), kind).
		WithRemedy(near.DidYouMean(kind, known, "correct its name")))
	return true
}

// rendered is a generator with the parameters of another put into its texts. Those below values may use
// its own parameters too, and stay until these are known.
func (g generation) rendered(of generator, at []string, given map[string]any) (generator, bool) {
	t := templating{Walk: g.Walk, in: g.in, set: g.set, parameters: given}
	out := generator{}
	for key, raw := range of {
		var v any
		if json.Unmarshal(raw, &v) != nil {
			return of, true // its own finding
		}
		below := at
		if key == "selector" {
			below = append(slices.Clone(at[:len(at)-1]), key)
		}
		var values any
		if fields, ok := v.(map[string]any); ok && key != "selector" {
			values = fields["values"]
			delete(fields, "values")
			v = t.value(below, v)
			if fields, ok := v.(map[string]any); ok && values != nil {
				fields["values"] = t.asFarAsKnown(values)
			}
		} else {
			v = t.value(below, v)
		}
		text, err := json.Marshal(v)
		if err != nil {
			panic(err) // it came out of JSON
		}
		out[key] = text
	}
	if t.broken {
		g.Incomplete = true
	}
	return out, !t.broken
}

// list are the elements of a list generator.
func (g generation) list(raw json.RawMessage) []map[string]any {
	var given struct {
		Elements     []map[string]any `json:"elements"`
		ElementsYAML string           `json:"elementsYaml"`
	}
	if err := json.Unmarshal(raw, &given); err != nil {
		g.unreadable(g.in, g.set.Object, err)
		return nil
	}
	if !g.set.Spec.GoTemplate {
		for i, element := range given.Elements {
			flat, ok := texts(element)
			if !ok {
				g.refuse("its list has an element with other things than text, which Argo CD takes with goTemplate alone", "quote the values, or set goTemplate: true")
				return nil
			}
			given.Elements[i] = flat
		}
	}
	if given.ElementsYAML != "" {
		more, err := manifest.Decode[[]map[string]any](given.ElementsYAML)
		if err != nil {
			g.refuse("elementsYaml of its list generator is no list of objects: "+walk.Innermost(err), "write it as a list of objects")
			return nil
		}
		given.Elements = append(given.Elements, more...)
	}
	return given.Elements
}

// texts are the parameters of an element without goTemplate: texts, and those below values.
func texts(element map[string]any) (map[string]any, bool) {
	out := map[string]any{}
	for key, value := range element {
		if below, ok := value.(map[string]any); ok && key == "values" {
			for name, v := range below {
				out["values."+name] = v
			}
			continue
		}
		out[key] = value
	}
	for _, v := range out {
		if _, ok := v.(string); !ok {
			return nil, false
		}
	}
	return out, true
}

// ofClusters are the parameters of each cluster that a cluster generator selects.
func (g generation) ofClusters(raw json.RawMessage, at []string) []map[string]any {
	var clusters clusterGenerator
	if err := json.Unmarshal(raw, &clusters); err != nil {
		g.unreadable(g.in, g.set.Object, err)
		return nil
	}
	selector{g.Walk, g.in, g.set, g.switches, append(slices.Clone(at), "selector"), g.overrides}.check(clusters.Selector)
	selects, err := metav1.LabelSelectorAsSelector(&clusters.Selector)
	if err != nil {
		g.unreadable(g.in, g.set.Object, err)
		return nil
	}
	candidates := g.clusters
	if clusters.FlatList {
		candidates = g.Fleet
	}
	var out []map[string]any
	for _, p := range candidates {
		if !selects.Matches(labels.Set(p.Registration.Labels)) {
			continue
		}
		parameters := parametersOf(p, g.set.Spec.GoTemplate)
		if g.addValues(append(at, "values"), clusters.Values, parameters) {
			out = append(out, parameters)
		}
	}
	if clusters.FlatList {
		all := make([]any, len(out))
		for i, parameters := range out {
			all[i] = parameters
		}
		return []map[string]any{{"clusters": all}}
	}
	return out
}

// addValues adds the values of a generator, which may use its parameters.
func (g generation) addValues(at []string, values map[string]string, parameters map[string]any) bool {
	t := templating{Walk: g.Walk, in: g.in, set: g.set, parameters: parameters}
	made := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		made[key] = t.text(append(slices.Clip(at), key), values[key])
	}
	if t.broken {
		g.Incomplete = true
		return false
	}
	switch {
	case !g.set.Spec.GoTemplate:
		for key, value := range made {
			parameters["values."+key] = value
		}
	case len(made) > 0:
		parameters["values"] = made
	}
	return true
}

// fromTemplate makes an Application of a template.
func (g generation) fromTemplate(template, parameters map[string]any) (app Application, ok bool) {
	t := templating{Walk: g.Walk, in: g.in, set: g.set, parameters: parameters}
	made := t.value([]string{"spec", "template"}, template)
	patch := t.text([]string{"spec", "templatePatch"}, g.set.Spec.TemplatePatch)
	if t.broken {
		g.Incomplete = true
		return app, false
	}
	text, err := json.Marshal(made)
	if err != nil {
		panic(err) // it came out of JSON
	}
	if text, ok = g.patched(text, patch); !ok {
		return app, false
	}
	if app, err = manifest.Decode[Application](string(text)); err != nil {
		g.unreadable(g.in, g.set.Object, err)
		return app, false
	}
	app.APIVersion, app.Kind = g.set.APIVersion, "Application"
	app.Metadata.Namespace = names.ArgoCDNamespace
	g.from[app.object()] = madeFrom{set: g.set, parameters: parameters}
	return app, true
}

// patched is an Application with the template patch put in. Its project stays the template's.
// Source: applicationset/controllers/template/patch.go of argoproj/argo-cd v3.5.
func (g generation) patched(app []byte, patch string) ([]byte, bool) {
	if strings.TrimSpace(patch) == "" {
		return app, true
	}
	given, err := manifest.Decode[map[string]any](patch)
	var text []byte
	if err == nil {
		if spec, ok := given["spec"].(map[string]any); ok {
			delete(spec, "project")
		}
		text, err = json.Marshal(given)
	}
	if err == nil {
		app, err = jsonpatch.MergePatch(app, text)
	}
	if err != nil {
		g.refuse("its templatePatch is no patch of an Application: "+walk.Innermost(err), "write it as the fields of an Application")
	}
	return app, err == nil
}
