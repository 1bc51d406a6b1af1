package contract

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/strvals"
	"sigs.k8s.io/yaml"
)

// followChart renders a chart of the tree as Helm does, and takes what it makes.
func (w *walk) followChart(s *sync, app application, from source) {
	dir := relative(from.Path)
	c, err := w.loadChart(s, dir)
	if err == nil && len(c.Metadata.Dependencies) > len(c.Dependencies()) {
		w.elsewhereToo = true
		w.note(place{file: path.Join(dir, "Chart.yaml")}, "is not followed: the charts that it depends on are not in this tree")
		return
	}
	var values map[string]any
	if err == nil {
		values, err = w.chartValues(app, from)
	}
	var texts []string
	if err == nil {
		w.checkPublishedKeys(s, c, app, from, values)
		texts, err = render(c, app, from, values, false)
	}
	if err != nil {
		w.incomplete = true
		w.failedChart(s, c, err)
		return
	}
	w.takeAll(s, texts)
}

// loadChart reads the files of a chart.
func (w *walk) loadChart(s *sync, dir string) (*chart.Chart, error) {
	var buffers []*loader.BufferedFile
	for _, name := range slices.Sorted(maps.Keys(w.files.regular)) {
		below, ok := strings.CutPrefix(name, strings.TrimPrefix(dir+"/", "./"))
		if !ok {
			continue
		}
		text, err := w.files.read(name)
		if err != nil {
			return nil, err
		}
		s.read = append(s.read, name)
		buffers = append(buffers, &loader.BufferedFile{Name: below, Data: text})
	}
	return loader.LoadFiles(buffers)
}

// chartValues are what an Application gives a chart of the tree: files, then
// values, then parameters, each over the ones before.
func (w *walk) chartValues(app application, from source) (map[string]any, error) {
	values := map[string]any{}
	if from.Helm == nil {
		return values, nil
	}
	for _, file := range from.Helm.ValueFiles {
		name, ok := w.valueFile(app, from, file)
		if !ok || !w.files.regular[name] {
			continue // its own finding
		}
		text, err := w.files.read(name)
		if err != nil {
			return nil, err
		}
		if values, err = overlaid(values, string(text)); err != nil {
			return nil, fmt.Errorf("values file %s: %w", name, err)
		}
	}
	values, err := overlaid(values, from.Helm.Values)
	if len(from.Helm.ValuesObject) > 0 {
		values, err = chartutil.CoalesceTables(maps.Clone(from.Helm.ValuesObject), values), nil
	}
	if err != nil {
		return nil, err
	}
	for _, p := range from.Helm.Parameters {
		parse := strvals.ParseInto
		if p.ForceString {
			parse = strvals.ParseIntoString
		}
		if err := parse(p.Name+"="+strings.ReplaceAll(p.Value, ",", `\,`), values); err != nil {
			return nil, fmt.Errorf("parameter %s: %w", p.Name, err)
		}
	}
	return values, nil
}

// overlaid are values with those of a text over them.
func overlaid(below map[string]any, text string) (map[string]any, error) {
	above := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &above); err != nil {
		return nil, fmt.Errorf("reading Helm values: %w", err)
	}
	return chartutil.CoalesceTables(above, below), nil
}

// render returns the objects that a chart becomes. Strictly, a value that is not
// there is an error.
func render(c *chart.Chart, app application, from source, values map[string]any, strict bool) ([]string, error) {
	release := chartutil.ReleaseOptions{Name: app.Metadata.Name, Namespace: app.Spec.Destination.Namespace, IsInstall: true, Revision: 1}
	if from.Helm != nil && from.Helm.ReleaseName != "" {
		release.Name = from.Helm.ReleaseName
	}
	all, err := chartutil.ToRenderValues(c, values, release, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	made, err := engine.Engine{Strict: strict}.Render(c, all)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(made)) {
		if path.Ext(name) == ".yaml" || path.Ext(name) == ".yml" {
			out = append(out, objectsIn([]byte(made[name]))...)
		}
	}
	return out, nil
}

// missingValue is how Helm's engine names a value that is not there. What it is
// missing in is cut off after twenty characters.
var missingValue = regexp.MustCompile(`([^\s:(]+):(\d+):\d+: executing "[^"]*" at <[^>]*>: map has no entry for key ("(?:[^"\\]|\\.)*")$`)

// checkPublishedKeys reports what templates of a chart take out of the values
// below cluster and is not there: Helm would put in an empty text.
func (w *walk) checkPublishedKeys(s *sync, c *chart.Chart, app application, from source, values map[string]any) {
	cluster, ok := values["cluster"].(map[string]any)
	if !ok {
		return
	}
	values, cluster = maps.Clone(values), maps.Clone(cluster)
	values["cluster"] = cluster
	for {
		_, err := render(c, app, from, values, true)
		m := missingValue.FindStringSubmatch(fmt.Sprint(err))
		if m == nil {
			return
		}
		key, failed := strconv.Unquote(m[3])
		line, _ := strconv.Atoi(m[2]) // digits
		at, found := w.clusterKey(s, c, m[1], line, key)
		if _, known := cluster[key]; failed != nil || !found || known {
			return
		}
		cluster[key] = unset
		w.at(at, Finding{
			Severity: Error,
			Message:  fmt.Sprintf("cluster.%s is not published: it becomes empty, and Helm does not say so", key),
			Remedy:   didYouMean(key, sortedKeys(cluster), fmt.Sprintf("add %s to the values of the cluster file", key)),
		})
	}
}

// clusterKey is where a template has .cluster.<key>.
func (w *walk) clusterKey(s *sync, c *chart.Chart, template string, line int, key string) (place, bool) {
	name := path.Join(relative(s.Spec.Path), strings.TrimPrefix(template, c.Name()+"/"))
	text, err := w.files.read(name)
	if err != nil || line < 1 || line > len(lines(text)) {
		return place{}, false
	}
	at := strings.Index(lines(text)[line-1], "cluster."+key)
	return place{file: name, line: line, column: at + 1}, at >= 0
}

// templatePlace is where Helm's engine says that a template is wrong.
var templatePlace = regexp.MustCompile(`\(?([^\s:(]+\.(?:yaml|yml|tpl|txt)):(\d+)(?::\d+)?\)?: ?`)

// failedChart reports a chart that cannot be rendered, at the innermost template
// that the error names.
func (w *walk) failedChart(s *sync, c *chart.Chart, err error) {
	dir := relative(s.Spec.Path)
	at, cause := place{file: path.Join(dir, "Chart.yaml")}, innermostChart(err)
	if c != nil {
		text := err.Error()
		for _, m := range templatePlace.FindAllStringSubmatchIndex(text, -1) {
			name := path.Join(dir, strings.TrimPrefix(text[m[2]:m[3]], c.Name()+"/"))
			if line, err := strconv.Atoi(text[m[4]:m[5]]); err == nil && w.files.regular[name] {
				at, cause = place{file: name, line: line, column: 1}, text[m[1]:]
			}
		}
	}
	w.at(at, Finding{
		Severity: Error,
		Message:  fmt.Sprintf("%s: its chart cannot be rendered: %s", s.identity(), strings.TrimSpace(cause)),
		Remedy:   "correct what Helm refuses",
	})
}

// innermostChart is the first line of an error's end.
func innermostChart(err error) string {
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}
