package config

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"tombolo/config/addon"
	"tombolo/config/check"
	"tombolo/config/gitops"
	"tombolo/config/strict"
	"tombolo/internal/names"
	"tombolo/internal/wording"
)

// What a cluster's registration with Argo CD carries, for the selectors and
// templates of generators. The values of annotations are known only once core
// has made the cluster; their names, and all labels, are the file's.
const (
	// EnvironmentLabel and WaveLabel hold the file's environment and wave.
	EnvironmentLabel = "environment"
	WaveLabel        = "wave"
	// AddonLabelPrefix before an addon's name is the label of clusters that
	// turn it on.
	AddonLabelPrefix = "addon-"
	// AddonLabelOn is that label's value.
	AddonLabelOn = addon.LabelOn
	// ValuesAnnotation holds a JSON object: cluster has the keys of the general
	// ConfigMap, addons the Helm values of each addon that is on, by its name;
	// {} for one that has none.
	ValuesAnnotation = "tombolo/values"
	// RepositoryAnnotation and RevisionAnnotation hold the URL and the branch of
	// the platform tree, from the hub's gitops, so that templates need not name
	// them.
	RepositoryAnnotation = "tombolo/repository"
	RevisionAnnotation   = "tombolo/revision"
)

// RegistrationLabels are the labels of the cluster's registration: the file's,
// then environment, wave, name and addons, which take precedence.
func (c *Cluster) RegistrationLabels() map[string]string {
	labels := map[string]string{}
	maps.Copy(labels, c.Labels)
	labels[EnvironmentLabel] = c.Environment
	labels[WaveLabel] = strconv.Itoa(c.Wave)
	labels[names.ClusterLabel] = c.Name
	for name := range c.Addons {
		labels[AddonLabelPrefix+name] = AddonLabelOn
	}
	return labels
}

// RegistrationAnnotationKeys are the names of the annotations of the cluster's
// registration, sorted: the file's annotations, every key of the general
// ConfigMap, and the three above. What repository a hub that others run follows, no file
// says: the last two are missing there.
func (c *Cluster) RegistrationAnnotationKeys() []string {
	keys := append(names.InfraKeyNames(string(c.Cloud.Provider)), ValuesAnnotation)
	if !c.HasExternalHub() {
		keys = append(keys, RepositoryAnnotation, RevisionAnnotation)
	}
	keys = slices.AppendSeq(keys, maps.Keys(c.Annotations))
	keys = slices.AppendSeq(keys, maps.Keys(c.Values))
	for _, a := range c.Addons.Enabled() {
		for _, key := range a.Keys() {
			keys = append(keys, key.Name)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// checkRegistrationLabels finds labels that Tombolo sets on the registration.
func checkRegistrationLabels(v *check.File, c *Cluster) {
	own := c.RegistrationLabels()
	for _, key := range slices.Sorted(maps.Keys(c.Labels)) {
		at := strict.Path("labels").Key(key)
		switch {
		case key == gitops.SecretTypeLabel:
			v.KeyProblem(at, "remove it", "is set by Tombolo, for Argo CD")
		case strings.HasPrefix(key, "tombolo/"), strings.HasPrefix(key, AddonLabelPrefix):
			v.KeyProblem(at, "use another prefix", "is a label that Tombolo sets on the cluster's registration")
		case own[key] != c.Labels[key]:
			v.KeyProblem(at, "remove it, or use another key", "is %s on the cluster's registration: the value of the key %s of this file", wording.Quote(own[key]), key)
		}
	}
}

// checkRegistrationAnnotations finds annotations that Tombolo sets on the registration.
func checkRegistrationAnnotations(v *check.File, c *Cluster) {
	bare := *c
	bare.Annotations = nil
	own := bare.RegistrationAnnotationKeys()
	for _, key := range slices.Sorted(maps.Keys(c.Annotations)) {
		if slices.Contains(own, key) || strings.HasPrefix(key, "tombolo/") {
			v.KeyProblem(strict.Path("annotations").Key(key), "use another key", "is an annotation that Tombolo sets on the cluster's registration")
		}
	}
}
