package argocd

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	"tombolo/check/tree"
	"tombolo/check/walk"
	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/internal/names"
	"tombolo/internal/wording"
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
	raw, err := json.Marshal(g.set.Spec.Generators)
	if err != nil {
		panic(err) // it came out of JSON
	}
	return bytes.Contains(raw, []byte(`"clusters":`))
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

// nested are the generators of a matrix or merge.
type nested struct {
	Generators []generator `json:"generators"`
	MergeKeys  []string    `json:"mergeKeys"`
}

// matrix are the parameters of two generators, each of the first with each of the second.
func (g generation) matrix(raw json.RawMessage, at []string) ([]map[string]any, bool) {
	var m nested
	if err := json.Unmarshal(raw, &m); err != nil || len(m.Generators) != 2 {
		g.refuse(fmt.Sprintf("its matrix has %d generators", len(m.Generators)), "give a matrix two generators: one of them may be a matrix")
		return nil, true
	}
	at = append(slices.Clip(at), "generators", "[]")
	first, ok := g.parameters(m.Generators[0], at, nil)
	if !ok {
		return nil, false
	}
	var out []map[string]any
	for _, a := range first {
		second, ok := g.parameters(m.Generators[1], at, a)
		if !ok {
			return nil, false
		}
		for _, b := range second {
			both, err := g.joined(a, b)
			if err != nil {
				g.refuse("the generators of its matrix do not go together: "+err.Error(), "give the parameters other names, or set goTemplate: true")
				return nil, true
			}
			out = append(out, both)
		}
	}
	return out, true
}

// joined are the parameters of a matrix: those of the first generator win with goTemplate, and
// must not differ without.
func (g generation) joined(first, second map[string]any) (map[string]any, error) {
	out := map[string]any{}
	if g.set.Spec.GoTemplate {
		if err := mergo.Merge(&out, copied(second), mergo.WithOverride); err != nil {
			return nil, err
		}
		return out, mergo.Merge(&out, copied(first), mergo.WithOverride)
	}
	for _, parameters := range []map[string]any{first, second} {
		for key, value := range parameters {
			text := fmt.Sprint(value)
			if other, ok := out[key]; ok && other != text {
				return nil, fmt.Errorf("both give %s, %q and %q", key, other, text)
			}
			out[key] = text
		}
	}
	return out, nil
}

// copied is a copy of parameters as deep as mergo writes into them.
func copied(parameters map[string]any) map[string]any {
	out := maps.Clone(parameters)
	for key, value := range out {
		if below, ok := value.(map[string]any); ok {
			out[key] = copied(below)
		}
	}
	return out
}

// merge are the parameters of the first generator, with those of the others over them that have the
// same values of the merge keys.
func (g generation) merge(raw json.RawMessage, at []string) ([]map[string]any, bool) {
	var m nested
	if err := json.Unmarshal(raw, &m); err != nil || len(m.Generators) < 2 || len(m.MergeKeys) == 0 {
		g.refuse(fmt.Sprintf("its merge has %d generators and %d mergeKeys", len(m.Generators), len(m.MergeKeys)), "give a merge two generators or more, and mergeKeys")
		return nil, true
	}
	at = append(slices.Clip(at), "generators", "[]")
	var keys []string
	base := map[string]map[string]any{}
	for i, of := range m.Generators {
		g.overrides = g.overrides || i > 0
		all, ok := g.parameters(of, at, nil)
		if !ok {
			return nil, false
		}
		met := map[string]bool{}
		for _, parameters := range all {
			key := mergeKey(m.MergeKeys, parameters)
			if met[key] {
				g.refuse(fmt.Sprintf("generator %d of its merge gives two sets of parameters with the same mergeKeys %s", i+1, key),
					"choose mergeKeys that tell the parameters apart; with goTemplate they are names at the top, as in name")
				return nil, true
			}
			met[key] = true
			switch below, ok := base[key]; {
			case i == 0:
				keys, base[key] = append(keys, key), copied(parameters)
			case ok && !g.set.Spec.GoTemplate:
				maps.Copy(below, parameters)
			case ok:
				if err := mergo.Merge(&below, copied(parameters), mergo.WithOverride); err != nil {
					g.refuse("the generators of its merge do not go together: "+err.Error(), "give the parameters the same types")
					return nil, true
				}
				base[key] = below
			}
		}
	}
	out := make([]map[string]any, len(keys))
	for i, key := range keys {
		out[i] = base[key]
	}
	return out, true
}

