package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"sigs.k8s.io/yaml"

	"tombolo/tools/upstream/facts"
)

// kubernetes is the version that charts are rendered for: the oldest that EKS
// supports without extra cost.
const kubernetes = "v1.34.0"

// read makes the facts of a chart from its directory or its archive. The version
// is the one that it is published as: some projects set it when they release.
func read(file string, p pin) (facts.Chart, error) {
	c, err := loader.Load(file)
	if err != nil {
		return facts.Chart{}, fmt.Errorf("read chart %s: %w", file, err)
	}
	out := facts.Chart{
		Name: c.Name(), Version: p.Version, AppVersion: c.AppVersion(), Digest: digest(c), Source: p.URL, Values: valuesOf(c),
		Definitions: map[string]facts.Fields{},
	}
	out.Generators = generators(c)
	for _, d := range c.Metadata.Dependencies {
		name := d.Name
		if d.Alias != "" {
			name = d.Alias
		}
		out.Dependencies = append(out.Dependencies, name)
	}
	slices.Sort(out.Dependencies)
	out.Dependencies = slices.Compact(out.Dependencies)

	manifests := crds(c)
	rendered, err := render(c, nil)
	if err != nil { // some require values
		rendered, err = render(c, p.Values)
	}
	if err != nil {
		out.Unrendered = firstLine(err.Error())
	}
	manifests = append(manifests, rendered...)
	for _, manifest := range manifests {
		if err := add(&out, manifest); err != nil {
			return facts.Chart{}, fmt.Errorf("chart %s: %w", file, err)
		}
	}
	out.ServiceAccounts, out.Images = unique(out.ServiceAccounts), unique(out.Images)
	if len(out.Definitions) == 0 { // cert-manager's come with a value that the trees set
		if rendered, err = render(c, p.Values); err == nil {
			defined(&out, rendered)
		}
	}
	return out, nil
}

