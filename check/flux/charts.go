package flux

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/strvals"
	"sigs.k8s.io/yaml"

	"tombolo/check/finding"
	"tombolo/check/helm"
	"tombolo/check/inventory"
	"tombolo/check/manifest"
	"tombolo/check/tree"
	"tombolo/check/walk"
	"tombolo/internal/names"
	"tombolo/internal/wording"
)

// chartSpec is the chart of a HelmRelease, or a HelmChart's.
type chartSpec struct {
	Chart                    string    `json:"chart"`
	SourceRef                reference `json:"sourceRef"`
	ValuesFiles              []string  `json:"valuesFiles"`
	IgnoreMissingValuesFiles bool      `json:"ignoreMissingValuesFiles"`
}

// chartMet is a chart that source-controller packages, where its object says so.
type chartMet struct {
	manifest.Object
	spec chartSpec
	at   []string
	in   *walk.Origin
}

func (w *Walk) takeChart(in *walk.Origin, o manifest.Object, text string) error {
	w.takeSource(o)
	c, err := manifest.Decode[struct {
		Spec chartSpec `json:"spec"`
	}](text)
	w.charts = append(w.charts, chartMet{o, c.Spec, []string{"spec"}, in})
	return err
}

// checkChart reports what source-controller does not package of a chart in this tree, and returns the chart; nil when
// it is not there, or not looked into. Source: internal/helm/chart/builder_local.go of source-controller.
func (w *Walk) checkChart(c chartMet) (loaded *chart.Chart, files *tree.Files) {
	met := w.sources[c.spec.SourceRef.id(c.Metadata.Namespace)]
	if met == nil || met.tree == nil || strings.Contains(c.spec.Chart, manifest.Unset) {
		return nil, nil
	}
	files = met.tree.Files
	dir := tree.Relative(c.spec.Chart)
	if files.IsFile(dir) {
		w.refer(c, c.spec.Chart, finding.Notef("%s: its chart is packaged, and not looked into", c.Identity()), "chart")
		return nil, files
	}
	if !files.IsFile(path.Join(dir, chartutil.ChartfileName)) {
		w.refer(c, c.spec.Chart, finding.Errorf("%s: %q has no Chart.yaml in %s %s: source-controller makes no chart of it",
			c.Identity(), c.spec.Chart, c.spec.SourceRef.Kind, c.spec.SourceRef.Name).WithRemedy(nearChart(files, c.spec.Chart)), "chart")
		return nil, files
	}
	if !w.checkValuesFiles(c, files, dir) {
		return nil, files
	}
	loaded, _, err := helm.Load(files, dir)
	if err == nil {
		var fetched []string
		if fetched, err = helm.Complete(loaded, files, dir); len(fetched) > 0 {
			err = errRemote
		}
	}
	if err != nil {
		w.failedChart(c, files, loaded, err)
		return nil, files
	}
	return loaded, files
}

// refer reports about a field of the chart.
func (w *Walk) refer(c chartMet, value string, f finding.Finding, field ...string) {
	w.Refer(c.in, tree.Wanted{Object: c.Object, Path: slices.Concat(c.at, field), Value: value}, f)
}

// nearChart advises about a chart that is not there: the path is from the source's root.
func nearChart(files *tree.Files, name string) string {
	var charts []string
	for _, file := range files.Names() {
		if path.Base(file) == chartutil.ChartfileName {
			charts = append(charts, path.Dir(file))
		}
	}
	word := wording.Nearest(tree.Relative(name), charts)
	for _, dir := range charts {
		if word == "" && path.Base(dir) == path.Base(name) {
			word = dir
		}
	}
	if word != "" {
		return fmt.Sprintf("did you mean %q?", "./"+word)
	}
	return "write the chart's directory by the path from the root of the source"
}

// checkValuesFiles reports values files that are not there: their paths are from the source's root, too.
func (w *Walk) checkValuesFiles(c chartMet, files *tree.Files, dir string) bool {
	ok := true
	for _, name := range c.spec.ValuesFiles {
		if files.IsFile(tree.Relative(name)) || c.spec.IgnoreMissingValuesFiles {
			continue
		}
		ok = false
		remedy := "add it, remove it, or set ignoreMissingValuesFiles"
		if beside := path.Join(dir, name); files.IsFile(beside) {
			remedy = fmt.Sprintf("write %q: paths are from the root of the source, not from the chart", beside)
		} else if word := wording.Nearest(tree.Relative(name), files.Names()); word != "" {
			remedy = fmt.Sprintf("did you mean %q?", word)
		}
		w.refer(c, name, finding.Errorf("%s: values file %q is not in %s %s: source-controller makes no chart", c.Identity(), name, c.spec.SourceRef.Kind, c.spec.SourceRef.Name).
			WithRemedy(remedy), "valuesFiles", "[]")
	}
	if len(c.spec.ValuesFiles) > 0 && !files.IsFile(path.Join(dir, chartutil.ValuesfileName)) {
		ok = false
		w.refer(c, c.spec.ValuesFiles[0], finding.Errorf("%s: the chart has no values.yaml, which source-controller replaces by valuesFiles", c.Identity()).
			WithRemedy("add an empty values.yaml to the chart"), "valuesFiles", "[]")
	}
	return ok
}

// errRemote says that a chart depends on one that is fetched.
var errRemote = errors.New("it depends on charts that are not in this tree")

// longestRelease is the most that helm-controller leaves of a release's name, in characters: it shortens others.
// Source: ShortenName in internal/release of fluxcd/helm-controller.
const longestRelease = 53

