package eks

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"tombolo/lab/aws/account"
	"tombolo/lab/standin"
)

// The categories of insights that the stand-in has. Rollback insights are there as
// long as a rollback is possible. Source:
// https://docs.aws.amazon.com/eks/latest/userguide/cluster-insights.html
const (
	UpgradeReadiness  = "UPGRADE_READINESS"
	RollbackReadiness = "ROLLBACK_READINESS"
)

// The statuses of insights. An error is about the next minor version, a warning
// about a later one.
const (
	StatusPassing = "PASSING"
	StatusWarning = "WARNING"
	StatusError   = "ERROR"
)

// Insight is EKS's finding about a cluster, as ListInsights has it. Source:
// https://docs.aws.amazon.com/eks/latest/APIReference/API_InsightSummary.html
type Insight struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Category string `json:"category"`
	// KubernetesVersion is the one to go to, major.minor.
	KubernetesVersion  string        `json:"kubernetesVersion"`
	LastRefreshTime    time.Time     `json:"lastRefreshTime"`
	LastTransitionTime time.Time     `json:"lastTransitionTime"`
	Description        string        `json:"description"`
	InsightStatus      InsightStatus `json:"insightStatus"`
}

// InsightStatus is a status and the reason for it.
type InsightStatus struct {
	Status string `json:"status"`
	Reason string `json:"reason,omitempty"`
}

// InsightDetail is an insight as DescribeInsight has it. Source:
// https://docs.aws.amazon.com/eks/latest/APIReference/API_Insight.html
type InsightDetail struct {
	Insight
	Recommendation string            `json:"recommendation"`
	AdditionalInfo map[string]string `json:"additionalInfo"`
	// Resources that the insight is about, each with a status of its own.
	Resources []InsightResource `json:"resources"`
	// CategorySpecificSummary has the addons that are not compatible.
	CategorySpecificSummary InsightSummary `json:"categorySpecificSummary"`
}

// InsightResource is named by its URI in the Kubernetes API, or by its ARN.
type InsightResource struct {
	InsightStatus         InsightStatus `json:"insightStatus"`
	KubernetesResourceURI string        `json:"kubernetesResourceUri,omitempty"`
	ARN                   string        `json:"arn,omitempty"`
}

// InsightSummary says of addons which versions would be compatible.
type InsightSummary struct {
	DeprecationDetails        []struct{}          `json:"deprecationDetails"`
	AddonCompatibilityDetails []IncompatibleAddon `json:"addonCompatibilityDetails"`
}

// IncompatibleAddon is an addon, and the versions that there are for the next minor
// version of Kubernetes.
type IncompatibleAddon struct {
	Name               string   `json:"name"`
	CompatibleVersions []string `json:"compatibleVersions"`
}

// InsightFilter holds what insights must be; an empty list is no condition.
type InsightFilter struct {
	Categories         []string `json:"categories"`
	KubernetesVersions []string `json:"kubernetesVersions"`
	Statuses           []string `json:"statuses"`
}

func (f InsightFilter) takes(i Insight) bool {
	one := func(of []string, value string) bool { return len(of) == 0 || slices.Contains(of, value) }
	return one(f.Categories, i.Category) && one(f.KubernetesVersions, i.KubernetesVersion) && one(f.Statuses, i.InsightStatus.Status)
}

// InsightError is a refusal of ListInsights or DescribeInsight.
type InsightError struct{ Code, Message string }

// Error returns the code and the message.
func (e *InsightError) Error() string { return e.Code + ": " + e.Message }

// ListInsights answers the call of that name for a cluster of a region. It fails
// with an InsightError.
func ListInsights(c *standin.Cloud, region, cluster string, filter InsightFilter) ([]Insight, error) {
	details, err := allInsights(c, region, cluster)
	if err != nil {
		return nil, err
	}
	list := []Insight{}
	for _, d := range details {
		if filter.takes(d.Insight) {
			list = append(list, d.Insight)
		}
	}
	return list, nil
}

// DescribeInsight answers the call of that name. It fails with an InsightError.
func DescribeInsight(c *standin.Cloud, region, cluster, id string) (InsightDetail, error) {
	details, err := allInsights(c, region, cluster)
	if err != nil {
		return InsightDetail{}, err
	}
	for _, d := range details {
		if d.ID == id {
			return d, nil
		}
	}
	return InsightDetail{}, &InsightError{"ResourceNotFoundException", "No insight found for id: " + id + "."}
}

