package azure

import (
	"cmp"
	"context"
	"strings"

	"tombolo/automation/adoption"
	"tombolo/automation/cloud/azure/arm"
	"tombolo/automation/upgrade"
	"tombolo/config"
	"tombolo/internal/kubeversion"
	"tombolo/internal/names"
)

// managedCluster is what the Resource Manager says of an AKS cluster. Source:
// https://learn.microsoft.com/rest/api/aks/managed-clusters/get
type managedCluster struct {
	ID         string            `json:"id"`
	Name       string            `json:"name"`
	Tags       map[string]string `json:"tags"`
	Properties struct {
		KubernetesVersion        string `json:"kubernetesVersion"`
		CurrentKubernetesVersion string `json:"currentKubernetesVersion"`
		OIDCIssuerProfile        struct {
			Enabled   bool   `json:"enabled"`
			IssuerURL string `json:"issuerURL"`
		} `json:"oidcIssuerProfile"`
		AADProfile *struct {
			Managed bool `json:"managed"`
		} `json:"aadProfile"`
	} `json:"properties"`
}

// Describe reads an AKS cluster that others own. Entra's groups are to it what access entries
// are to EKS, and its issuer is all that workload identity needs.
func (a Cloud) Describe(ctx context.Context, c *config.Cluster) (adoption.Cluster, error) {
	var found adoption.Cluster
	err := a.look(ctx, "describe the existing cluster", c, func(client arm.Client) error {
		var cluster managedCluster
		if err := client.Get(ctx, clusterID(c), clusterVersion, "", &cluster); err != nil {
			return err
		}
		found = adoption.Cluster{
			Name: cluster.Name, Account: c.Cloud.Account, Version: kubeversion.Minor(cmp.Or(cluster.Properties.CurrentKubernetesVersion, cluster.Properties.KubernetesVersion)),
			OIDCProvider:  cluster.Properties.OIDCIssuerProfile.Enabled,
			AccessEntries: cluster.Properties.AADProfile != nil && cluster.Properties.AADProfile.Managed,
			Owner:         cluster.Tags[names.OwnerTag],
		}
		return nil
	})
	return found, err
}

// Insights say whether AKS offers the version to the cluster: by its upgrade profile, which
// leaves out what would skip a minor version or what the cluster's support plan does not have.
// AKS looks for the use of deprecated APIs when an upgrade begins, and refuses it then. Sources:
// https://learn.microsoft.com/rest/api/aks/managed-clusters/get-upgrade-profile and
// https://learn.microsoft.com/azure/aks/stop-cluster-upgrade-api-breaking-changes
func (a Cloud) Insights(ctx context.Context, _ upgrade.Runner, c *config.Cluster, q upgrade.Question) ([]upgrade.Insight, error) {
	const name = "Offered by AKS"
	if q.Back {
		return []upgrade.Insight{{Name: name, Status: upgrade.Bad, Reason: "AKS takes no control plane back to an earlier version", Recommendation: "rebuild the cluster"}}, nil
	}
	var profile struct {
		Properties struct {
			ControlPlaneProfile struct {
				KubernetesVersion string
				Upgrades          []struct{ KubernetesVersion string }
			}
		}
	}
	err := a.look(ctx, "ask for the upgrades of", c, func(client arm.Client) error {
		return client.Get(ctx, clusterID(c)+"/upgradeProfiles/default", clusterVersion, "", &profile)
	})
	if err != nil {
		return nil, err
	}
	plane := profile.Properties.ControlPlaneProfile
	offered := []string{plane.KubernetesVersion}
	for _, u := range plane.Upgrades {
		offered = append(offered, u.KubernetesVersion)
	}
	for _, version := range offered {
		if version == q.Version || strings.HasPrefix(version, q.Version+".") {
			return []upgrade.Insight{{Name: name, Status: upgrade.Passing}}, nil
		}
	}
	return []upgrade.Insight{{
		Name: name, Status: upgrade.Bad, Reason: "AKS offers the cluster " + strings.Join(offered, ", ") + ", and not " + q.Version,
		Recommendation: "upgrade by one minor version after another, to one that AKS supports in " + c.Cloud.Region,
	}}, nil
}
