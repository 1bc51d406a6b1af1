package azure

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/cloud/azure/arm"
	"tombolo/automation/teardown"
	"tombolo/config"
	"tombolo/internal/armid"
	"tombolo/internal/names"
	"tombolo/stacks/owner"
)

// ControlPlane is the AKS cluster of core.
func (Cloud) ControlPlane(core []apitype.ResourceV3) owner.ControlPlane {
	for _, r := range core {
		if plain(string(r.Type)) != plain(clusterType) || r.Delete || r.External {
			continue
		}
		profile, _ := r.Outputs["oidcIssuerProfile"].(map[string]any)
		issuer, _ := profile["issuerURL"].(string)
		return owner.ControlPlane{ID: string(r.ID), Issuer: issuer}
	}
	return owner.ControlPlane{}
}

// Find looks for the owner's tag, into the resource groups of core and of AKS, and for the
// roles of the cluster's identities. What Azure lists may be a while old: what the search
// would report is read, and what is gone is left out.
func (a Cloud) Find(ctx context.Context, c *config.Cluster, q teardown.Search) ([]teardown.Leftover, error) {
	var found []teardown.Leftover
	err := a.look(ctx, "look for leftovers of", c, func(client arm.Client) (err error) {
		found, err = find(ctx, client, c, q)
		return err
	})
	return found, err
}

func find(ctx context.Context, client arm.Client, c *config.Cluster, q teardown.Search) ([]teardown.Leftover, error) {
	s := &searching{Search: q, ctx: ctx, client: client, cluster: c, found: map[string]teardown.Leftover{}}
	for _, look := range []func() error{s.controlPlane, s.owned, s.inGroup, s.inSystems, s.inNodeGroup, s.roles} {
		if err := look(); err != nil {
			return nil, err
		}
	}
	var out []teardown.Leftover
	for _, l := range slices.Collect(maps.Values(s.found)) {
		if q.Known(l) {
			continue
		}
		there, err := s.exists(l)
		if err != nil {
			return nil, err
		}
		if there {
			out = append(out, l)
		}
	}
	teardown.Sort(out)
	return out, nil
}

// searching is a search for what is a cluster's.
type searching struct {
	teardown.Search
	ctx     context.Context
	client  arm.Client
	cluster *config.Cluster
	// ours says that the AKS cluster of the name is the cluster's, or that the last one was.
	ours bool
	// identities of the cluster, by their ids, and its resource groups, by their names.
	identities, groups []string
	found              map[string]teardown.Leftover
}

// add adds a resource; the first proof stays.
func (s *searching) add(l teardown.Leftover) {
	key := strings.ToLower(l.CloudID)
	if before, seen := s.found[key]; !seen || before.Proof == "" {
		s.found[key] = l
	}
}

// controlPlane finds out whose the AKS cluster of the name is. A resource group has one of a
// name, and each has an issuer of its own.
func (s *searching) controlPlane() error {
	var now managedCluster
	err := s.client.Get(s.ctx, clusterID(s.cluster), clusterVersion, &now)
	if arm.IsMissing(err) {
		s.ours = s.ControlPlane.ID != ""
		return nil
	}
	if err != nil {
		return err
	}
	known := s.ControlPlane
	same := known.ID != "" && armid.Same(known.ID, now.ID) && known.Issuer == now.Properties.OIDCIssuerProfile.IssuerURL
	if s.ours = same || s.Owner != "" && now.Tags[names.OwnerTag] == s.Owner; s.ours {
		s.ControlPlane.ID = now.ID
	}
	return nil
}

// owned finds what has the owner's tag. AKS copies the cluster's tags to what it makes, and
// takes that away with the cluster.
func (s *searching) owned() error {
	if s.Owner == "" {
		return nil
	}
	all, err := owned(s.ctx, s.client, s.cluster, s.Owner)
	for _, r := range all {
		l := leftoverOf(r, "tag "+names.OwnerTag+" of this state")
		id, _ := armid.Parse(r.ID)
		if id.Is(identityKind) {
			s.identities = append(s.identities, r.ID)
		}
		if id.Is(armid.Groups) {
			s.groups = append(s.groups, id.Name)
		}
		if s.inNodes(id) {
			if l.Data {
				continue // inNodeGroup tells those of claims from those of nodes
			}
			l.GoesWithCore, l.Passes = true, true
		}
		s.add(l)
	}
	return err
}

func (s *searching) inNodes(id armid.ID) bool {
	return id.In(s.cluster.Cloud.Account, nodeGroupOf(s.cluster))
}

// inGroup finds what else is in core's resource group: Azure deletes a group with all that is
// in it, whoever made it. A group with data in it is data.
func (s *searching) inGroup() error {
	group, err := s.group(groupOf(s.cluster))
	if err != nil || group == nil || s.cluster.IsExisting() || s.Owner == "" || group.Tags[names.OwnerTag] != s.Owner {
		return err
	}
	return s.contentsOf(*group, groupOf(s.cluster), func(l teardown.Leftover) bool { return l.Data })
}

// inSystems finds what is in the resource groups that core has made for systems: what Azure
// Service Operator has made there, and has left because it was told to
// (serviceoperator.azure.com/reconcile-policy). All of it is the system's data.
func (s *searching) inSystems() error {
	for _, name := range s.groups {
		group, err := s.group(name) // lists by tag have no tags
		if err != nil {
			return err
		}
		if group == nil || group.Tags[names.SystemTag] == "" {
			continue
		}
		if err := s.contentsOf(*group, name, func(teardown.Leftover) bool { return true }); err != nil {
			return err
		}
	}
	return nil
}

