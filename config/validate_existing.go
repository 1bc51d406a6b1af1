package config

import (
	"reflect"
	"slices"

	"tombolo/config/strict"
)

// besideExisting are the keys of kubernetes that go with existing: they add to the cluster,
// and change nothing that is there.
var besideExisting = []string{"existing", "admins", "previewers", "access"}

// existingCluster checks the keys of a cluster that others own, and refuses those that
// would make or change something of it.
func (v *validator) existingCluster(k Kubernetes) {
	for _, f := range v.c.format().Fields(reflect.TypeFor[Kubernetes]()) {
		at := strict.Path("kubernetes").Field(f.Name)
		if v.doc.Has(at) && !slices.Contains(besideExisting, f.Name) {
			v.problem(at, "remove "+f.Name+", or existing",
				"does not go with existing: Tombolo makes and changes nothing of a cluster that others own")
		}
	}
	if !v.c.onAzure() {
		v.withoutProvider("kubernetes.identityProvider", "remove it: on a cluster that others own, the file cannot say who their provider is")
		v.entries(k)
		return
	}
	v.azureSignIn()
	v.groups(k, false)
	if admins := strict.Path("kubernetes.admins"); v.doc.Has(admins) {
		v.problem(admins, "remove it: its owner names its groups of admins, and bindings in the platform tree can name more",
			"does not go with existing on Azure: the groups of admins are a setting of the cluster itself")
	}
}

// networkOfExisting refuses a network that core would make for a cluster that has one.
func (v *validator) networkOfExisting(n Network) {
	for _, f := range v.c.format().Fields(reflect.TypeFor[Network]()) {
		at := strict.Path("network").Field(f.Name)
		if v.doc.Has(at) && f.Name != "existing" {
			v.problem(at, "remove "+f.Name+": core reads VPC and subnets from the cluster, or from network.existing",
				"does not go with kubernetes.existing: the cluster has a network")
		}
	}
	if v.doc.Has("network.existing") {
		v.existingSubnets(n)
	}
}

// requiredKeys reports the keys that only an existing cluster may do without.
func (v *validator) requiredKeys(parent strict.Path, of reflect.Type, keys ...string) {
	for _, f := range v.c.format().Fields(of) {
		if slices.Contains(keys, f.Name) {
			v.c.format().Require(v.doc, parent, f)
		}
	}
}
