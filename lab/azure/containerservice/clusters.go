package containerservice

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/rbac"
	"tombolo/lab/standin"
)

// PoolsOf yields a cluster's node pools, in the order of their creation. The account is
// locked.
func PoolsOf(c *standin.Cloud, cluster string) func(func(*standin.Record) bool) {
	return func(yield func(*standin.Record) bool) {
		for r := range c.Each(PoolType, standin.Global) {
			if rbac.Covers(cluster, r.ID) && !yield(r) {
				return
			}
		}
	}
}

// ClusterNamed is the cluster of a name, or nil.
func ClusterNamed(c *standin.Cloud, name string) *standin.Record {
	for _, r := range c.Snapshot(ClusterType) {
		if strings.EqualFold(r.Outputs.Str("name"), name) {
			return r
		}
	}
	return nil
}

// Issuer of the tokens of a cluster's service accounts; empty where it issues none.
func Issuer(r *standin.Record) string { return r.Outputs.Sub("oidcIssuerProfile").Str("issuerURL") }

// SubnetByIssuer is the subnet of the nodes of the cluster with an issuer; empty for none. The
// account is locked.
func SubnetByIssuer(c *standin.Cloud, issuer string) string {
	for r := range c.Each(ClusterType, standin.Global) {
		if Issuer(r) != issuer {
			continue
		}
		for _, pool := range r.Outputs.Objects("agentPoolProfiles") {
			if subnet := pool.Str("vnetSubnetID"); subnet != "" {
				return subnet
			}
		}
	}
	return ""
}

// createCluster refuses what AKS refuses, in about its order, and describes the rest.
func createCluster(c *standin.Call) (string, error) {
	name := c.In().Str("resourceName")
	for r := range c.Others() {
		if r.Outputs.Str("name") == name {
			return "", fmt.Errorf("the lab runs one control plane of a name, and %s is in use in %s; choose another name", name, armid.GroupOf(r.ID))
		}
	}
	c.Out().SetDefault("kubernetesVersion", defaultVersion)
	checkOwnVersion := func(c *standin.Call) error { return checkVersion(c, c.Out().Str("kubernetesVersion")) }
	err := c.Check(checkIdentity, checkOwnVersion, checkProfiles, checkCombinations, checkProxy, checkSecretsKey, checkInlinePools, describeClusterNetwork, checkClusterNetwork, checkNodeGroup)
	if err != nil {
		return "", err
	}
	describeCluster(c)
	return "", implyWithCluster(c)
}

// describeCluster fills in what AKS computes. Source of the values: as of answered.
func describeCluster(c *standin.Call) {
	in, out := c.In(), c.Out()
	location := out.Str("location")
	host := fmt.Sprintf("%s-%s.hcp.%s.azmk8s.io", in.Str("dnsPrefix"), arm.Hashed(c.Record.ID, "fqdn"), location)
	out["provisioningState"], out["currentKubernetesVersion"] = "Creating", exact(out.Str("kubernetesVersion"))
	out["fqdn"], out["azurePortalFQDN"] = host, strings.Replace(host, ".hcp.", ".portal.hcp.", 1)
	if access := in.Sub("apiServerAccessProfile"); access.Boolean("enablePrivateCluster") {
		describePrivate(c, access, host)
	}
	out["eTag"], out["resourceUID"], out["maxAgentPools"] = arm.UUID(), arm.Hashed(c.Record.ID, "uid")+strings.Repeat("0", 16), 100
	on := map[string]any{"enabled": true}
	out.SetDefaults(standin.Props{
		"enableRBAC": true, "disableLocalAccounts": false, "supportPlan": "KubernetesOfficial", "sku": map[string]any{"name": "Base", "tier": "Free"},
		"servicePrincipalProfile": map[string]any{"clientId": "msi"}, "securityProfile": map[string]any{}, "workloadAutoScalerProfile": map[string]any{},
		"storageProfile": map[string]any{"diskCSIDriver": on, "fileCSIDriver": on, "snapshotController": on},
	})
	out["powerState"] = map[string]any{"code": "Running"}
	describeIssuer(c)
	describeIdentity(c)
	describeInlinePools(c)
	describeProxy(c)
}

// describePrivate gives a private cluster its names. Source:
// https://learn.microsoft.com/en-us/azure/aks/private-clusters
func describePrivate(c *standin.Call, access standin.Props, host string) {
	out := c.Out()
	zone := fmt.Sprintf("%s.privatelink.%s.azmk8s.io", arm.UUID(), out.Str("location"))
	out["privateFQDN"] = fmt.Sprintf("%s-%s.%s", c.In().Str("dnsPrefix"), arm.Hashed(c.Record.ID, "private"), zone)
	full := standin.Merged(access, nil)
	full.SetDefault("enablePrivateClusterPublicFQDN", true)
	full.SetDefault("privateDNSZone", "system")
	out["apiServerAccessProfile"] = map[string]any(full)
	if !full.Boolean("enablePrivateClusterPublicFQDN") {
		delete(out, "fqdn")
	}
	if out["azurePortalFQDN"] = host; !full.Boolean("enablePrivateClusterPublicFQDN") {
		out["azurePortalFQDN"] = out["privateFQDN"]
	}
}

