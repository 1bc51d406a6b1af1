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

// CheckNodePools checks the node pools. The first with mode: system is the pool that AKS makes
// the cluster with.
func CheckNodePools(v *File, groups []NodeGroup) {
	list := strict.Path("kubernetes.nodeGroups")
	Unique(v, list, "name", groups, func(g NodeGroup) string { return g.Name }, "give each node group its own name")
	system := func(g NodeGroup) bool { return g.Mode == SystemPool }
	if v.Doc.Has(list) && v.Doc.Sound(list) && !slices.ContainsFunc(groups, system) && soundModes(v, groups) {
		v.Problem(list, "add mode: system to one of them", "has no group with mode: system, which AKS needs for the pods of kube-system")
	}
	for i, g := range groups {
		at := list.Index(i)
		checkSize(v, at.Field("size"), g.Size)
		checkPoolSize(v, at.Field("size"), g)
		checkPoolZones(v, at.Field("zones"), g.Zones)
		if g.Mode == SystemPool {
			checkSystemPool(v, at, g)
		}
		if g.Capacity == Spot && v.Doc.Has(at.Field("update").Field("maxSurge")) {
			v.Problem(at.Field("update").Field("maxSurge"), "remove it", "has no effect with capacity: spot: AKS adds no nodes while it rolls these")
		}
		v.Labels(at.Field("labels"), g.Labels)
		for _, key := range slices.Sorted(maps.Keys(g.Labels)) {
			checkNotReserved(v, at.Field("labels").Key(key), key)
		}
		checkNodeTaints(v, at.Field("taints"), g.Taints)
	}
}

func soundModes(v *File, groups []NodeGroup) bool {
	for i := range groups {
		if !v.Doc.Sound(strict.Path("kubernetes.nodeGroups").Index(i).Field("mode")) {
			return false
		}
	}
	return true
}

func checkPoolSize(v *File, at strict.Path, g NodeGroup) {
	if *g.Size.Max > azurefacts.MaxPoolNodes {
		v.Problem(at.Field("max"), fmt.Sprintf("use %d at most, and more node groups", azurefacts.MaxPoolNodes),
			"is %d, and a pool of AKS has at most %d nodes", *g.Size.Max, azurefacts.MaxPoolNodes)
	}
}

// checkPoolZones refuses zones where the region has none.
func checkPoolZones(v *File, at strict.Path, zones []string) {
	Unique(v, at, "", zones, Itself, "give each zone once")
	if region := v.Region; len(zones) > 0 && v.Doc.Sound("cloud.region", at) && !azurefacts.HasZones(region) {
		v.Problem(at, "remove it, or use a region with zones", "the region %s has no availability zones", region)
	}
}

// checkSystemPool checks what AKS asks of the pools for its own pods. Source: "System and user
// node pools" in https://learn.microsoft.com/azure/aks/use-system-pools
func checkSystemPool(v *File, at strict.Path, g NodeGroup) {
	size := at.Field("size").Field("min")
	switch {
	case !v.Doc.Sound(size):
	case *g.Size.Min < 1:
		v.Problem(size, "use 1 or more; 2 keep the cluster's DNS up while a node is replaced", "is 0, and a group with mode: system always has a node")
	case *g.Size.Min*g.MaxPods < azurefacts.MinSystemPods && v.Doc.Sound(at.Field("maxPods")):
		v.Problem(at.Field("maxPods"), fmt.Sprintf("use %d or more, or a larger size.min", azurefacts.MinSystemPods),
			"leaves room for %s on %s, and AKS needs %d with mode: system",
			wording.Count(*g.Size.Min*g.MaxPods, "pod"), wording.Count(*g.Size.Min, "node"), azurefacts.MinSystemPods)
	}
	if g.Capacity == Spot {
		v.Problem(at.Field("capacity"), "use on-demand, or mode: user", "spot does not go with mode: system: Azure takes the nodes back at any time")
	}
	if burstable.MatchString(g.VMSize) {
		v.Problem(at.Field("vmSize"), "use a size of another series, such as Standard_D4s_v5", "%s is of the series B, which AKS takes for no group with mode: system", g.VMSize)
	}
}

// checkNodeTaints checks the taints of a pool.
func checkNodeTaints(v *File, list strict.Path, taints []Taint) {
	checkRepeatedTaints(v, list, taints)
	for i, t := range taints {
		at := list.Index(i)
		if !v.Doc.Sound(at.Field("key")) {
			continue
		}
		checkTaintKey(v, at.Field("key"), t.Key)
		v.LabelValue(at.Field("value"), "a taint", t.Value)
	}
}

// checkAzureIdentity checks the identity of a service.
func checkAzureIdentity(v *File, service strict.Path, s Service) {
	at := service.Field("identity").Field("roles")
	v.Fits(service.Field("name"), "the service's identity", ServiceIdentityName(v.Name, s.Name), azurefacts.MaxIdentityName)
	if slices.Contains([]string{"control-plane", "kubelet"}, s.Name) || strings.HasPrefix(s.Name, addonIdentities) {
		v.Problem(service.Field("name"), "use another name", "%s would be an identity of the cluster's own", wording.Quote(ServiceIdentityName(v.Name, s.Name)))
	}
	grant := func(g RoleGrant) string { return g.Role + " on " + g.Scope }
	Repeated(s.Identity.Roles, grant, func(i, first int) {
		v.Problem(at.Index(i), "give each role once", "%s is already given at line %d", grant(s.Identity.Roles[i]), v.Line(at.Index(first)))
	})
	for i, g := range s.Identity.Roles {
		checkRoleGrant(v, at.Index(i), g)
	}
}

// ServiceIdentityName is the name of the identity in Azure of a service with an identity.
func ServiceIdentityName(cluster, service string) string { return cluster + "-" + service }

// checkRoleGrant refuses roles that are not known, that give roles, and whole subscriptions.
func checkRoleGrant(v *File, at strict.Path, g RoleGrant) {
	role := at.Field("role")
	id := form.RoleID.FindStringSubmatch(g.Role)
	definition := g.Role
	if id != nil {
		definition = id[2]
	}
	_, known := azurefacts.RoleID(g.Role)
	switch name := azurefacts.GivesRoles(definition); {
	case !v.Doc.Sound(role):
	case name != "":
		v.Problem(role, "give the roles that the service needs, such as "+azurefacts.KeyVaultSecretsUser,
			"%s lets a pod give itself every other role", name)
	case id == nil && !known:
		v.Problem(role, checkNearestRole(v, g.Role), "%s is not a role that Tombolo knows", wording.Quote(g.Role))
	}
	scope := at.Field("scope")
	m := form.RoleScope.FindStringSubmatch(g.Scope)
	if m != nil && m[2] == "" && strings.TrimSpace(g.Reason) == "" {
		v.Problem(scope, "name a resource or a resource group, or say in reason why the whole subscription is needed",
			"%s is a whole subscription", wording.Quote(g.Scope))
	}
}

func checkNearestRole(v *File, name string) string {
	if near := wording.Nearest(name, azurefacts.Roles()); near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return "use the id of its definition, which `az role definition list --name` prints, or one of " + strings.Join(azurefacts.Roles(), ", ")
}
