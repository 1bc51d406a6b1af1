package argocd

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"

	"tombolo/check/finding"
	"tombolo/check/gotemplate"
	"tombolo/check/helm"
	"tombolo/check/kustomize"
	"tombolo/check/manifest"
	"tombolo/check/near"
	"tombolo/check/published"
	"tombolo/check/tree"
	"tombolo/check/walk"
	"tombolo/internal/wording"
)

// chart are the objects that a chart of the tree becomes.
func (w *Walk) chart(in *walk.Origin, app Application, from Source) []string {
	c, read, err := helm.Load(w.Files, in.Dir())
	in.Read = append(in.Read, read...)
	if err == nil {
		err = helm.Installable(c, releaseName(app, from), w.Published.Kubernetes)
	}
	if err == nil && len(c.Metadata.Dependencies) > len(c.Dependencies()) {
		w.Elsewhere = true
		w.Note(tree.Place{File: path.Join(in.Dir(), "Chart.yaml")}, "is not followed: the charts that it depends on are not in this tree")
		return nil
	}
	var values map[string]any
	if err == nil {
		values, err = w.values(app, from)
	}
	var texts []string
	if err == nil {
		w.checkPublishedKeys(in, c, app, from, values)
		texts, err = render(c, app, from, values, false)
	}
	if err != nil {
		w.Incomplete = true
		w.failedChart(in, c, err)
	}
	return texts
}

