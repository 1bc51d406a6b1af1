package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"tombolo/config/azurefacts"
	"tombolo/config/form"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// burstable are sizes that AKS takes for no system pool. Source: "Limitations" in
// https://learn.microsoft.com/azure/aks/use-system-pools
var burstable = regexp.MustCompile(`^Standard_B[0-9]`)

// nodePools checks the node pools. The first with mode: system is the pool that AKS makes
// the cluster with.
func (v *validator) nodePools(groups []NodeGroup) {
	list := strict.Path("kubernetes.nodeGroups")
	unique(v, list, "name", groups, func(g NodeGroup) string { return g.Name }, "give each node group its own name")
	system := func(g NodeGroup) bool { return g.Mode == SystemPool }
	if v.doc.Has(list) && v.doc.Sound(list) && !slices.ContainsFunc(groups, system) && v.soundModes() {
		v.problem(list, "add mode: system to one of them", "has no group with mode: system, which AKS needs for the pods of kube-system")
	}
	for i, g := range groups {
		at := list.Index(i)
		v.size(at.Field("size"), g.Size)
		v.poolSize(at.Field("size"), g)
		v.poolZones(at.Field("zones"), g.Zones)
		if g.Mode == SystemPool {
			v.systemPool(at, g)
		}
		if g.Capacity == Spot && v.doc.Has(at.Field("update").Field("maxSurge")) {
			v.problem(at.Field("update").Field("maxSurge"), "remove it", "has no effect with capacity: spot: AKS adds no nodes while it rolls these")
		}
		v.labels(at.Field("labels"), g.Labels)
		for _, key := range slices.Sorted(maps.Keys(g.Labels)) {
			v.notReserved(at.Field("labels").Key(key), key)
		}
		v.nodeTaints(at.Field("taints"), g.Taints)
	}
}

func (v *validator) soundModes() bool {
	for i := range v.c.Kubernetes.NodeGroups {
		if !v.doc.Sound(strict.Path("kubernetes.nodeGroups").Index(i).Field("mode")) {
			return false
		}
	}
	return true
}

func (v *validator) poolSize(at strict.Path, g NodeGroup) {
	if *g.Size.Max > azurefacts.MaxPoolNodes {
		v.problem(at.Field("max"), fmt.Sprintf("use %d at most, and more node groups", azurefacts.MaxPoolNodes),
			"is %d, and a pool of AKS has at most %d nodes", *g.Size.Max, azurefacts.MaxPoolNodes)
	}
}

// poolZones refuses zones where the region has none.
func (v *validator) poolZones(at strict.Path, zones []string) {
	unique(v, at, "", zones, itself, "give each zone once")
	if region := v.c.Cloud.Region; len(zones) > 0 && v.doc.Sound("cloud.region", at) && !azurefacts.HasZones(region) {
		v.problem(at, "remove it, or use a region with zones", "the region %s has no availability zones", region)
	}
}

// systemPool checks what AKS asks of the pools for its own pods. Source: "System and user
// node pools" in https://learn.microsoft.com/azure/aks/use-system-pools
func (v *validator) systemPool(at strict.Path, g NodeGroup) {
	size := at.Field("size").Field("min")
	switch {
	case !v.doc.Sound(size):
	case *g.Size.Min < 1:
		v.problem(size, "use 1 or more; 2 keep the cluster's DNS up while a node is replaced", "is 0, and a group with mode: system always has a node")
	case *g.Size.Min*g.MaxPods < azurefacts.MinSystemPods && v.doc.Sound(at.Field("maxPods")):
		v.problem(at.Field("maxPods"), fmt.Sprintf("use %d or more, or a larger size.min", azurefacts.MinSystemPods),
			"leaves room for %s on %s, and AKS needs %d with mode: system",
			wording.Count(*g.Size.Min*g.MaxPods, "pod"), wording.Count(*g.Size.Min, "node"), azurefacts.MinSystemPods)
	}
	if g.Capacity == Spot {
		v.problem(at.Field("capacity"), "use on-demand, or mode: user", "spot does not go with mode: system: Azure takes the nodes back at any time")
	}
	if burstable.MatchString(g.VMSize) {
		v.problem(at.Field("vmSize"), "use a size of another series, such as Standard_D4s_v5", "%s is of the series B, which AKS takes for no group with mode: system", g.VMSize)
	}
}

// nodeTaints checks the taints of a pool.
func (v *validator) nodeTaints(list strict.Path, taints []Taint) {
	v.repeatedTaints(list, taints)
	for i, t := range taints {
		at := list.Index(i)
		if !v.doc.Sound(at.Field("key")) {
			continue
		}
		v.taintKey(at.Field("key"), t.Key)
		v.labelValue(at.Field("value"), "a taint", t.Value)
	}
}

// azureIdentity checks the identity of a service.
func (v *validator) azureIdentity(service strict.Path, s Service) {
	at := service.Field("identity").Field("roles")
	v.fits(service.Field("name"), growth{"the service's identity", ServiceIdentityName(v.c.Name, s.Name), azurefacts.MaxIdentityName})
	if slices.Contains([]string{"control-plane", "kubelet"}, s.Name) || strings.HasPrefix(s.Name, addonIdentities) {
		v.problem(service.Field("name"), "use another name", "%s would be an identity of the cluster's own", wording.Quote(ServiceIdentityName(v.c.Name, s.Name)))
	}
	grant := func(g RoleGrant) string { return g.Role + " on " + g.Scope }
	repeated(s.Identity.Roles, grant, func(i, first int) {
		v.problem(at.Index(i), "give each role once", "%s is already given at line %d", grant(s.Identity.Roles[i]), v.line(at.Index(first)))
	})
	for i, g := range s.Identity.Roles {
		v.roleGrant(at.Index(i), g)
	}
}

// ServiceIdentityName is the name of the identity in Azure of a service with an identity.
func ServiceIdentityName(cluster, service string) string { return cluster + "-" + service }

// roleGrant refuses roles that are not known, that give roles, and whole subscriptions.
func (v *validator) roleGrant(at strict.Path, g RoleGrant) {
	role := at.Field("role")
	id := form.RoleID.FindStringSubmatch(g.Role)
	definition := g.Role
	if id != nil {
		definition = id[2]
	}
	_, known := azurefacts.RoleID(g.Role)
	switch name := azurefacts.GivesRoles(definition); {
	case !v.doc.Sound(role):
	case name != "":
		v.problem(role, "give the roles that the service needs, such as "+azurefacts.KeyVaultSecretsUser,
			"%s lets a pod give itself every other role", name)
	case id == nil && !known:
		v.problem(role, v.nearestRole(g.Role), "%s is not a role that Tombolo knows", wording.Quote(g.Role))
	}
	scope := at.Field("scope")
	m := form.RoleScope.FindStringSubmatch(g.Scope)
	if m != nil && m[2] == "" && strings.TrimSpace(g.Reason) == "" {
		v.problem(scope, "name a resource or a resource group, or say in reason why the whole subscription is needed",
			"%s is a whole subscription", wording.Quote(g.Scope))
	}
}

func (v *validator) nearestRole(name string) string {
	if near := wording.Nearest(name, azurefacts.Roles()); near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return "use the id of its definition, which `az role definition list --name` prints, or one of " + strings.Join(azurefacts.Roles(), ", ")
}
