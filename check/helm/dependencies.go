package helm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"

	"tombolo/check/tree"
)

// missing are the dependencies whose charts a chart does not hold.
func missing(c *chart.Chart) []*chart.Dependency {
	return slices.DeleteFunc(slices.Clone(c.Metadata.Dependencies), func(d *chart.Dependency) bool {
		return slices.ContainsFunc(c.Dependencies(), func(held *chart.Chart) bool { return held.Name() == d.Name })
	})
}

// Complete adds the charts of the tree that a chart depends on by file:// and does not hold, and returns the
// names of those that an engine fetches.
func Complete(c *chart.Chart, files *tree.Files, dir string) (fetched []string, err error) {
	for _, d := range missing(c) {
		below, local := strings.CutPrefix(d.Repository, "file://")
		switch { // a chart may be there twice, by aliases
		case !local && !slices.Contains(fetched, d.Name):
			fetched = append(fetched, d.Name)
			continue
		case !local, slices.ContainsFunc(c.Dependencies(), func(held *chart.Chart) bool { return held.Name() == d.Name }):
			continue
		}
		loaded, _, err := Load(files, tree.Relative(path.Join(dir, below)))
		if err != nil {
			return nil, fmt.Errorf("its dependency %s, in %s: %w", d.Name, d.Repository, err)
		}
		c.AddDependency(loaded)
	}
	return fetched, nil
}

// Buildable says why "helm dependency build" fails for a chart as it is, which Argo CD runs when a dependency is not in
// the chart. Source: Build and downloadAll in pkg/downloader/manager.go, and HashReq in
// internal/resolver/resolver.go of helm.sh/helm/v3.
func Buildable(c *chart.Chart) error {
	left := missing(c)
	if len(left) == 0 || c.Metadata.APIVersion != chart.APIVersionV2 {
		return nil
	}
	if c.Lock != nil {
		text, err := json.Marshal([2][]*chart.Dependency{c.Metadata.Dependencies, c.Lock.Dependencies})
		if err != nil {
			return err
		}
		if sum := sha256.Sum256(text); c.Lock.Digest != "sha256:"+hex.EncodeToString(sum[:]) {
			return errors.New("the file Chart.lock is not of these dependencies: run helm dependency update, and commit it")
		}
	}
	for _, d := range left {
		if d.Repository == "" {
			return fmt.Errorf("its dependency %s has no repository, and is not in charts: add one of them", d.Name)
		}
	}
	return nil
}

// Unused are the values of a chart without templates of its own that none of its charts reads: what
// such a chart has for a dependency is below the dependency's name, or its alias.
func Unused(c *chart.Chart, values map[string]any) []string {
	if len(c.Templates) > 0 || len(c.Metadata.Dependencies) == 0 {
		return nil
	}
	read := []string{"global", "tags"}
	for _, d := range c.Metadata.Dependencies {
		read = append(read, d.Name, d.Alias)
		for condition := range strings.SplitSeq(d.Condition, ",") {
			key, _, _ := strings.Cut(strings.TrimSpace(condition), ".")
			read = append(read, key)
		}
	}
	var unused []string
	for key := range values {
		if !slices.Contains(read, key) && !strings.HasPrefix(key, "x-") { // by which people mark anchors of YAML
			unused = append(unused, key)
		}
	}
	slices.Sort(unused)
	return unused
}