// values are what an Application gives a chart of the tree: files, then values,
// then parameters, each over the ones before.
func (w *Walk) values(app Application, from Source) (map[string]any, error) {
	values := map[string]any{}
	if from.Helm == nil {
		return values, nil
	}
	for _, file := range from.Helm.ValueFiles {
		name, ok := w.valueFile(app, from, file)
		if !ok || !w.Files.IsFile(name) {
			continue // its own finding
		}
		text, err := w.Files.Read(name)
		if err != nil {
			return nil, err
		}
		if values, err = helm.Overlay(values, string(text)); err != nil {
			return nil, fmt.Errorf("values file %s: %w", name, err)
		}
	}
	var err error
	if len(from.Helm.ValuesObject) > 0 {
		values = chartutil.CoalesceTables(maps.Clone(from.Helm.ValuesObject), values)
	} else if values, err = helm.Overlay(values, from.Helm.Values); err != nil {
		return nil, err
	}
	if err := helm.Set(values, from.Helm.Parameters); err != nil {
		return nil, err
	}
	for _, p := range from.Helm.FileParameters {
		name, ok := w.valueFile(app, from, p.Path)
		if !ok || !w.Files.IsFile(name) {
			return nil, fmt.Errorf("the file %s of its parameter %s is not in the tree", p.Path, p.Name)
		}
		text, err := w.Files.Read(name)
		if err != nil {
			return nil, err
		}
		if err := helm.Set(values, []helm.Parameter{{Name: p.Name, Value: string(text), ForceString: true}}); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// releaseName is the name under which a chart of a source is released.
func releaseName(app Application, from Source) string {
	if from.Helm != nil && from.Helm.ReleaseName != "" {
		return from.Helm.ReleaseName
	}
	return app.Metadata.Name
}

func render(c *chart.Chart, app Application, from Source, values map[string]any, strict bool) ([]string, error) {
	return helm.Render(c, releaseName(app, from), app.Spec.Destination.Namespace, values, strict)
}

// checkPublishedKeys reports what templates of a chart take out of the values
// below cluster and is not there: Helm would put in an empty text.
func (w *Walk) checkPublishedKeys(in *walk.Origin, c *chart.Chart, app Application, from Source, values map[string]any) {
	cluster, ok := values["cluster"].(map[string]any)
	if !ok {
		return
	}
	values, cluster = maps.Clone(values), maps.Clone(cluster)
	values["cluster"] = cluster
	for {
		_, err := render(c, app, from, values, true)
		key, template, line, ok := helm.MissingValue(err)
		if !ok {
			return
		}
		at, found := w.clusterKey(templateFile(in, c, template), line, key)
		if _, known := cluster[key]; !found || known {
			return
		}
		cluster[key] = manifest.Unset
		remedy := w.Published.OfOtherCloud(key)
		if remedy == "" {
			remedy = near.DidYouMean(key, slices.Collect(maps.Keys(cluster)), fmt.Sprintf("add %s to the values of the cluster file", key))
		}
		w.At(at, finding.Errorf("cluster.%s is not published: it becomes empty, and Helm does not say so", key).WithRemedy(remedy))
	}
}

// templateFile is the file of the tree that a chart's template is.
func templateFile(in *walk.Origin, c *chart.Chart, template string) string {
	return path.Join(in.Dir(), strings.TrimPrefix(template, c.Name()+"/"))
}

// clusterKey is where a template has .cluster.<key>.
func (w *Walk) clusterKey(file string, line int, key string) (tree.Place, bool) {
	text, err := w.Files.Read(file)
	lines := strings.Split(string(text), "\n")
	if err != nil || line < 1 || line > len(lines) {
		return tree.Place{}, false
	}
	at := strings.Index(lines[line-1], "cluster."+key)
	return tree.Place{File: file, Line: line, Column: at + 1}, at >= 0
}

// failedChart reports a chart that cannot be rendered, at the innermost template
// that the error names.
func (w *Walk) failedChart(in *walk.Origin, c *chart.Chart, err error) {
	at := tree.Place{File: path.Join(in.Dir(), "Chart.yaml")}
	cause, template, line := helm.Cause(err, func(name string) bool { return c != nil && w.Files.IsFile(templateFile(in, c, name)) })
	if template != "" {
		at = tree.Place{File: templateFile(in, c, template), Line: line, Column: 1}
	}
	w.At(at, finding.Errorf("%s: its chart cannot be rendered: %s", in.Object.Identity(), cause).WithRemedy("correct what Helm refuses"))
}

// templating renders the template of an ApplicationSet for a cluster.
type templating struct {
	*Walk
	in         *walk.Origin
	set        applicationSet
	parameters map[string]any
	// broken says that something could not be rendered.
	broken bool
}

// value renders all texts in a value.
func (t *templating) value(at []string, v any) any {
	switch v := v.(type) {
	case string:
		return t.text(at, v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = t.value(append(slices.Clip(at), "[]"), item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out[t.text(at, key)] = t.value(append(slices.Clip(at), key), v[key])
		}
		return out
	}
	return v
}

// render is what a text becomes, if it can be rendered.
func (t *templating) render(text string) (string, bool) {
	if !t.set.Spec.GoTemplate {
		out, _, err := gotemplate.Plain(text, t.parameters)
		return out, err == nil
	}
	out := gotemplate.Render(text, t.parameters, t.set.Spec.GoTemplateOptions)
	return out.Text, out.Err == nil && len(out.Missing) == 0
}

// asFarAsKnown renders the texts that the parameters are enough for.
func (t *templating) asFarAsKnown(v any) any {
	fields, ok := v.(map[string]any)
	if !ok {
		return v
	}
	for key, value := range fields {
		text, ok := value.(string)
		if !ok {
			continue
		}
		strict := *t
		strict.set.Spec.GoTemplateOptions = []string{gotemplate.MissingIsError}
		if out, ok := strict.render(text); ok {
			fields[key] = out
		}
	}
	return fields
}

// text renders one text, and reports what it uses and the cluster lacks.
func (t *templating) text(at []string, text string) string {
	what := tree.Wanted{Object: t.set.Object, Path: at, Value: text}
	if !t.set.Spec.GoTemplate {
		return t.plain(what)
	}
	out := gotemplate.Render(text, t.parameters, t.set.Spec.GoTemplateOptions)
	for _, l := range out.Missing {
		t.broken = true
		t.missing(what, l)
	}
	if out.Err != nil && len(out.Missing) == 0 {
		t.broken = true
		t.failed(what, out.Err)
	}
	return out.Text
}

// missing reports a label or annotation that the cluster's registration lacks.
func (t *templating) missing(what tree.Wanted, l gotemplate.Lookup) {
	becomes := "Argo CD renders nothing of it"
	switch {
	case l.Silent:
		becomes = "it becomes empty, and Argo CD does not say so"
	case !t.set.Spec.GoTemplate:
		becomes = "Argo CD leaves it as it is written"
	case !t.strict():
		becomes = "it becomes " + gotemplate.NoValue + ", and Argo CD does not say so"
	}
	f := finding.Errorf("%s uses the %s %q, which the cluster's registration lacks: %s", t.set.Identity(), strings.TrimSuffix(l.Part, "s"), l.Key, becomes)
	f.Remedy = near.DidYouMean(l.Key, published.Keys(t.Fleet, l.Part), fmt.Sprintf("add it to the %s of the cluster file", l.Part))
	for _, p := range t.Fleet {
		if _, ok := p.Registration.Part(l.Part)[l.Key]; ok {
			f.Remedy = fmt.Sprintf("cluster %s has it: add it to this cluster's file too, or select clusters that have it", p.Cluster)
			break
		}
	}
	t.Refer(t.in, what, f)
}

// strict says whether Argo CD refuses what is missing.
func (t *templating) strict() bool {
	return slices.Contains(t.set.Spec.GoTemplateOptions, gotemplate.MissingIsError)
}

// plain renders a text without goTemplate, and reports what stays in braces by mistake.
func (t *templating) plain(what tree.Wanted) string {
	out, left, err := gotemplate.Plain(what.Value, t.parameters)
	if err != nil {
		t.broken = true
		t.failed(what, err)
		return out
	}
	for _, tag := range left {
		if part, key, ok := registrationKey(tag); ok {
			t.broken = true
			t.missing(what, gotemplate.Lookup{Part: part, Key: key})
			continue
		}
		known := slices.Sorted(maps.Keys(t.parameters))
		name := strings.TrimPrefix(tag, ".")
		switch nearest := wording.Nearest(name, known); {
		case name != tag && slices.Contains(known, name), name != tag && hasNoBraces(what.Path):
			t.stays(what, tag, "set goTemplate: true and goTemplateOptions: [missingkey=error], or write {{"+name+"}}")
		case nearest != "":
			t.stays(what, tag, fmt.Sprintf("did you mean {{%s}}?", nearest))
		case hasNoBraces(what.Path):
			t.stays(what, tag, "use a parameter of the generator, such as "+strings.Join(known[:min(3, len(known))], ", "))
		}
	}
	return out
}

// stays reports braces that no parameter replaces.
func (t *templating) stays(what tree.Wanted, tag, remedy string) {
	t.broken = true
	t.Refer(t.in, what, finding.Errorf("%s: without goTemplate, {{%s}} is no parameter of its generators, and stays as it is written", t.set.Identity(), tag).
		WithRemedy(remedy))
}

// hasNoBraces says that a field of the template can have no braces, whatever the Application is for. Values of
// charts and patches may have templates of their own.
func hasNoBraces(at []string) bool {
	switch at[len(at)-1] {
	case "name", "namespace", "path", "repoURL", "targetRevision", "server", "project":
		return at[1] == "template" && !slices.Contains(at, "helm")
	}
	return false
}

// failed reports a template that cannot be rendered, whatever the cluster has.
func (t *templating) failed(what tree.Wanted, err error) {
	f := finding.Finding{Severity: finding.Error, Remedy: "correct the template"}
	f.Message = fmt.Sprintf("%s cannot be rendered: %s", t.set.Identity(), gotemplate.Cause(err))
	if name, ok := gotemplate.UnknownFunction(err); ok {
		f.Message = fmt.Sprintf("%s cannot be rendered: Argo CD has no template function %q", t.set.Identity(), name)
		f.Remedy = near.DidYouMean(name, gotemplate.Functions(), "use a function of sprig, or one that Argo CD adds")
	}
	if key, ok := gotemplate.MissingKey(err); ok {
		f.Message = fmt.Sprintf("%s cannot be rendered: there is no %q for this cluster in %s", t.set.Identity(), key, strings.TrimSpace(what.Value))
		if !t.strict() {
			f.Message = fmt.Sprintf("%s: there is no %q for this cluster in %s: it becomes %s, and Argo CD does not say so", t.set.Identity(), key, strings.TrimSpace(what.Value), gotemplate.NoValue)
		}
		f.Remedy = near.DidYouMean(key, t.names(), f.Remedy)
	}
	t.Refer(t.in, what, f)
}

// names are the parameters of the generator, and the names of the cluster's
// addons: what is below its values.
func (t *templating) names() []string {
	out := slices.Collect(maps.Keys(t.parameters))
	if values, ok := t.parameters["values"].(map[string]any); ok {
		out = slices.AppendSeq(out, maps.Keys(values))
	}
	for _, a := range t.Published.Registration.Addons {
		out = append(out, a.Name)
	}
	return append(out, "cluster", "addons")
}

// ownRefs are the names by which an Application's sources refer to files of this
// tree, such as $platform, with whether they do.
func (w *Walk) ownRefs(app Application) map[string]bool {
	out := map[string]bool{}
	for _, from := range app.Sources() {
		if from.Ref != "" {
			out["$"+from.Ref] = w.isOwn(from.RepoURL)
		}
	}
	return out
}

// valueFile is the file of the tree that a source's values file is; not if it is
// elsewhere.
func (w *Walk) valueFile(app Application, from Source, name string) (string, bool) {
	if ref, below, ok := strings.Cut(name, "/"); ok && strings.HasPrefix(ref, "$") {
		return path.Clean(below), w.ownRefs(app)[ref] // one that leaves the tree is none of its files
	}
	if !kustomize.IsLocal(strings.TrimPrefix(name, "/")) || from.Chart != "" || !w.isOwn(from.RepoURL) {
		return "", false
	}
	if path.IsAbs(name) {
		return tree.Relative(name), true
	}
	return path.Join(from.Path, name), true
}

// checkValueFiles reports values files that are not there. Where missing ones are
// ignored, one has to be: or the name is wrong.
func (w *Walk) checkValueFiles(in *walk.Origin, app Application, from Source, refs map[string]bool) {
	if from.Helm == nil {
		return
	}
	var missing, all []string
	for _, name := range from.Helm.ValueFiles {
		if ref, _, ok := strings.Cut(name, "/"); ok && strings.HasPrefix(ref, "$") && !w.knownRef(in, app, name, ref, refs) {
			continue
		}
		file, ok := w.valueFile(app, from, name)
		if !ok && (from.Chart != "" || !w.isOwn(from.RepoURL) || isFetched(name)) {
			continue
		}
		all = append(all, name)
		if !ok || !w.Files.IsFile(file) {
			missing = append(missing, name)
		}
	}
	if from.Helm.IgnoreMissingValueFiles && len(missing) < len(all) {
		return
	}
	for _, name := range missing {
		file, _ := w.valueFile(app, from, name)
		f := finding.Errorf("%s: values file %q is not in the tree", w.named(app), name).
			WithRemedy(w.NearFile(file, path.Base(file), "add it, or remove it from valueFiles"))
		if from.Helm.IgnoreMissingValueFiles {
			f.Severity = finding.Warning
			f.Message += ", and neither is another; missing ones are ignored, so the engine reports no error"
		}
		w.referSource(in, app, "valueFiles", name, f)
	}
}

// isFetched says whether Argo CD fetches a values file: helm.valuesFileSchemes has these
// schemes, unless somebody sets others. Source: docs/user-guide/helm.md of argoproj/argo-cd.
func isFetched(name string) bool {
	scheme, _, ok := strings.Cut(strings.ToLower(name), "://")
	return ok && (scheme == "http" || scheme == "https") || strings.HasPrefix(name, "$")
}

// knownRef reports a $name that no source of the Application has.
func (w *Walk) knownRef(in *walk.Origin, app Application, name, ref string, refs map[string]bool) bool {
	if _, ok := refs[ref]; ok {
		return true
	}
	w.referSource(in, app, "valueFiles", name, finding.Errorf(
		"%s: values file %q is in %s, which none of its sources is called", w.named(app), name, ref).
		WithRemedy(near.DidYouMean(ref, slices.Sorted(maps.Keys(refs)), "add a source with ref: "+strings.TrimPrefix(ref, "$"))))
	return false
}