// describeIssuer gives every cluster an issuer of its own. Source of its form:
// https://learn.microsoft.com/en-us/azure/aks/use-oidc-issuer
func describeIssuer(c *standin.Call) {
	profile := standin.Merged(c.In().Sub("oidcIssuerProfile"), nil)
	profile.SetDefault("enabled", false)
	if c.Old != nil && Issuer(c.Old) != "" {
		profile["issuerURL"] = Issuer(c.Old)
	} else if profile.Boolean("enabled") {
		profile["issuerURL"] = fmt.Sprintf("https://%s.oic.prod-aks.azure.com/%s/%s/", c.Out().Str("location"), arm.Tenant, arm.UUID())
	}
	c.Out()["oidcIssuerProfile"] = map[string]any(profile)
}

// implyWithCluster makes what AKS makes along with a cluster: the group of its nodes, and
// the pools that the cluster's own inputs have.
func implyWithCluster(c *standin.Call) error {
	out := c.Out()
	id := armid.Group(armid.SubscriptionOf(c.Record.ID), out.Str("nodeResourceGroup"))
	err := c.Cloud.Put(&standin.Record{
		Type: arm.GroupType, ID: id, Region: standin.Global, Created: c.Record.Created, Implied: true,
		Inputs: standin.Props{"resourceGroupName": out.Str("nodeResourceGroup"), "location": out.Str("location")},
		Outputs: standin.Props{
			"name": out.Str("nodeResourceGroup"), "location": out.Str("location"), "managedBy": c.Record.ID, "tags": nodeGroupTags(c),
			"type": "Microsoft.Resources/resourceGroups", "properties": map[string]any{"provisioningState": "Succeeded"},
		},
	})
	if err == nil {
		err = assignNodeGroup(c, id)
	}
	if err != nil {
		return err
	}
	return putInlinePools(c)
}

// assignNodeGroup gives the identity of a control plane its role on the group of the nodes,
// where it makes load balancers and disks. On other groups it has what others give it. Source:
// https://learn.microsoft.com/en-us/azure/aks/use-managed-identity
func assignNodeGroup(c *standin.Call, group string) error {
	name := arm.UUID()
	out := standin.Props{
		"name": name, "type": "Microsoft.Authorization/roleAssignments", "scope": group, "principalId": principalOfControl(c.Record),
		"principalType": "ServicePrincipal", "roleDefinitionId": rbac.Definition(armid.SubscriptionOf(group), rbac.Contributor),
	}
	return c.Cloud.Put(&standin.Record{
		Type: rbac.AssignmentType, ID: group + "/providers/Microsoft.Authorization/roleAssignments/" + name, Region: standin.Global,
		Created: c.Record.Created, Implied: true, Inputs: standin.Props{}, Outputs: out,
	})
}

// principalOfControl is the object id of the identity of a cluster's control plane.
func principalOfControl(cluster *standin.Record) string {
	identity := cluster.Outputs.Sub("identity")
	for _, assigned := range identity.Sub("userAssignedIdentities") {
		if of, is := assigned.(map[string]any); is {
			return standin.Props(of).Str("principalId")
		}
	}
	return identity.Str("principalId")
}

// AsCluster is the account as the controllers of a cluster have it, which act as the identity
// of its control plane.
func AsCluster(c *standin.Cloud, id string) *standin.Client {
	defer c.Lock()()
	client := c.Client("")
	if r := arm.ByID(c, ClusterType, id); r != nil {
		return client.As(principalOfControl(r))
	}
	return client
}

// nodeGroupTags are the cluster's tags, and those by which AKS marks the group. Source:
// https://learn.microsoft.com/en-us/azure/aks/use-tags
func nodeGroupTags(c *standin.Call) map[string]any {
	return standin.Merged(c.Out().Sub("tags"), standin.Props{
		"aks-managed-cluster-name": c.Out().Str("name"), "aks-managed-cluster-rg": armid.NameOf(armid.GroupOf(c.Record.ID)),
	})
}

// nodeGroupOf is the id of the group of a cluster's nodes.
func nodeGroupOf(cluster *standin.Record) string {
	return armid.Group(armid.SubscriptionOf(cluster.ID), cluster.Outputs.Str("nodeResourceGroup"))
}

