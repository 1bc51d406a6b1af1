package config

import (
	"reflect"
	"slices"

	"tombolo/config/strict"
)

// besideExisting are the keys of kubernetes that go with existing: they add to the cluster,
// and change nothing that is there.
var besideExisting = []string{"existing", "admins", "previewers", "access"}

// checkExistingCluster checks the keys of a cluster that others own, and refuses those that
// would make or change something of it.
func checkExistingCluster(v *File, k Kubernetes) {
	for _, f := range v.Format.Fields(reflect.TypeFor[Kubernetes]()) {
		at := strict.Path("kubernetes").Field(f.Name)
		if v.Doc.Has(at) && !slices.Contains(besideExisting, f.Name) {
			v.Problem(at, "remove "+f.Name+", or existing",
				"does not go with existing: Tombolo makes and changes nothing of a cluster that others own")
		}
	}
	if !v.OnAzure() {
		checkEntries(v, k)
		return
	}
	checkGroups(v, k, false)
	if admins := strict.Path("kubernetes.admins"); v.Doc.Has(admins) {
		v.Problem(admins, "remove it: its owner names its groups of admins, and bindings in the platform tree can name more",
			"does not go with existing on Azure: the groups of admins are a setting of the cluster itself")
	}
}

// checkNetworkOfExisting refuses a network that core would make for a cluster that has one.
func checkNetworkOfExisting(v *File, n Network) {
	for _, f := range v.Format.Fields(reflect.TypeFor[Network]()) {
		at := strict.Path("network").Field(f.Name)
		if v.Doc.Has(at) && f.Name != "existing" {
			v.Problem(at, "remove "+f.Name+": core reads VPC and subnets from the cluster, or from network.existing",
				"does not go with kubernetes.existing: the cluster has a network")
		}
	}
	if v.Doc.Has("network.existing") {
		checkExistingSubnets(v, n)
	}
}

// Require reports the keys that only an existing cluster may do without.
func (v *File) Require(parent strict.Path, of reflect.Type, keys ...string) {
	for _, f := range v.Format.Fields(of) {
		if slices.Contains(keys, f.Name) {
			v.Format.Require(v.Doc, parent, f)
		}
	}
}
