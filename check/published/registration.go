package published

import (
	"encoding/json"
	"maps"

	"tombolo/config"
	"tombolo/config/addon"
)

// inCluster is the address by which a hub's Argo CD knows its own cluster.
const inCluster = "https://kubernetes.default.svc"

// Registration is what generators of Argo CD read about a cluster.
type Registration struct {
	// Hub is the cluster whose Argo CD runs this one; itself, for a hub.
	Hub string
	// Version of the hub's Argo CD, such as v3.5.7; "" when no file says.
	Version string
	// Server is the address of the Kubernetes API, as the hub knows it.
	Server string
	// Labels of the registration.
	Labels map[string]string
	// Annotations of the registration; what only the cloud knows is an example.
	Annotations map[string]string
	// Addons are those that are turned on.
	Addons []Addon
}

// Addon is one that is turned on.
type Addon struct {
	Name string
	// HasValues says that bootstrap publishes Helm values for it.
	HasValues bool
}

// register returns the registration of a cluster with its hub. variables are
// examples of what the general ConfigMap holds.
func register(c, hub *config.Cluster, variables map[string]string) *Registration {
	r := &Registration{
		Hub: hub.Name, Version: hub.GitOps.Distribution.Version, Server: inCluster,
		Labels: c.RegistrationLabels(), Annotations: map[string]string{},
	}
	for _, a := range c.Addons.Enabled() {
		r.Addons = append(r.Addons, Addon{Name: a.Name, HasValues: a.HasValues()})
	}
	if c.IsSpoke() {
		r.Server = variables["cluster_endpoint"]
	}
	r.Labels["argocd.argoproj.io/secret-type"] = "cluster"
	examples := map[string]string{
		config.RepositoryAnnotation: hub.GitOps.URL,
		config.RevisionAnnotation:   hub.GitOps.Branch,
		config.ValuesAnnotation:     exampleValues(c, variables),
	}
	maps.Copy(examples, c.Annotations)
	maps.Copy(examples, variables)
	for _, key := range c.RegistrationAnnotationKeys() {
		r.Annotations[key] = examples[key]
	}
	return r
}

// exampleValues is what the annotation with all values could hold.
func exampleValues(c *config.Cluster, variables map[string]string) string {
	values := struct {
		Cluster map[string]string         `json:"cluster"`
		Addons  map[string]map[string]any `json:"addons"`
	}{variables, map[string]map[string]any{}}
	out := addon.Outputs{
		VPCID: values.Cluster["vpc_id"], PrivateSubnetIDs: []string{values.Cluster["private_subnet_ids"]},
		ClusterEndpoint: values.Cluster["cluster_endpoint"], ClusterSecurityGroupID: values.Cluster["cluster_security_group_id"],
		Certificate: values.Cluster["certificate_arn"], Made: map[string]string{},
	}
	for _, a := range c.Addons.Enabled() {
		values.Addons[a.Name] = map[string]any{}
		if a.HasValues() {
			values.Addons[a.Name] = a.Values(c.AddonFacts(), a.Options, out)
		}
	}
	text, err := json.Marshal(values)
	if err != nil {
		panic(err) // the catalogue's values are JSON
	}
	return string(text)
}

// Repository is the URL of the platform tree.
func (r *Registration) Repository() string { return r.Annotations[config.RepositoryAnnotation] }

// Part is the registration's "labels" or "annotations".
func (r *Registration) Part(name string) map[string]string {
	if name == "annotations" {
		return r.Annotations
	}
	return r.Labels
}