// contentsOf finds what is in a resource group of core's.
func (s *searching) contentsOf(group listed, name string, data func(teardown.Leftover) bool) error {
	all, err := contents(s.ctx, s.client, s.cluster, name)
	of := leftoverOf(group, "tag "+names.OwnerTag+" of this state")
	of.Data = false
	for _, r := range all {
		l := leftoverOf(r, "it is in resource group "+name+" of this state, and goes with it")
		l.Data = data(l)
		of.Data = of.Data || l.Data
		s.add(l)
	}
	delete(s.found, strings.ToLower(of.CloudID))
	s.add(of)
	return err
}

// inNodeGroup finds what is in the resource group that AKS has made. AKS deletes it with the
// cluster, disks of claims whose reclaim policy is Retain included:
// https://learn.microsoft.com/azure/aks/faq. Nothing there can be kept.
func (s *searching) inNodeGroup() error {
	if s.cluster.IsExisting() || !s.ours {
		return nil
	}
	name := nodeGroupOf(s.cluster)
	group, err := s.group(name)
	if err != nil || group == nil || !armid.Same(group.ManagedBy, s.ControlPlane.ID) {
		return err
	}
	all, err := contents(s.ctx, s.client, s.cluster, name)
	for _, r := range all {
		l := leftoverOf(r, "made by "+Cloud{}.Maker(r.Tags)+" for the cluster "+s.ControlPlane.ID)
		id, _ := armid.Parse(r.ID)
		l.Data = l.Data && (!id.Is(diskKind) || r.Tags[claimTag]+r.Tags[volumeTag] != "") // others are the nodes' own
		l.GoesWithCore, l.Passes = !l.Data, !l.Data
		if l.Data {
			l.LostWith = "resource group " + name
		}
		s.add(l)
	}
	return err
}

// group reads a resource group; nil when there is none.
func (s *searching) group(name string) (*listed, error) {
	var group listed
	err := s.client.Get(s.ctx, armid.Group(s.cluster.Cloud.Account, name), listVersion, &group)
	if arm.IsMissing(err) {
		return nil, nil
	}
	return &group, err
}

// roles finds the role assignments of the cluster's identities, in its subscription and in
// those of what others own. They outlive the identities, and nothing tells afterwards whose they
// were: https://learn.microsoft.com/azure/role-based-access-control/troubleshooting. Those within
// the cluster's groups go with them.
func (s *searching) roles() error {
	for _, identity := range s.identities {
		var is struct{ Properties struct{ PrincipalID string } }
		err := s.client.Get(s.ctx, identity, identityVersion, &is)
		if arm.IsMissing(err) {
			continue
		}
		if err != nil {
			return err
		}
		all, err := s.rolesOf(is.Properties.PrincipalID)
		if err != nil {
			return err
		}
		of, _ := armid.Parse(identity)
		for _, r := range all {
			l := leftoverOf(r, fmt.Sprintf("a role of the managed identity %s of this state", of.Name))
			id, _ := armid.Parse(r.ID)
			l.GoesWithCore = s.inNodes(id) || id.In(s.cluster.Cloud.Account, groupOf(s.cluster))
			s.add(l)
		}
	}
	return nil
}

// rolesOf lists the role assignments of a principal. Where the caller may not list those of
// another subscription, it is asked for those on the groups and resources that the file names.
func (s *searching) rolesOf(principal string) ([]listed, error) {
	at := func(scope string) ([]listed, error) {
		all, err := arm.List[listed](s.ctx, s.client, scope+"/providers/Microsoft.Authorization/roleAssignments", permissionVersion,
			arm.Filter("principalId eq '"+principal+"'"))
		if arm.IsMissing(err) {
			return nil, nil
		}
		return all, err
	}
	out, err := at(armid.Subscription(s.cluster.Cloud.Account))
	if err != nil {
		return nil, err
	}
	for subscription, scopes := range scopesOfOthers(s.cluster) {
		all, err := at(armid.Subscription(subscription))
		if err == nil {
			scopes = nil
		} else if !arm.IsForbidden(err) {
			return nil, err
		}
		out = append(out, all...)
		for _, scope := range scopes {
			all, err := at(scope)
			if err != nil && !arm.IsForbidden(err) {
				return nil, err
			}
			out = append(out, all...)
		}
	}
	return out, nil
}

// scopesOfOthers are what others own and core assigns roles on, by their subscriptions, without
// the cluster's own. The group of a subnet has its network and, as a rule, its route table.
func scopesOfOthers(c *config.Cluster) map[string][]string {
	out := map[string][]string{}
	add := func(scope string) {
		if of := armid.SubscriptionOf(scope); of != "" && !strings.EqualFold(of, c.Cloud.Account) && !slices.Contains(out[of], scope) {
			out[of] = append(out[of], scope)
		}
	}
	if existing := c.Network.Existing; existing != nil {
		if subnet, err := armid.ParseSubnet(existing.NodeSubnet); err == nil {
			add(armid.Group(subnet.Subscription, subnet.Group))
		}
	}
	add(ownZone(c))
	for _, scope := range c.RoleScopes() {
		add(scope)
	}
	return out
}

// exists reads a resource. One of which no version of the API is known counts as there.
func (s *searching) exists(l teardown.Leftover) (bool, error) {
	version, err := versionOf(s.ctx, s.client, l)
	if err != nil || version == "" {
		return true, err
	}
	var now listed
	if err = s.client.Get(s.ctx, l.CloudID, version, &now); arm.IsMissing(err) {
		return false, nil
	}
	return true, err
}
