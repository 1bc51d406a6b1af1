package aws

import (
	"fmt"
	"maps"
	"slices"

	"tombolo/automation/preflight"
	"tombolo/config"
	"tombolo/config/awsfacts"
	"tombolo/internal/wording"
)

// The names of the checks of what the cluster file names.
const (
	zonesCheck   = "zones"
	typesCheck   = "instance types"
	versionCheck = "Kubernetes version"
	keysCheck    = "KMS keys"
)

// judgeNamed compares what the cluster file names with what AWS has said of it.
func judgeNamed(f preflight.Facts, w preflight.Wanted) []preflight.Finding {
	var out []preflight.Finding
	if !w.Cluster.IsExisting() {
		out = slices.Concat(judgeZones(f, w), judgeSubnets(f, w), judgeVersion(f, w), judgeTypes(f, w))
	}
	return append(out, judgeKeys(f, w)...)
}

// usable are the zones that a cluster can be in: those that are open, and for a new one take a control plane.
func usable(f preflight.Facts, w preflight.Wanted) []string {
	var out []string
	for name, zone := range f.Zones {
		if zone.Open && (!w.New || !awsfacts.WithoutControlPlane(zone.ID)) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// judgeZones judges the zones of a network that core makes. A control plane that lives keeps its zones, and nodes may
// be in all.
func judgeZones(f preflight.Facts, w preflight.Wanted) []preflight.Finding {
	zones := namedZones(w.Cluster)
	if len(zones) == 0 {
		return nil
	}
	if f.ZonesErr != "" {
		return []preflight.Finding{preflight.Bad(zonesCheck, preflight.Warn, "allow ec2:DescribeAvailabilityZones to the credentials in use",
			"whether %s can be used cannot be told: %s", wording.And(w.Cluster.Network.Zones), f.ZonesErr)}
	}
	remedy := "use zones among " + wording.And(usable(f, w))
	var out []preflight.Finding
	for _, z := range zones {
		switch zone, known := f.Zones[z.value]; {
		case !known:
			out = append(out, preflight.BadKey(zonesCheck, z.path, preflight.Fail, remedy, "AWS has no zone %s in %s", z.value, w.Region))
		case !zone.Open:
			out = append(out, preflight.BadKey(zonesCheck, z.path, preflight.Fail, remedy,
				"%s is no availability zone that is open to account %s", z.value, w.Account))
		case w.New && awsfacts.WithoutControlPlane(zone.ID):
			out = append(out, preflight.BadKey(zonesCheck, z.path, preflight.Fail, remedy, "EKS takes no control plane in %s, which is %s in account %s", z.value, zone.ID, w.Account))
		}
	}
	if len(out) == 0 {
		out = append(out, preflight.Good(zonesCheck, "%s can be used", wording.And(w.Cluster.Network.Zones)))
	}
	return out
}

// judgeSubnets judges the subnets of others that a new control plane is to be in.
func judgeSubnets(f preflight.Facts, w preflight.Wanted) []preflight.Finding {
	subnets := controlPlaneSubnets(w.Cluster)
	if len(subnets) == 0 {
		return nil
	}
	var out []preflight.Finding
	for _, s := range subnets {
		switch subnet := f.Subnets[s.value]; {
		case subnet.Missing:
			out = append(out, preflight.BadKey(zonesCheck, s.path, preflight.Fail, "correct the id, or have its owner share it with account "+w.Account,
				"AWS has no subnet %s in %s for account %s", s.value, w.Region, w.Account))
		case subnet.Err != "":
			out = append(out, preflight.Bad(zonesCheck, preflight.Warn, "allow ec2:DescribeSubnets to the credentials in use",
				"the zone of subnet %s cannot be told: %s", s.value, subnet.Err))
		case w.New && awsfacts.WithoutControlPlane(subnet.ZoneID):
			out = append(out, preflight.BadKey(zonesCheck, s.path, preflight.Fail, subnetsRemedy(f, w),
				"EKS takes no control plane in subnet %s: its zone %s is %s in account %s", s.value, subnet.Zone, subnet.ZoneID, w.Account))
		}
	}
	if len(out) == 0 {
		out = append(out, preflight.Good(zonesCheck, "%s for the control plane can be used", wording.Count(len(subnets), "subnet")))
	}
	return out
}

func subnetsRemedy(f preflight.Facts, w preflight.Wanted) string {
	where := "in other zones"
	if zones := usable(f, w); len(zones) > 0 {
		where = "in " + wording.And(zones)
	}
	return "give subnets " + where + ", by network.existing.controlPlaneSubnets where nodes are to stay there"
}

// judgeVersion judges the version of a new cluster.
func judgeVersion(f preflight.Facts, w preflight.Wanted) []preflight.Finding {
	switch {
	case !w.New || w.Version == "":
		return nil
	case f.VersionsErr != "":
		return []preflight.Finding{preflight.Bad(versionCheck, preflight.Warn, "allow eks:DescribeClusterVersions to the credentials in use",
			"whether EKS has %s in %s cannot be told: %s", w.Version, w.Region, f.VersionsErr)}
	case !slices.Contains(f.Versions, w.Version):
		return []preflight.Finding{preflight.BadKey(versionCheck, "kubernetes.version", preflight.Fail, "choose one of "+wording.Or(f.Versions),
			"EKS does not offer %s in %s", w.Version, w.Region)}
	}
	return []preflight.Finding{preflight.Good(versionCheck, "EKS offers %s in %s", w.Version, w.Region)}
}

// judgeTypes judges the instance types of node groups.
func judgeTypes(f preflight.Facts, w preflight.Wanted) []preflight.Finding {
	types := typesOf(w.Cluster)
	switch {
	case len(types) == 0:
		return nil
	case f.OfferedErr != "":
		return []preflight.Finding{preflight.Bad(typesCheck, preflight.Warn, "allow ec2:DescribeInstanceTypeOfferings to the credentials in use",
			"whether AWS offers %s in %s cannot be told: %s", wording.And(types), w.Region, f.OfferedErr)}
	}
	var out []preflight.Finding
	for i, g := range w.Cluster.Kubernetes.NodeGroups {
		out = append(out, judgeGroup(f, w, namedTypes(w.Cluster, i), groupZones(f, w.Cluster, g))...)
	}
	if len(out) == 0 {
		out = append(out, preflight.Good(typesCheck, "AWS offers %s in the zones of the nodes", wording.And(types)))
	}
	return out
}

// groupZones are the zones of a group's nodes, as far as they are known. One that is not there is refused for itself.
func groupZones(f preflight.Facts, c *config.Cluster, g config.NodeGroup) []string {
	all := g.Zones
	if len(all) == 0 && c.OwnsNetwork() {
		all = c.Network.Zones
	}
	if len(all) > 0 {
		return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return f.ZonesErr == "" && !f.Zones[name].Open })
	}
	zones := map[string]bool{}
	for _, id := range groupSubnets(c, g) {
		if zone := f.Subnets[id].Zone; zone != "" {
			zones[zone] = true
		}
	}
	return slices.Sorted(maps.Keys(zones))
}

