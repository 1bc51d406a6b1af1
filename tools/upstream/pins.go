package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chartutil"
	"sigs.k8s.io/yaml"
)

// pin is a chart in the version that a tree pins.
type pin struct {
	Chart, Version, URL string
	// Values are the tree's, over those that the catalogue gives for its sample
	// options.
	Values map[string]any
}

// beside are charts whose objects the project writes, and which no tree pins.
// The operator's version is the newest that `export operator` is held against.
var beside = []pin{
	// Of kube-prometheus-stack 88.2.0: Chart.yaml, dependencies.
	{Chart: "grafana", Version: "12.10.4", URL: "https://grafana-community.github.io/helm-charts"},
	{Chart: "pulumi-kubernetes-operator", Version: "2.9.0", URL: "oci://ghcr.io/pulumi/helm-charts"},
}

// known are objects that are rendered differently each time, of which the Argo CD
// tree ignores the differences.
var known = map[string][]string{
	"aws-load-balancer-controller": {
		"MutatingWebhookConfiguration aws-load-balancer-webhook",
		"Secret aws-load-balancer-tls",
		"ValidatingWebhookConfiguration aws-load-balancer-webhook",
	},
	"grafana":               {"Deployment grafana", "Secret grafana"},
	"kube-prometheus-stack": {"Deployment kube-prometheus-stack-grafana", "Secret kube-prometheus-stack-grafana"},
}

// release is what is read of HelmRelease and HelmRepository.
type release struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct {
		URL   string
		Chart struct {
			Spec struct {
				Chart, Version string
				SourceRef      struct{ Name string }
			}
		}
		ValuesFrom []struct{ Name string }
		Values     map[string]any
	}
}

// samples are the values that the catalogue gives, as a golden test keeps them.
const samples = "config/addon/testdata/golden"

// pinned are the charts of the addons in the project's tree, each version once,
// by name.
func pinned(project fs.FS) ([]pin, error) {
	urls, releases, err := releasesOf(project)
	if err != nil {
		return nil, fmt.Errorf("read the tree's releases: %w", err)
	}
	all := slices.Clone(beside)
	for _, r := range releases {
		s := r.Spec.Chart.Spec
		values, err := r.values(project)
		if err != nil {
			return nil, err
		}
		all = append(all, pin{Chart: s.Chart, Version: s.Version, URL: urls[s.SourceRef.Name], Values: values})
	}
	slices.SortStableFunc(all, func(a, b pin) int {
		return cmp.Or(cmp.Compare(a.Chart, b.Chart), cmp.Compare(a.Version, b.Version))
	})
	return slices.CompactFunc(all, func(a, b pin) bool { return a.Chart == b.Chart && a.Version == b.Version }), nil
}

// values that the release's chart gets.
func (r release) values(project fs.FS) (map[string]any, error) {
	out := r.Spec.Values
	for _, from := range r.Spec.ValuesFrom {
		data, err := fs.ReadFile(project, path.Join(samples, strings.TrimSuffix(from.Name, "-values")+".yaml"))
		var sample struct{ Values map[string]any }
		if err == nil {
			err = yaml.Unmarshal(data, &sample)
		}
		if err != nil {
			return nil, fmt.Errorf("read the values that the catalogue gives: %w", err)
		}
		out = chartutil.MergeTables(out, sample.Values)
	}
	return out, nil
}

// releasesOf are the addons' chart repositories, by name, and releases.
func releasesOf(project fs.FS) (map[string]string, []release, error) {
	urls := map[string]string{}
	var releases []release
	err := fs.WalkDir(project, "platform/flux/addons", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(file) != ".yaml" {
			return err
		}
		data, err := fs.ReadFile(project, file)
		if err != nil {
			return err
		}
		for _, text := range documents(string(data)) {
			var r release
			if yaml.Unmarshal([]byte(text), &r) != nil {
				continue // an object of another shape
			}
			switch r.Kind {
			case "HelmRepository":
				urls[r.Metadata.Name] = r.Spec.URL
			case "HelmRelease":
				releases = append(releases, r)
			}
		}
		return nil
	})
	return urls, releases, err
}
