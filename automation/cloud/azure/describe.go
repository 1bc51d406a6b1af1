package azure

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"tombolo/automation/adoption"
	"tombolo/automation/cloud/azure/arm"
	"tombolo/automation/upgrade"
	"tombolo/config"
	"tombolo/config/azurefacts"
	"tombolo/internal/armid"
	"tombolo/internal/kubeversion"
	"tombolo/internal/names"
	"tombolo/internal/wording"
)

// managedCluster is what the Resource Manager says of an AKS cluster. Source:
// https://learn.microsoft.com/rest/api/aks/managed-clusters/get
type managedCluster struct {
	ID         string            `json:"id"`
	Name       string            `json:"name"`
	Location   string            `json:"location"`
	Tags       map[string]string `json:"tags"`
	Properties struct {
		KubernetesVersion        string `json:"kubernetesVersion"`
		CurrentKubernetesVersion string `json:"currentKubernetesVersion"`
		ProvisioningState        string `json:"provisioningState"`
		OIDCIssuerProfile        struct {
			Enabled   bool   `json:"enabled"`
			IssuerURL string `json:"issuerURL"`
		} `json:"oidcIssuerProfile"`
		AADProfile *struct {
			Managed bool `json:"managed"`
		} `json:"aadProfile"`
		AgentPoolProfiles []struct {
			Name              string `json:"name"`
			ProvisioningState string `json:"provisioningState"`
		} `json:"agentPoolProfiles"`
	} `json:"properties"`
}

// Describe reads an AKS cluster that others own. Entra's groups are to it what access entries
// are to EKS, and its issuer is all that workload identity needs. The
// tenant is that of the credentials, and is not compared.
func (a Cloud) Describe(ctx context.Context, c *config.Cluster) (adoption.Cluster, error) {
	var found adoption.Cluster
	const what = "describe the existing cluster"
	client, who, err := a.connect(ctx, what, c)
	if err != nil {
		return found, err
	}
	found, err = describe(ctx, client, c)
	found.Tenant = who.tenant
	return found, failed(ctx, what, c, err)
}

func describe(ctx context.Context, client arm.Client, c *config.Cluster) (adoption.Cluster, error) {
	var cluster managedCluster
	err := client.Get(ctx, clusterID(c), clusterVersion, &cluster)
	if arm.IsMissing(err) {
		err = withOthers(ctx, client, c, err)
	}
	if err != nil {
		return adoption.Cluster{}, err
	}
	return adoption.Cluster{
		Name: cluster.Name, Account: c.Cloud.Account, Version: minor(cluster), Region: cluster.Location,
		OIDCProvider:  cluster.Properties.OIDCIssuerProfile.Enabled,
		AccessEntries: cluster.Properties.AADProfile != nil && cluster.Properties.AADProfile.Managed,
		Owner:         cluster.Tags[names.OwnerTag],
	}, nil
}

// withOthers adds to a refusal which clusters the subscription has, where it tells.
func withOthers(ctx context.Context, client arm.Client, c *config.Cluster, missing error) error {
	filter := arm.Filter("resourceType eq 'Microsoft.ContainerService/managedClusters'")
	all, err := arm.List[listed](ctx, client, armid.Subscription(c.Cloud.Account)+"/resources", listVersion, filter)
	if err != nil || len(all) == 0 {
		return missing
	}
	has := make([]string, len(all))
	for i, r := range all {
		has[i] = armid.NameOf(r.ID) + " in " + armid.NameOf(armid.GroupOf(r.ID))
	}
	slices.Sort(has)
	return fmt.Errorf("%w; the subscription has the clusters %s", missing, wording.And(has))
}

// minor is the version that runs, major.minor.
func minor(cluster managedCluster) string {
	return kubeversion.Minor(cmp.Or(cluster.Properties.CurrentKubernetesVersion, cluster.Properties.KubernetesVersion))
}

// Terms of AKS, which takes no control plane back. Sources:
// https://learn.microsoft.com/azure/aks/upgrade-aks-cluster and, for the label,
// https://learn.microsoft.com/azure/aks/use-labels
func (Cloud) Terms() upgrade.Terms {
	return upgrade.Terms{
		Cloud: "Azure", Service: "AKS", Versions: azurefacts.Calendar.Minors(), GroupLabel: "kubernetes.azure.com/agentpool", TellsOfWork: true,
		Rights: "allow Microsoft.ContainerService/managedClusters/upgradeProfiles/read to the credentials",
	}
}