// RefreshInsights answers StartInsightsRefresh and DescribeInsightsRefresh with the status
// of a refresh. The stand-in looks at insights whenever it is asked for them, so a refresh is
// over at once. It fails with an InsightError. Statuses:
// https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeInsightsRefresh.html
func RefreshInsights(c *standin.Cloud, region, cluster, operation string) (status string, _ error) {
	if _, err := allInsights(c, region, cluster); err != nil {
		return "", err
	}
	if operation == "StartInsightsRefresh" {
		return "IN_PROGRESS", nil
	}
	return "COMPLETED", nil
}

func allInsights(c *standin.Cloud, region, cluster string) ([]InsightDetail, error) {
	defer c.Lock()()
	r := c.Find(ClusterType, region, cluster)
	if r == nil {
		return nil, &InsightError{"ResourceNotFoundException", fmt.Sprintf(missingCluster().Message, cluster)}
	}
	return insightsOf(c, r), nil
}

// insightsOf are a cluster's insights: about the next minor version, if there is
// one, and about the one before while a rollback is possible. The account is locked.
func insightsOf(c *standin.Cloud, cluster *standin.Record) []InsightDetail {
	current := index(cluster.Outputs.Str("version"))
	var all []InsightDetail
	if current >= 0 && current+1 < len(KubernetesVersions) {
		i := inspection{cloud: c, cluster: cluster, category: UpgradeReadiness, target: KubernetesVersions[current+1]}
		all = append(all, i.kubelets(), i.addons(), i.health())
		all = append(all, i.kubeProxy()...)
	}
	if canRollBack(c, cluster, cluster.UpgradedFrom) {
		i := inspection{cloud: c, cluster: cluster, category: RollbackReadiness, target: cluster.UpgradedFrom}
		all = append(all, i.kubelets(), i.addons(), i.health())
	}
	return all
}

// inspection looks at what a cluster has, for a version that it could go to.
type inspection struct {
	cloud            *standin.Cloud
	cluster          *standin.Record
	category, target string
}

// found is an insight from the findings about resources: it is as bad as the worst.
func (i inspection) found(name, description, fine, recommendation string, resources []InsightResource) InsightDetail {
	status := InsightStatus{Status: StatusPassing, Reason: fine}
	for _, bad := range []string{StatusWarning, StatusError} {
		for _, r := range resources {
			if r.InsightStatus.Status == bad && status.Status != bad {
				status = r.InsightStatus
			}
		}
	}
	if status.Status == StatusPassing {
		recommendation = ""
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{i.cluster.Outputs.Str("arn"), i.category, i.target, name}, "|")))
	now := i.cloud.Now().UTC().Truncate(time.Second)
	changed := i.cluster.Created
	if i.cluster.UpgradedAt.After(changed) {
		changed = i.cluster.UpgradedAt
	}
	if resources == nil {
		resources = []InsightResource{}
	}
	return InsightDetail{
		Insight: Insight{
			ID:   fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16]),
			Name: name, Category: i.category, KubernetesVersion: i.target, Description: description, InsightStatus: status,
			LastRefreshTime: now, LastTransitionTime: changed.UTC().Truncate(time.Second),
		},
		Recommendation: recommendation, AdditionalInfo: map[string]string{}, Resources: resources,
		CategorySpecificSummary: InsightSummary{DeprecationDetails: []struct{}{}, AddonCompatibilityDetails: []IncompatibleAddon{}},
	}
}

// kubelets compares the nodes' versions with the target.
func (i inspection) kubelets() InsightDetail {
	var resources []InsightResource
	for node, version := range i.nodes() {
		resources = append(resources, InsightResource{InsightStatus: i.skew("The kubelet of node "+node, version), KubernetesResourceURI: "/api/v1/nodes/" + node})
	}
	slices.SortFunc(resources, func(a, b InsightResource) int {
		return strings.Compare(a.KubernetesResourceURI, b.KubernetesResourceURI)
	})
	return i.found("Kubelet version skew",
		"Compares the kubelets of the nodes with the version skew that Kubernetes supports.",
		"No node has a kubelet that version "+i.target+" would leave unsupported.",
		"Move the nodes to a version that the target supports first.", resources)
}

// nodes are the cluster's nodes, of groups and of Karpenter, with their versions.
func (i inspection) nodes() map[string]string {
	nodes := map[string]string{}
	for group := range groupsOf(i.cloud, i.cluster) {
		for _, n := range group.Nodes {
			nodes[n.Name] = group.Outputs.Str("version")
		}
	}
	for r := range i.cloud.Each(instanceType, i.cluster.Region) {
		version := ImageVersion(r.Region, r.Outputs.Str("ami"))
		if version != "" && r.HasTags(map[string]string{"kubernetes.io/cluster/" + i.cluster.ID: "owned"}) {
			nodes[r.Outputs.Str("privateDns")] = version
		}
	}
	return nodes
}