// mergeKey is what parameters have of the merge keys, which are looked for at the top alone.
func mergeKey(keys []string, parameters map[string]any) string {
	of := map[string]any{}
	for _, key := range keys {
		of[key] = parameters[key]
	}
	text, err := json.Marshal(of)
	if err != nil {
		panic(err) // it came out of JSON
	}
	return string(text)
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

// checkNames reports names that two Applications of the ApplicationSet would have: Argo CD makes
// neither. Those of systems are looked at by their lists. Source: validateGeneratedApplications in
// applicationset/controllers/applicationset_controller.go of argoproj/argo-cd v3.5.
func (g generation) checkNames(made []Application) {
	if len(made) == 0 || made[0].Metadata.Labels[names.SystemLabel] != "" {
		return
	}
	if twice := nameTwice(made); twice != "" {
		g.refuse("makes two Applications of the name "+twice+", and so Argo CD makes neither", "put into the name what tells them apart")
		return
	}
	if other, twice := g.nameOfTwoClusters(len(made)); twice != "" {
		g.refuse(fmt.Sprintf("makes an Application of the name %s for %s and for %s, and so Argo CD makes neither", twice, g.Published.Cluster, other),
			"put the cluster's name into the template's")
	}
}

// nameTwice is a name that two Applications have.
func nameTwice(all []Application) string {
	taken := map[string]bool{}
	for _, app := range all {
		if taken[app.Metadata.Name] {
			return app.Metadata.Name
		}
		taken[app.Metadata.Name] = true
	}
	return ""
}

// nameOfTwoClusters is a name of two Applications when the ApplicationSet is made for another cluster of the
// hub too. The first that it selects answers for all.
func (g generation) nameOfTwoClusters(alone int) (other, twice string) {
	if !g.asksClusters() {
		return "", ""
	}
	for _, p := range g.Fleet {
		if p.Cluster == g.Published.Cluster {
			continue
		}
		quiet, base := *g.Walk, *g.Walk.Walk
		quiet.Walk, quiet.from = &base, map[manifest.Object]madeFrom{}
		base.Used = map[string]bool{}
		both := generation{
			Walk: &quiet, in: g.in, set: g.set, switches: g.switches, clusters: []published.Set{g.Published, p}, namesOnly: g.set.Spec.TemplatePatch == "",
		}.applications()
		if len(both) > alone {
			return p.Cluster, nameTwice(both)
		}
	}
	return "", ""
}

// switchesOf are labels by which a selector leaves clusters out: they tell
// clusters apart, and no cluster needs one.
func switchesOf(sets []applicationSet) map[string]bool {
	out := map[string]bool{}
	for _, set := range sets {
		for _, g := range set.Spec.Generators {
			g.addSwitches(out)
		}
	}
	return out
}

// addSwitches adds those of a generator and of the generators in it. What cannot be decoded is its own finding.
func (g generator) addSwitches(out map[string]bool) {
	var clusters clusterGenerator
	if json.Unmarshal(g["clusters"], &clusters) == nil {
		for _, e := range clusters.Selector.MatchExpressions {
			if leavesOut(e) {
				out[e.Key] = true
			}
		}
	}
	for _, kind := range []string{"matrix", "merge"} {
		var n nested
		if json.Unmarshal(g[kind], &n) == nil {
			for _, inner := range n.Generators {
				inner.addSwitches(out)
			}
		}
	}
}

func leavesOut(e metav1.LabelSelectorRequirement) bool {
	return e.Operator == metav1.LabelSelectorOpNotIn || e.Operator == metav1.LabelSelectorOpDoesNotExist
}

// selector is one of an ApplicationSet, whose labels are looked at.
type selector struct {
	*Walk
	in       *walk.Origin
	set      applicationSet
	switches map[string]bool
	// above is where the ApplicationSet has it, and overrides as in generation.
	above     []string
	overrides bool
}

// at is where the selector has a value.
func (s selector) at(value string, path ...string) tree.Wanted {
	return tree.Wanted{Object: s.set.Object, Path: append(slices.Clip(s.above), path...), Value: value}
}

// reachesNone reports a selector that selects no cluster. What overrides parameters for clusters that there are
// not yet is a fault only where it is similar to what there is.
func (s selector) reachesNone(at tree.Wanted, f finding.Finding, similar bool) {
	switch {
	case !s.overrides:
		f.Message += ": it reaches none"
	case !similar:
		return
	default:
		f.Severity, f.Message = finding.Warning, f.Message+": this generator of a merge overrides nothing"
	}
	s.Refer(s.in, at, f)
}

// check looks at labels that no cluster of the hub has.
func (s selector) check(selector metav1.LabelSelector) {
	for _, key := range slices.Sorted(maps.Keys(selector.MatchLabels)) {
		value := selector.MatchLabels[key]
		at := s.at(value, "matchLabels", key)
		if s.checkLabel(at, key) {
			s.checkValues(at, key, []string{value})
		}
	}
	for _, e := range selector.MatchExpressions {
		at := s.at(e.Key, "matchExpressions", "[]", "key")
		switch {
		case leavesOut(e):
			s.checkLeftOut(at, e.Key)
		case s.checkLabel(at, e.Key) && len(e.Values) > 0:
			s.checkValues(at, e.Key, e.Values)
		}
	}
}

// checkLabel reports a label that a selector asks for and no cluster has, and
// says whether one has it. An addon that no cluster turns on is none of the
// tree's faults, and neither are an unused shape and an unused switch.
func (s selector) checkLabel(at tree.Wanted, key string) bool {
	all := published.Keys(s.Fleet, "labels")
	words := slices.Concat(all, addonLabels(), []string{shapeLabel})
	switch {
	case slices.Contains(all, key):
		return true
	case slices.Contains(words, key), s.switches[key] && wording.Nearest(key, words) == "":
		return false
	}
	s.reachesNone(at, finding.Errorf("%s selects clusters by the label %q, which none of this hub has", s.set.Identity(), key).
		WithRemedy(near.DidYouMean(key, words, "label clusters so in their files, or remove the ApplicationSet")), wording.Nearest(key, words) != "")
	return false
}

// checkValues reports a label whose value no cluster has.
func (s selector) checkValues(at tree.Wanted, key string, values []string) {
	has := map[string]bool{}
	for _, p := range s.Fleet {
		if value, ok := p.Registration.Labels[key]; ok {
			has[value] = true
		}
	}
	if slices.ContainsFunc(values, func(v string) bool { return has[v] }) {
		return
	}
	known := slices.Sorted(maps.Keys(has))
	if isOnOff(values) && isOnOff(known) {
		return // turned off on all clusters
	}
	f := finding.Errorf(
		"%s selects clusters by the label %s=%s; those of this hub have %s", s.set.Identity(), key, strings.Join(values, "|"), strings.Join(known, ", ")).
		WithRemedy(near.DidYouMean(values[0], known, "label clusters so in their files, or remove the ApplicationSet"))
	similar := wording.Nearest(values[0], known) != ""
	if !similar {
		if s.switches[key] {
			return
		}
		f.Severity = finding.Warning
	}
	s.reachesNone(at, f, similar)
}

// isOnOff says whether a label is a switch by its values.
func isOnOff(values []string) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return v != "true" && v != "false" })
}

// checkLeftOut warns of a label that excludes no cluster, because it is misspelt.
func (s selector) checkLeftOut(at tree.Wanted, key string) {
	all := published.Keys(s.Fleet, "labels")
	if slices.Contains(all, key) || wording.Nearest(key, all) == "" {
		return
	}
	s.Refer(s.in, at, finding.Warningf("%s leaves out clusters by the label %q, which none of this hub has: it leaves out none", s.set.Identity(), key).
		WithRemedy(near.DidYouMean(key, all, "")))
}

// shapeLabel is by which the reference tree tells apart clusters that have an
// Application for each addon, and those that have one for all. A tree of a hub
// without addons has the latter's ApplicationSet alone, and then no selector shows
// that the label is a switch.
const shapeLabel = "shape"

// addonLabels are the labels of clusters that turn on an addon of the catalogue.
func addonLabels() []string {
	var out []string
	for _, a := range addon.All() {
		out = append(out, config.AddonLabelPrefix+a.Name)
	}
	return out
}
