package argocd

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"

	"tombolo/check/finding"
	"tombolo/check/helm"
	"tombolo/check/manifest"
	"tombolo/check/near"
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
	if err == nil {
		err = helm.Buildable(c)
	}
	var fetched []string
	if err == nil {
		fetched, err = helm.Complete(c, w.Files, in.Dir())
	}
	var values map[string]any
	if err == nil {
		var ok bool
		if values, ok = w.values(in, app, from); !ok {
			return nil
		}
	}
	var texts []string
	if err == nil {
		w.checkUnused(in, c, values)
		w.checkPublishedKeys(in, c, app, from, values)
		texts, err = render(c, app, from, values, false)
		if len(fetched) > 0 {
			w.noteFetched(in, fetched, err)
			return texts
		}
	}
	if err != nil {
		w.Incomplete = true
		w.failedChart(in, app, from, c, err)
	}
	return texts
}

// noteFetched says what is not looked into: charts that Argo CD fetches, and with their helpers, if need be, all.
func (w *Walk) noteFetched(in *walk.Origin, fetched []string, failed error) {
	w.Elsewhere = true
	how := "is followed without"
	if failed != nil {
		how = "is not followed: its templates need"
	}
	w.Note(tree.Place{File: path.Join(in.Dir(), "Chart.yaml")}, fmt.Sprintf("%s %s, which Argo CD fetches", how, wording.And(fetched)))
}

// checkUnused warns of values that no chart of a chart reads.
func (w *Walk) checkUnused(in *walk.Origin, c *chart.Chart, values map[string]any) {
	all := chartutil.CoalesceTables(maps.Clone(values), c.Values)
	for _, key := range helm.Unused(c, all) {
		at := tree.Place{File: path.Join(in.Dir(), "Chart.yaml")}
		w.At(at, finding.Warningf("%s: its value %s has no effect: the chart has no templates, and no dependency of this name", in.Object.Identity(), key).
			WithRemedy(near.DidYouMean(key, dependencies(c), "put it below the name of the dependency that it is for")))
	}
}

func dependencies(c *chart.Chart) []string {
	var out []string
	for _, d := range c.Metadata.Dependencies {
		out = append(out, cmp.Or(d.Alias, d.Name))
	}
	return out
}

// values are what an Application gives a chart of the tree: files, then values,
// then parameters, each over the ones before. It reports what Helm cannot take.
func (w *Walk) values(in *walk.Origin, app Application, from Source) (values map[string]any, ok bool) {
	values = map[string]any{}
	if from.Helm == nil {
		return values, true
	}
	refused := func(field, value, message, remedy string) (map[string]any, bool) {
		w.Incomplete = true
		w.referSource(in.Parent, app, field, value, finding.Errorf("%s: %s", in.Object.Identity(), message).WithRemedy(remedy))
		return nil, false
	}
	const mapping, escaped = "write it as a mapping of values", "write it as helm --set takes it"
	for _, file := range from.Helm.ValueFiles {
		name, ok := w.valueFile(app, from, file)
		if !ok || !w.Files.IsFile(name) {
			continue // its own finding
		}
		text, err := w.Files.Read(name)
		if err == nil {
			values, err = helm.Overlay(values, string(text))
		}
		if err != nil {
			return refused("valueFiles", file, "Helm cannot take the values file "+name+": "+walk.Innermost(err), mapping)
		}
	}
	var err error
	if len(from.Helm.ValuesObject) > 0 {
		values = chartutil.CoalesceTables(maps.Clone(from.Helm.ValuesObject), values)
	} else if values, err = helm.Overlay(values, from.Helm.Values); err != nil {
		return refused("values", from.Helm.Values, "Helm cannot take its source's values: "+walk.Innermost(err), mapping)
	}
	for _, p := range from.Helm.Parameters {
		if err := helm.Set(values, []helm.Parameter{p}); err != nil {
			return refused("parameters", p.Name, "Helm cannot take "+err.Error(), escaped)
		}
	}
	for _, p := range from.Helm.FileParameters {
		name, ok := w.valueFile(app, from, p.Path)
		if !ok || !w.Files.IsFile(name) {
			return refused("fileParameters", p.Path, fmt.Sprintf("the file %s of its parameter %s is not in the tree", p.Path, p.Name), "add it, or correct the path")
		}
		text, err := w.Files.Read(name)
		if err == nil {
			err = helm.Set(values, []helm.Parameter{{Name: p.Name, Value: string(text), ForceString: true}})
		}
		if err != nil {
			return refused("fileParameters", p.Path, "Helm cannot take "+err.Error(), escaped)
		}
	}
	return values, true
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
// that the error names; values that its schema refuses, at the source.
func (w *Walk) failedChart(in *walk.Origin, app Application, from Source, c *chart.Chart, err error) {
	at := walk.InFile(w.Files, path.Join(in.Dir(), "Chart.yaml"), helm.MetadataKey(err))
	cause, template, line := helm.Cause(err, func(name string) bool { return c != nil && w.Files.IsFile(templateFile(in, c, name)) })
	if template != "" {
		at = tree.Place{File: templateFile(in, c, template), Line: line, Column: 1}
	}
	f := finding.Errorf("%s: its chart cannot be rendered: %s", in.Object.Identity(), cause).WithRemedy("correct what Helm refuses")
	if helm.OfSchema(err) && in.Parent != nil {
		w.referSource(in.Parent, app, "path", from.Path, f)
		return
	}
	w.At(at, f)
}
