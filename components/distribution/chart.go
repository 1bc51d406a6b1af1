package distribution

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/releaseutil"
)

// isChart says that the content is a packed Helm chart and no manifest: it
// begins as gzip does.
func isChart(content []byte) bool { return bytes.HasPrefix(content, []byte{0x1f, 0x8b}) }

// render makes a manifest of a packed chart, as `helm template --include-crds`
// does. So a chart is checked against its sum, and handed over object by
// object, as a manifest is; no release of Helm's stands between.
func (p Product) render(archive []byte, d Source) ([]byte, error) {
	c, err := loader.LoadArchive(bytes.NewReader(archive))
	if err != nil {
		return nil, fmt.Errorf("the %s distribution is no Helm chart: %w", p.Name, err)
	}
	manifest, err := p.template(c, d)
	if err != nil {
		return nil, fmt.Errorf("render chart %s %s as the %s distribution: %w", c.Name(), c.Metadata.Version, p.Name, err)
	}
	return manifest, nil
}

func (p Product) template(c *chart.Chart, d Source) ([]byte, error) {
	if missing := len(c.Metadata.Dependencies) - len(c.Dependencies()); missing > 0 {
		return nil, fmt.Errorf("it was packed without %d of the charts that it depends on; pack it after `helm dependency build`", missing)
	}
	first, err := p.templateOnce(c, d)
	if err != nil {
		return nil, err
	}
	// What differs from time to time would be applied anew by each up.
	again, err := p.templateOnce(c, d)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(first, again) {
		return nil, errors.New("it comes out different each time: a template makes a random value; give that value in gitops.distribution.values")
	}
	return first, nil
}

func (p Product) templateOnce(c *chart.Chart, d Source) ([]byte, error) {
	capabilities, err := capabilitiesOf(d.KubernetesVersion)
	if err != nil {
		return nil, err
	}
	if v := c.Metadata.KubeVersion; v != "" && !chartutil.IsCompatibleRange(v, capabilities.KubeVersion.Version) {
		return nil, fmt.Errorf("it needs Kubernetes %s, but the cluster has %s", v, capabilities.KubeVersion.Version)
	}
	if err := chartutil.ProcessDependenciesWithMerge(c, d.Values); err != nil {
		return nil, err
	}
	values, err := chartutil.ToRenderValues(c, d.Values,
		chartutil.ReleaseOptions{Name: p.Release, Namespace: p.Namespace, IsInstall: true, Revision: 1}, capabilities)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(c, values)
	if err != nil {
		return nil, err
	}
	return documents(c, files, capabilities)
}

func capabilitiesOf(kubernetes string) (*chartutil.Capabilities, error) {
	capabilities := chartutil.DefaultCapabilities.Copy()
	if kubernetes == "" {
		return capabilities, nil
	}
	version, err := chartutil.ParseKubeVersion(kubernetes)
	if err != nil {
		return nil, fmt.Errorf("read Kubernetes version %s: %w", kubernetes, err)
	}
	capabilities.KubeVersion = *version
	return capabilities, nil
}

// documents are the chart's definitions and what its templates made, in the
// order in which Helm installs.
func documents(c *chart.Chart, files map[string]string, capabilities *chartutil.Capabilities) ([]byte, error) {
	for name := range files {
		if strings.HasSuffix(name, "NOTES.txt") {
			delete(files, name)
		}
	}
	hooks, manifests, err := releaseutil.SortManifests(files, capabilities.APIVersions, releaseutil.InstallOrder)
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, definition := range c.CRDObjects() {
		texts = append(texts, string(definition.File.Data))
	}
	for _, hook := range hooks {
		if ofInstall(hook) {
			texts = append(texts, hook.Manifest)
		}
	}
	for _, manifest := range manifests {
		texts = append(texts, manifest.Content)
	}
	return []byte(strings.Join(texts, "\n---\n")), nil
}

// ofInstall says that a hook makes something that the rest needs. Tests, and
// what runs at an uninstall, are not part of a distribution.
func ofInstall(h *release.Hook) bool {
	return slices.Contains(h.Events, release.HookPreInstall) || slices.Contains(h.Events, release.HookPostInstall)
}