// checkNodeGroup refuses a group for the nodes that exists already.
func checkNodeGroup(c *standin.Call) error {
	out := c.Out()
	name, group := c.In().Str("resourceName"), armid.NameOf(armid.GroupOf(c.Record.ID))
	if c.In().Str("nodeResourceGroup") == "" {
		// https://learn.microsoft.com/en-us/azure/aks/faq
		made := fmt.Sprintf("MC_%s_%s_%s", group, name, out.Str("location"))
		out["nodeResourceGroup"] = made[:min(len(made), 80)]
	}
	given := out.Str("nodeResourceGroup")
	if len(given) > 80 {
		return c.Refusef("InvalidParameter", "The length of the node resource group name is too long. The maximum length is 80 and the length of the value provided is %d. Please see https://aka.ms/aks-naming-rules for more details.", len(given))
	}
	if strings.EqualFold(given, group) {
		return c.Refusef("NodeResourceGroupSameAsResourceGroup", "The node resource group %s can not be the same as the resource group of the managed cluster.", given)
	}
	if arm.ByID(c.Cloud, arm.GroupType, armid.Group(armid.SubscriptionOf(c.Record.ID), given)) != nil {
		return c.Refusef("NodeResourceGroupAlreadyExists", "The node resource group %s already exists. Please use another name.", given)
	}
	return nil
}

// innerIssuer is of the tokens of a cluster that has no issuer for others: Kubernetes needs one.
const innerIssuer = "https://kubernetes.default.svc.cluster.local"

func startCluster(ctx context.Context, c *standin.Cloud, r *standin.Record) error {
	out := r.Outputs
	info, err := c.Clusters.Start(ctx, standin.ClusterSpec{
		Name: out.Str("name"), ID: r.ID, Version: out.Str("currentKubernetesVersion"), Region: out.Str("location"),
		ServiceCIDR: out.Sub("networkProfile").Str("serviceCidr"),
		Private:     out.Sub("apiServerAccessProfile").Boolean("enablePrivateCluster"),
		Issuer:      cmp.Or(Issuer(r), innerIssuer),
		Tenant:      arm.Tenant, AdminGroups: out.Sub("aadProfile").List("adminGroupObjectIDs"),
	})
	if err != nil {
		return &arm.Error{Status: 200, Code: "ControlPlaneNotReady", Message: fmt.Sprintf("The control plane of %s does not start: %v", r.ID, err)}
	}
	r.Control = &info
	out["provisioningState"] = "Succeeded"
	return settleInlinePools(ctx, c, r)
}

// stopCluster takes along the group of the nodes with all that is in it, disks as well, and
// the pools. Source: https://learn.microsoft.com/en-us/azure/aks/delete-cluster
func stopCluster(ctx context.Context, c *standin.Cloud, r *standin.Record) error {
	if err := c.Clusters.Stop(ctx, r.Outputs.Str("name")); err != nil {
		return err
	}
	defer c.Lock()()
	group := nodeGroupOf(r)
	if found := arm.ByID(c, arm.GroupType, group); found != nil && arm.Same(found.Outputs.Str("managedBy"), r.ID) {
		if err := arm.ForgetWithin(c, group); err != nil {
			return err
		}
		if err := c.Forget(found); err != nil {
			return err
		}
	}
	return arm.ForgetWithin(c, r.ID)
}

// removeCluster refuses while something else is under way.
func removeCluster(c *standin.Call) error { return checkIdle(c, c.Record, true) }

// checkIdle refuses an operation on a cluster during another one, or, with pools, during one
// on a pool. Source: https://learn.microsoft.com/en-us/troubleshoot/azure/azure-kubernetes/create-upgrade-delete/troubleshoot-aks-pending-operation
func checkIdle(c *standin.Call, cluster *standin.Record, pools bool) error {
	if busy(cluster) {
		return inProgress(c, cluster, "managed cluster")
	}
	if !pools {
		return nil
	}
	for r := range PoolsOf(c.Cloud, cluster.ID) {
		if busy(r) {
			return inProgress(c, r, "node pool")
		}
	}
	return nil
}

func busy(r *standin.Record) bool { return r.Status != "" && r.Status != standin.StatusActive }

func inProgress(c *standin.Call, r *standin.Record, what string) error {
	verb := map[string]string{standin.StatusCreating: "create", standin.StatusDeleting: "delete"}[r.Status]
	return c.Refuse(standin.Refusal{Code: "OperationNotAllowed", Status: 409, Message: fmt.Sprintf(
		"Operation is not allowed because there's an in progress %s %s operation (operation ID: %s) on the %s %s started on UTC %s. Please wait for it to finish before starting a new operation. "+
			"See https://aka.ms/aks-pending-operation for more details", cmp.Or(verb, "update"), what, arm.UUID(), what, r.Outputs.Str("name"), r.Created.UTC().Format(time.RFC3339))})
}