// digest is the same for a directory and for the archive that is packed from it.
func digest(c *chart.Chart) string {
	sum := sha256.New()
	raw := slices.Clone(c.Raw)
	slices.SortFunc(raw, func(a, b *chart.File) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range raw {
		if f.Name == "Chart.yaml" || f.Name == "Chart.lock" || strings.HasPrefix(f.Name, "charts/") {
			continue
		}
		fmt.Fprintf(sum, "%s\x00%d\x00", f.Name, len(f.Data))
		sum.Write(f.Data)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

var (
	// reference is a value that a template names, with what it is given to.
	reference = regexp.MustCompile(`(toYaml |with )?\(?\$?\.Values((?:\.[A-Za-z0-9_]+)+)`)
	// generator is a template's function that may give something else each time.
	// lookup finds nothing where a chart is rendered without a cluster, as Argo CD
	// does: https://argo-cd.readthedocs.io/en/stable/user-guide/helm/#random-data
	generator = regexp.MustCompile(`\b(lookup|randAlphaNum|randAlpha|randAscii|randNumeric|randBytes|randInt|gen(?:CA|SelfSignedCert|SignedCert|PrivateKey)(?:WithKey)?|uuidv4|htpasswd|bcrypt|now|shuffle)\b`)
	action    = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	quoted    = regexp.MustCompile("(?s)/\\*.*?\\*/|\"[^\"]*\"|\\.[A-Za-z_.]+|`[^`]*`")
	// open are names of values whose keys are the user's.
	open = regexp.MustCompile(`(?i)(annotations|labels|selector|resources|tags|requests|limits|settings|attributes|headers)$`)
)

// passedOn are values that a chart writes into its software's configuration as
// they are, whatever their keys, although its defaults have some.
var passedOn = map[string][]string{
	"istiod": {"meshConfig"}, // templates/configmap.yaml merges it into the mesh's configuration
	// Its templates write it into each Deployment, which takes numbers and percentages.
	"linkerd-control-plane": {"deploymentStrategy"},
	"loki": {"loki/limits_config", "loki/rulerConfig", // values.yaml, loki.config writes all of them
		"loki/storage/bucketNames"}, // helpers read chunks, which has no default
}

// generators are the functions that may give something else each time, by the
// template that calls them.
func generators(c *chart.Chart) map[string][]string {
	out := map[string][]string{}
	for _, t := range c.Templates {
		var found []string
		for _, a := range action.FindAll(t.Data, -1) {
			for _, name := range generator.FindAll(quoted.ReplaceAll(a, nil), -1) {
				found = append(found, string(name))
			}
		}
		if len(found) > 0 {
			out[t.Name] = unique(found)
		}
	}
	return out
}

// valuesOf are the types of the chart's values: of its defaults, of its schema,
// and what its templates name besides.
func valuesOf(c *chart.Chart) map[string]string {
	out := map[string]string{}
	flatten(out, c.Values, "")
	var schema map[string]any
	if yaml.Unmarshal(c.Schema, &schema) == nil {
		fromSchema(out, schema, "")
	}
	for _, t := range c.Templates {
		for _, m := range reference.FindAllSubmatch(t.Data, -1) {
			named(out, strings.Split(strings.TrimPrefix(string(m[2]), "."), "."), string(m[1]))
		}
	}
	for _, path := range passedOn[c.Name()] {
		out[path] = facts.Map
	}
	for _, path := range slices.Collect(maps.Keys(out)) {
		if under(out, path) {
			delete(out, path)
		}
	}
	return out
}

// under says that a parent of the path takes any key.
func under(values map[string]string, path string) bool {
	for i, r := range path {
		if r == '/' && values[path[:i]] != facts.Object {
			return true
		}
	}
	return false
}

func flatten(out map[string]string, values map[string]any, at string) {
	for key, value := range values {
		path := strings.TrimPrefix(at+"/"+key, "/")
		inner, isMap := value.(map[string]any)
		out[path] = kindOf(value)
		if isMap && len(inner) > 0 && !open.MatchString(key) {
			out[path] = facts.Object
			flatten(out, inner, path)
		}
	}
}

// kindOf a default. One that is null or empty text may be anything: charts take
// numbers and lists there.
func kindOf(value any) string {
	switch value := value.(type) {
	case string:
		if value == "" {
			return facts.Any
		}
		return facts.String
	case bool:
		return facts.Boolean
	case float64:
		if value == float64(int64(value)) {
			return facts.Integer
		}
		return facts.Number
	case []any:
		return facts.List
	case map[string]any:
		return facts.Map
	}
	return facts.Any
}

// fromSchema adds the keys that a chart's schema names.
func fromSchema(out map[string]string, schema map[string]any, at string) {
	properties, _ := schema["properties"].(map[string]any)
	for key, property := range properties {
		path := strings.TrimPrefix(at+"/"+key, "/")
		p, _ := property.(map[string]any)
		if _, several := p["type"].([]any); several {
			out[path] = facts.Any
		}
		if out[path] == "" {
			out[path] = facts.Any
			if kind, ok := p["type"].(string); ok {
				out[path] = map[string]string{"object": facts.Object, "array": facts.List}[kind]
				if out[path] == "" {
					out[path] = kind
				}
				if inner, _ := p["properties"].(map[string]any); kind == "object" && len(inner) == 0 {
					out[path] = facts.Map
				}
			}
		}
		if out[path] == facts.Object {
			fromSchema(out, p, path)
		}
	}
}

// named adds a key that a template names.
func named(out map[string]string, keys []string, given string) {
	for i := range keys {
		path := strings.Join(keys[:i+1], "/")
		last := i == len(keys)-1
		switch {
		case out[path] == "" && last:
			out[path] = facts.Any
		case out[path] == "" || out[path] == facts.Map && !last && !open.MatchString(keys[i]):
			out[path] = facts.Object
		case last && given == "toYaml " && out[path] == facts.Object:
			out[path] = facts.Map // written as it is, whatever its keys
		}
		if out[path] != facts.Object {
			return
		}
	}
}

// crds are the definitions in the chart's crds folders.
func crds(c *chart.Chart) []string {
	var out []string
	for _, d := range c.CRDObjects() {
		out = append(out, string(d.File.Data))
	}
	return out
}

// render returns the chart's manifests, in the order of their files.
func render(c *chart.Chart, values map[string]any) ([]string, error) {
	capabilities := chartutil.DefaultCapabilities.Copy()
	version, err := chartutil.ParseKubeVersion(kubernetes)
	if err != nil {
		return nil, err
	}
	capabilities.KubeVersion = *version
	if err := chartutil.ProcessDependenciesWithMerge(c, values); err != nil {
		return nil, err
	}
	all, err := chartutil.ToRenderValues(c, values,
		chartutil.ReleaseOptions{Name: c.Name(), Namespace: "default", IsInstall: true, Revision: 1}, capabilities)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(c, all)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
			out = append(out, files[name])
		}
	}
	return out, nil
}

// renderedTwice says which objects a chart makes differently each time: random
// passwords and certificates, which Argo CD would apply anew.
func renderedTwice(file string, values map[string]any) ([]string, error) {
	var both [2][]string
	for i := range both {
		c, err := loader.Load(file)
		if err != nil {
			return nil, err
		}
		if both[i], err = render(c, values); err != nil {
			return nil, err
		}
	}
	if len(both[0]) != len(both[1]) {
		return nil, errors.New("the chart makes another number of files each time")
	}
	var differ []string
	for i, first := range both[0] {
		a, b := documents(first), documents(both[1][i])
		if len(a) != len(b) {
			return nil, errors.New("the chart makes another number of objects each time")
		}
		for k := range a {
			if bytes.Equal([]byte(a[k]), []byte(b[k])) {
				continue
			}
			var o object
			if err := yaml.Unmarshal([]byte(a[k]), &o); err != nil {
				return nil, err
			}
			differ = append(differ, o.Kind+" "+o.Metadata.Name)
		}
	}
	return differ, nil
}

var separator = regexp.MustCompile(`(?m)^---.*$`)

func documents(manifest string) []string { return separator.Split(manifest, -1) }

func unique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