// judgeGroup judges the types of a group whose nodes are in these zones. EC2 refuses to start a type in a zone that
// does not have it, and EKS waits for the first nodes; where another zone or type of the group has some, they come.
func judgeGroup(f preflight.Facts, w preflight.Wanted, types []named, zones []string) []preflight.Finding {
	var out []preflight.Finding
	for _, t := range types {
		offered := f.Offered[t.value]
		lacking := slices.DeleteFunc(slices.Clone(zones), func(zone string) bool { return slices.Contains(offered, zone) })
		slices.Sort(offered)
		switch {
		case len(offered) == 0:
			out = append(out, preflight.BadKey(typesCheck, t.path, preflight.Fail, "choose another instance type", "AWS does not offer %s in %s", t.value, w.Region))
		case len(lacking) > 0:
			level, remedy := preflight.Warn, fmt.Sprintf("choose another instance type, or keep the group's zones to %s", wording.Or(offered))
			if len(lacking) == len(zones) && len(types) == 1 {
				level = preflight.Fail
			}
			out = append(out, preflight.BadKey(typesCheck, t.path, level, remedy, "AWS does not offer %s in %s, where the group has nodes", t.value, wording.Or(lacking)))
		}
	}
	return out
}

// judgeKeys judges the keys: all of them encrypt, so they are symmetric ones that can be used. Sources:
// https://docs.aws.amazon.com/kms/latest/developerguide/key-state.html and
// https://docs.aws.amazon.com/eks/latest/userguide/enable-kms.html
func judgeKeys(f preflight.Facts, w preflight.Wanted) []preflight.Finding {
	keys := namedKeys(w.Cluster)
	if len(keys) == 0 {
		return nil
	}
	var out []preflight.Finding
	for _, k := range keys {
		switch key := f.Keys[k.value]; {
		case key.Missing:
			out = append(out, preflight.BadKey(keysCheck, k.path, preflight.Fail, "correct the ARN", "KMS has no key %s in %s", k.value, w.Region))
		case key.Err != "":
			out = append(out, preflight.Bad(keysCheck, preflight.Warn, "allow kms:DescribeKey on it to the credentials in use",
				"whether the key %s can be used cannot be told: %s", k.value, key.Err))
		case key.State != "Enabled":
			out = append(out, preflight.BadKey(keysCheck, k.path, preflight.Fail, "have its owner enable it, or cancel its deletion, or give another one",
				"the key %s cannot be used: its state is %s", k.value, key.State))
		case key.Spec != "SYMMETRIC_DEFAULT" || key.Usage != "ENCRYPT_DECRYPT":
			out = append(out, preflight.BadKey(keysCheck, k.path, preflight.Fail, "give a symmetric key for encryption",
				"the key %s is %s for %s", k.value, key.Spec, key.Usage))
		}
	}
	if len(out) == 0 {
		out = append(out, preflight.Good(keysCheck, "%s can be used", wording.Count(len(keys), "key")))
	}
	return out
}