// checkReleased renders the chart of a release if it is in this tree, and takes what comes out.
func (w *Walk) checkReleased(r releaseMet) {
	if r.Spec.Chart == nil {
		return
	}
	c := chartMet{r.Object, r.Spec.Chart.Spec, []string{"spec", "chart", "spec"}, r.in}
	loaded, files := w.checkChart(c)
	if loaded == nil {
		return
	}
	name := releaseName(r)
	if err := helm.Installable(loaded, name[:min(len(name), longestRelease)], w.Published.Kubernetes); err != nil {
		w.failedChart(c, files, loaded, err)
		return
	}
	values, err := w.valuesOf(r, c.spec, loaded, files)
	if err == nil && r.Spec.Install.DisableSchemaValidation {
		withoutSchemas(loaded)
	}
	var made []string
	if err == nil {
		made, err = helm.Render(loaded, name, cmp.Or(r.Spec.TargetNamespace, r.Metadata.Namespace), values, false)
	}
	if err != nil {
		w.failedChart(c, files, loaded, err)
		return
	}
	for _, text := range made {
		w.takeReleased(r, text)
	}
}

// takeReleased takes note of an object that a release makes.
func (w *Walk) takeReleased(r releaseMet, text string) {
	o, err := manifest.Decode[manifest.Object](text)
	if err == nil {
		o.Metadata.Namespace = cmp.Or(o.Metadata.Namespace, r.Spec.TargetNamespace, r.Metadata.Namespace)
		_ = w.inventory.Add(o, text) // whose types are not judged here
	}
}

// releaseName is that of Helm's release. Source: GetReleaseName in api/v2 of helm-controller.
func releaseName(r releaseMet) string {
	if r.Spec.ReleaseName == "" && r.Spec.TargetNamespace != "" {
		return r.Spec.TargetNamespace + "-" + r.Metadata.Name
	}
	return cmp.Or(r.Spec.ReleaseName, r.Metadata.Name)
}

func withoutSchemas(c *chart.Chart) {
	c.Schema = nil
	for _, d := range c.Dependencies() {
		withoutSchemas(d)
	}
}

// errValues says that a release has values that are not known here.
var errValues = errors.New("some of its values are not known here")

// valuesOf are the values of a release: those of valuesFiles in place of the chart's own, then each of valuesFrom over the ones before,
// then its own. Source: ChartValuesFromReferences in fluxcd/pkg/chartutil.
func (w *Walk) valuesOf(r releaseMet, spec chartSpec, c *chart.Chart, files *tree.Files) (values map[string]any, err error) {
	for i, name := range spec.ValuesFiles {
		if i == 0 {
			c.Values = map[string]any{}
		}
		text, err := files.Read(tree.Relative(name))
		if err != nil {
			continue // it may be missing
		}
		if c.Values, err = helm.Overlay(c.Values, string(text)); err != nil {
			return nil, fmt.Errorf("values file %s: %w", name, err)
		}
	}
	values = map[string]any{}
	for _, from := range r.Spec.ValuesFrom {
		found, ok := w.inventory.Find(inventory.ID{Kind: from.Kind, Namespace: r.Metadata.Namespace, Name: from.Name})
		text, known := found.Values[cmp.Or(from.ValuesKey, names.ValuesKey)]
		switch {
		case !known && from.Optional && !ok:
		case !known:
			return nil, errValues
		default:
			values, err = from.over(values, text)
		}
		if err != nil {
			return nil, errValues // its own finding
		}
	}
	own, err := yaml.Marshal(r.Spec.Values) // a copy
	if err != nil {
		return nil, err
	}
	return helm.Overlay(values, string(own))
}

// literal escapes what Helm's parser of --set takes for its own.
var literal = strings.NewReplacer(`\`, `\\`, `,`, `\,`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`)

// over are values with the text of a key over them. Source: ChartValuesFromReferences, ReplacePathValue and
// ReplacePathLiteralValue in fluxcd/pkg/chartutil v1.27.
func (v valuesFrom) over(values map[string]any, text string) (map[string]any, error) {
	within := func(quote string) bool { return strings.HasPrefix(text, quote) && strings.HasSuffix(text, quote) }
	switch {
	case v.TargetPath == "":
		return helm.Overlay(values, text)
	case v.Literal:
		return values, strvals.ParseIntoString(v.TargetPath+"="+literal.Replace(text), values)
	case within("'"), within(`"`):
		return values, strvals.ParseIntoString(v.TargetPath+"="+strings.Trim(text, `'"`), values)
	}
	return values, strvals.ParseInto(v.TargetPath+"="+text, values)
}

// failedChart reports a chart that cannot be packaged or rendered, at the innermost template that the error names.
func (w *Walk) failedChart(c chartMet, files *tree.Files, loaded *chart.Chart, err error) {
	if errors.Is(err, errRemote) || errors.Is(err, errValues) {
		w.refer(c, c.spec.Chart, finding.Notef("%s: its chart is not rendered: %v", c.Identity(), err), "chart")
		return
	}
	file := func(template string) string {
		if loaded == nil {
			return ""
		}
		return path.Join(tree.Relative(c.spec.Chart), strings.TrimPrefix(template, loaded.Name()+"/"))
	}
	cause, template, line := helm.Cause(err, func(name string) bool { return files.IsFile(file(name)) })
	f := finding.Errorf("%s: its chart cannot be rendered: %s", c.Identity(), cause).WithRemedy("correct what Helm refuses")
	if helm.OfSchema(err) {
		w.refer(c, c.spec.Chart, f, "chart")
		return
	}
	at := walk.InFile(files, path.Join(tree.Relative(c.spec.Chart), chartutil.ChartfileName), helm.MetadataKey(err))
	if template != "" {
		at = tree.Place{File: file(template), Line: line, Column: 1}
	}
	w.At(files.Origin(at), f)
}
