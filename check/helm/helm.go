// Package helm renders charts of a platform tree as Helm does.
package helm

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fluxcd/pkg/sourceignore/gitignore"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/strvals"
	"sigs.k8s.io/yaml"

	"tombolo/check/definition"
	"tombolo/check/manifest"
	"tombolo/check/tree"
)

// Load reads a chart of the tree, and says which files it read.
func Load(files *tree.Files, dir string) (c *chart.Chart, read []string, err error) {
	var buffers []*loader.BufferedFile
	ignored := ignoredBy(files, dir)
	for _, below := range files.Below(dir) {
		name := path.Join(dir, below)
		if ignored.Match(strings.Split(below, "/"), false) {
			continue
		}
		text, err := files.Read(name)
		if err != nil {
			return nil, read, err
		}
		read = append(read, name)
		buffers = append(buffers, &loader.BufferedFile{Name: below, Data: text})
	}
	if c, err = loader.LoadFiles(buffers); err != nil {
		return c, read, err
	}
	// Helm 4, which both engines have now, loads no others: LoadDir in pkg/chart/loader/load.go of helm.sh/helm/v4.
	if of := c.Metadata.APIVersion; of != chart.APIVersionV1 && of != chart.APIVersionV2 {
		return c, read, fmt.Errorf("its apiVersion is %s, which Helm does not load: write v2", of)
	}
	return c, read, nil
}

// ignoredBy is what .helmignore of a chart leaves out.
func ignoredBy(files *tree.Files, dir string) gitignore.Matcher {
	var patterns []gitignore.Pattern
	text, err := files.Read(path.Join(dir, ".helmignore"))
	if err == nil {
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				patterns = append(patterns, gitignore.ParsePattern(line, nil))
			}
		}
	}
	return gitignore.NewMatcher(patterns)
}

// Installable says why Helm does not release a chart under a name on a release of Kubernetes, such as 1.35;
// without one, that is not looked at. Source: checkIfInstallable and renderResources in pkg/action/install.go,
// and ValidateReleaseName in pkg/chartutil/validate_name.go of helm.sh/helm/v3.
func Installable(c *chart.Chart, name, kubernetes string) error {
	if kind := c.Metadata.Type; kind != "" && kind != "application" {
		return fmt.Errorf("the chart is of the type %s, which cannot be released", kind)
	}
	if err := chartutil.ValidateReleaseName(name); err != nil {
		return fmt.Errorf("%q is no name of a release: it takes lower case letters, digits, - and ., 53 at most", name)
	}
	wanted := c.Metadata.KubeVersion
	if wanted == "" || kubernetes == "" {
		return nil
	}
	if !chartutil.IsCompatibleRange(wanted, "v"+kubernetes+".0") {
		return fmt.Errorf("the chart takes Kubernetes %s, and the cluster has %s", wanted, kubernetes)
	}
	return nil
}

// Parameter is a value that is set by its path, as with helm --set.
type Parameter struct {
	Name        string `json:"name"`
	Value       string `json:"value"`
	ForceString bool   `json:"forceString"`
}

// Set puts parameters into values.
func Set(values map[string]any, parameters []Parameter) error {
	for _, p := range parameters {
		parse := strvals.ParseInto
		if p.ForceString {
			parse = strvals.ParseIntoString
		}
		if err := parse(p.Name+"="+strings.ReplaceAll(p.Value, ",", `\,`), values); err != nil {
			return fmt.Errorf("parameter %s: %w", p.Name, err)
		}
	}
	return nil
}

// Overlay returns values with those of a text over them.
func Overlay(below map[string]any, text string) (map[string]any, error) {
	above := map[string]any{}
	err := yaml.Unmarshal([]byte(text), &above)
	var other *json.UnmarshalTypeError
	if errors.As(err, &other) {
		return nil, fmt.Errorf("it is %s, and has to be a mapping", definition.Word(other.Value))
	}
	if err != nil {
		return nil, fmt.Errorf("reading Helm values: %w", err)
	}
	return chartutil.CoalesceTables(above, below), nil
}

// Render returns the objects that a chart becomes as a release of a name in a
// namespace. Strictly, a value that is not there is an error.
func Render(c *chart.Chart, name, namespace string, values map[string]any, strict bool) ([]string, error) {
	if err := chartutil.ProcessDependenciesWithMerge(c, values); err != nil {
		return nil, err
	}
	release := chartutil.ReleaseOptions{Name: name, Namespace: namespace, IsInstall: true, Revision: 1}
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
			out = append(out, manifest.Split([]byte(made[name]))...)
		}
	}
	return out, nil
}

// missingValue is how Helm's engine names a value that is not there. What it is
// missing in is cut off after twenty characters.
var missingValue = regexp.MustCompile(`([^\s:(]+):(\d+):\d+: executing "[^"]*" at <[^>]*>: map has no entry for key ("(?:[^"\\]|\\.)*")$`)

// MissingValue is the key that strict rendering did not find, and the template
// and line that use it, if that is what an error says.
func MissingValue(err error) (key, template string, line int, ok bool) {
	m := missingValue.FindStringSubmatch(fmt.Sprint(err))
	if m == nil {
		return "", "", 0, false
	}
	key, failed := strconv.Unquote(m[3])
	line, _ = strconv.Atoi(m[2]) // digits
	return key, m[1], line, failed == nil
}

// templatePlace is where Helm's engine says that a template is wrong.
var templatePlace = regexp.MustCompile(`\(?([^\s:(]+\.(?:yaml|yml|tpl|txt)):(\d+)(?::\d+)?\)?: ?`)

// Cause is the end of an error's chain in one line. If the error names templates
// that isTemplate knows, it is what is said of the innermost, at a line of it.
func Cause(err error, isTemplate func(name string) bool) (cause, template string, line int) {
	text := err.Error()
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	cause = strings.Join(strings.Fields(err.Error()), " ")
	for _, m := range templatePlace.FindAllStringSubmatchIndex(text, -1) {
		name := text[m[2]:m[3]]
		if n, err := strconv.Atoi(text[m[4]:m[5]]); err == nil && isTemplate(name) {
			cause, template, line = strings.TrimSpace(text[m[1]:]), name, n
		}
	}
	return cause, template, line
}

// OfSchema says whether Helm has refused values by a schema of a chart.
func OfSchema(err error) bool {
	return strings.Contains(err.Error(), "values don't meet the specifications of the schema")
}

var metadataKey = regexp.MustCompile(`chart\.metadata\.(\w+)`)

// MetadataKey is the key of Chart.yaml that an error is about.
func MetadataKey(err error) []string {
	if m := metadataKey.FindStringSubmatch(err.Error()); m != nil {
		return m[1:]
	}
	return nil
}