// Insights say whether AKS offers the version to the cluster: by its upgrade profile, which
// leaves out what would skip a minor version or what the cluster's support plan does not have.
// AKS looks for the use of deprecated APIs when an upgrade begins, and refuses it then. Sources:
// https://learn.microsoft.com/rest/api/aks/managed-clusters/get-upgrade-profile and
// https://learn.microsoft.com/azure/aks/stop-cluster-upgrade-api-breaking-changes
func (a Cloud) Insights(ctx context.Context, _ upgrade.Runner, c *config.Cluster, q upgrade.Question) ([]upgrade.Insight, error) {
	if q.Back {
		return []upgrade.Insight{{
			Name: offered, Status: upgrade.Bad, Reason: "AKS takes no control plane back to an earlier version", Recommendation: "make a new cluster in its place",
		}}, nil
	}
	var found []upgrade.Insight
	err := a.look(ctx, "ask for the upgrades of", c, func(client arm.Client) (err error) {
		found, err = insights(ctx, client, c, q.Version)
		return err
	})
	return found, err
}

// offered and settled are the names of the insights.
const (
	offered = "Offered by AKS"
	settled = "State of the cluster"
)

// insights are of an upgrade to a version, the gravest first.
func insights(ctx context.Context, client arm.Client, c *config.Cluster, version string) ([]upgrade.Insight, error) {
	var cluster managedCluster
	if err := client.Get(ctx, clusterID(c), clusterVersion, &cluster); err != nil {
		return nil, err
	}
	var profile struct {
		Properties struct {
			ControlPlaneProfile struct {
				KubernetesVersion string
				Upgrades          []struct {
					KubernetesVersion string
					IsPreview         bool
				}
			}
		}
	}
	if err := client.Get(ctx, clusterID(c)+"/upgradeProfiles/default", clusterVersion, &profile); err != nil {
		return nil, err
	}
	plane := profile.Properties.ControlPlaneProfile
	has := []string{plane.KubernetesVersion}
	for _, u := range plane.Upgrades {
		if !u.IsPreview {
			has = append(has, u.KubernetesVersion)
		}
	}
	offer := upgrade.Insight{Name: offered, Status: upgrade.Passing}
	if !slices.ContainsFunc(has, func(v string) bool { return v == version || strings.HasPrefix(v, version+".") }) {
		offer = upgrade.Insight{
			Name: offered, Status: upgrade.Bad, Reason: "AKS offers the cluster " + wording.And(has) + ", and not " + version,
			Recommendation: "upgrade by one minor version after another, to one that AKS supports in " + c.Cloud.Region,
		}
	}
	all := []upgrade.Insight{offer, stateOf(cluster)}
	slices.SortStableFunc(all, upgrade.ByGravity)
	return all, nil
}

// ended are the states of provisioning in which nothing is under way. Source:
// https://learn.microsoft.com/azure/azure-resource-manager/management/async-operations#provisioningstate-values
var ended = []string{"", "Succeeded", "Failed", "Canceled"}

// stateOf says whether AKS begins an operation: neither while another one is under way, of the cluster
// or of a pool, nor with a cluster in the state Failed.
func stateOf(cluster managedCluster) upgrade.Insight {
	is := cluster.Properties.ProvisioningState
	if !slices.Contains(ended, is) {
		return upgrade.Insight{Name: settled, Status: upgrade.Warning, Reason: "the cluster is " + is, Busy: true}
	}
	for _, pool := range cluster.Properties.AgentPoolProfiles {
		if !slices.Contains(ended, pool.ProvisioningState) {
			return upgrade.Insight{Name: settled, Status: upgrade.Warning, Reason: "the node pool " + pool.Name + " is " + pool.ProvisioningState, Busy: true}
		}
	}
	if is != "" && is != "Succeeded" {
		return upgrade.Insight{
			Name: settled, Status: upgrade.Bad, Reason: "the cluster is " + is,
			Recommendation: "have AKS end what failed with `az aks update`: https://aka.ms/aks-cluster-failed",
		}
	}
	return upgrade.Insight{Name: settled, Status: upgrade.Passing}
}