// skew judges the version of a kubelet or a kube-proxy: at the target, and at the
// minor version after it.
func (i inspection) skew(what, version string) InsightStatus {
	reason := fmt.Sprintf("%s is of version %s.", what, version)
	switch behind := index(i.target) - index(version); {
	case behind < 0:
		return InsightStatus{StatusError, fmt.Sprintf("%s is of version %s, newer than %s.", what, version, i.target)}
	case behind > kubeletSkew:
		return InsightStatus{StatusError, fmt.Sprintf("%s is of version %s, more than %d minor versions older than %s.", what, version, kubeletSkew, i.target)}
	case behind == kubeletSkew && i.category == UpgradeReadiness:
		return InsightStatus{StatusWarning, fmt.Sprintf("%s is of version %s, which no version after %s supports.", what, version, i.target)}
	}
	return InsightStatus{StatusPassing, reason}
}

// kubeProxy is an insight about the addon of that name, if the cluster has it.
func (i inspection) kubeProxy() []InsightDetail {
	for addon := range within(i.cloud, AddonType, i.cluster) {
		if addon.Inputs.Str("addonName") != kubeProxyAddon {
			continue
		}
		version := minorOf(addon.Outputs.Str("addonVersion"))
		return []InsightDetail{i.found("kube-proxy version skew",
			"Compares kube-proxy with the version skew that Kubernetes supports.",
			"Version "+i.target+" supports kube-proxy "+version+".",
			"Update the add-on kube-proxy first.",
			[]InsightResource{{InsightStatus: i.skew("kube-proxy", version), ARN: addon.Outputs.Str("arn")}})}
	}
	return nil
}

// kubeProxyAddon has a version like that of Kubernetes, and its own skew.
const kubeProxyAddon = "kube-proxy"

// minorOf is the major.minor of an addon's version, such as 1.34 of v1.34.0-eksbuild.2.
func minorOf(version string) string {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// addons compares the addons' versions with those that there are for the target.
func (i inspection) addons() InsightDetail {
	var resources []InsightResource
	var incompatible []IncompatibleAddon
	for addon := range within(i.cloud, AddonType, i.cluster) {
		name, version := addon.Inputs.Str("addonName"), addon.Outputs.Str("addonVersion")
		resource := InsightResource{ARN: addon.Outputs.Str("arn"), InsightStatus: InsightStatus{Status: StatusPassing}}
		if offered := addonVersions(name, i.target); !i.compatible(name, version, offered) {
			resource.InsightStatus = InsightStatus{StatusError, fmt.Sprintf("%s %s is not compatible with Kubernetes %s.", name, version, i.target)}
			incompatible = append(incompatible, IncompatibleAddon{name, offered})
		}
		resources = append(resources, resource)
	}
	insight := i.found("EKS add-on version compatibility",
		"Compares the versions of the EKS add-ons with those for the target version.",
		"Every EKS add-on has a version that Kubernetes "+i.target+" can have.",
		"Update the add-ons to compatible versions first.", resources)
	insight.CategorySpecificSummary.AddonCompatibilityDetails = append(insight.CategorySpecificSummary.AddonCompatibilityDetails, incompatible...)
	return insight
}

// compatible says that an addon can stay as it is. EKS has an older kube-proxy be, as
// far as Kubernetes supports it.
func (i inspection) compatible(name, version string, offered []string) bool {
	if name == kubeProxyAddon {
		return i.skew("", minorOf(version)).Status != StatusError
	}
	return slices.Contains(offered, version)
}

// health is about the control plane itself: it has no other trouble than not
// being ready.
func (i inspection) health() InsightDetail {
	var resources []InsightResource
	if i.cluster.Status != "" && i.cluster.Status != standin.StatusActive {
		resources = append(resources, InsightResource{
			InsightStatus: InsightStatus{StatusWarning, "The cluster is " + i.cluster.Status + "."}, ARN: account.ARNIn(i.cloud, i.cluster.Region, "eks", "cluster/"+i.cluster.ID),
		})
	}
	return i.found("Cluster health issues",
		"Looks for trouble of the control plane that would keep it from another version.",
		"The control plane has no health issues.", "Wait until the cluster is active.", resources)
}
