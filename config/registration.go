package config

import (
	"maps"
	"slices"
	"strconv"

	"tombolo/internal/names"
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
	AddonLabelOn = "on"
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
