package eks

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/iam"
	"tombolo/lab/standin"
)

// AddonType is the type of EKS addons.
const AddonType = "aws:eks/addon:Addon"

// addon is an EKS addon. Versions are given newest first; for kube-proxy the first two
// numbers are those of Kubernetes, or of one of the three minor versions before: on EKS it
// has the skew policy of Kubernetes.
// https://docs.aws.amazon.com/eks/latest/userguide/managing-kube-proxy.html
type addon struct {
	versions []string
	// bounds of versions that EKS does not offer for every Kubernetes, by version.
	bounds map[string]bounds
	// defaults by version of Kubernetes, where it is not the second newest.
	defaults map[string]string
	// pods addons are Deployments: without a node they never become healthy.
	pods bool
	// roles: EKS can run the addon with an IAM role.
	roles bool
}

// bounds are the oldest and the newest version of Kubernetes; "" is no bound.
type bounds struct{ from, to string }

func (b bounds) include(kubernetes string) bool {
	i := index(kubernetes)
	return (b.from == "" || i >= index(b.from)) && (b.to == "" || i <= index(b.to))
}

// addons of EKS that the stand-in knows. Source:
// https://docs.aws.amazon.com/eks/latest/userguide/workloads-add-ons-available-eks.html
//
// What differs by Kubernetes is from AWS's tables of the newest version for each. That of
// CoreDNS has v1.11 up to 1.32, v1.12 from 1.33 on, and later v1.13; what a cluster has stays
// offered when Kubernetes goes on. That of the VPC CNI
// had v1.19.0 up to 1.31 and v1.19.2 for 1.32, and later v1.20.1 for all up to 1.33: these
// are the defaults here. AWS's tables do not say which version is the default.
// https://docs.aws.amazon.com/eks/latest/userguide/managing-coredns.html
// https://docs.aws.amazon.com/eks/latest/userguide/managing-vpc-cni.html
var addons = map[string]addon{
	"amazon-cloudwatch-observability": {versions: []string{"v4.7.0-eksbuild.1", "v4.6.0-eksbuild.1"}, pods: true, roles: true},
	"aws-ebs-csi-driver":              {versions: []string{"v1.53.0-eksbuild.1", "v1.51.0-eksbuild.1", "v1.48.0-eksbuild.1"}, pods: true, roles: true},
	"aws-efs-csi-driver":              {versions: []string{"v2.1.13-eksbuild.1", "v2.1.11-eksbuild.1"}, pods: true, roles: true},
	"aws-mountpoint-s3-csi-driver":    {versions: []string{"v2.1.0-eksbuild.1", "v1.15.0-eksbuild.1"}, roles: true},
	"coredns": {
		versions: []string{
			"v1.13.2-eksbuild.4", "v1.12.4-eksbuild.1", "v1.12.3-eksbuild.1", "v1.12.2-eksbuild.4",
			"v1.11.4-eksbuild.24", "v1.11.4-eksbuild.22", "v1.11.4-eksbuild.14",
		},
		bounds: map[string]bounds{
			"v1.13.2-eksbuild.4": {from: "1.35"}, "v1.12.4-eksbuild.1": {from: "1.33"}, "v1.12.3-eksbuild.1": {from: "1.33"}, "v1.12.2-eksbuild.4": {from: "1.33"},
		},
		pods: true,
	},
	"eks-node-monitoring-agent": {versions: []string{"v1.4.1-eksbuild.1", "v1.4.0-eksbuild.2"}},
	"eks-pod-identity-agent":    {versions: []string{"v1.3.10-eksbuild.1", "v1.3.9-eksbuild.3", "v1.3.8-eksbuild.2"}},
	"kube-proxy":                {versions: []string{"v%s.0-eksbuild.2"}},
	"metrics-server":            {versions: []string{"v0.8.0-eksbuild.3", "v0.8.0-eksbuild.2"}, pods: true},
	"snapshot-controller":       {versions: []string{"v8.3.0-eksbuild.1"}, pods: true},
	"vpc-cni": {
		versions: []string{"v1.20.5-eksbuild.1", "v1.20.4-eksbuild.2", "v1.20.3-eksbuild.1", "v1.20.1-eksbuild.3", "v1.20.1-eksbuild.1", "v1.19.6-eksbuild.7", "v1.19.2-eksbuild.1", "v1.19.0-eksbuild.1"},
		defaults: map[string]string{
			"1.30": "v1.19.0-eksbuild.1", "1.31": "v1.19.0-eksbuild.1", "1.32": "v1.19.2-eksbuild.1", "1.33": "v1.20.1-eksbuild.3", "1.34": "v1.20.1-eksbuild.3",
		},
		roles: true,
	},
}

// addonVersions lists an addon's versions for a version of Kubernetes, newest first.
func addonVersions(name, kubernetes string) []string {
	var out []string
	for _, v := range addons[name].versions {
		if !addons[name].bounds[v].include(kubernetes) {
			continue
		}
		if !strings.Contains(v, "%s") {
			out = append(out, v)
			continue
		}
		for i := index(kubernetes); i >= max(0, index(kubernetes)-kubeletSkew); i-- {
			out = append(out, fmt.Sprintf(v, KubernetesVersions[i]))
		}
	}
	return out
}

// defaultVersion of an addon is that of CreateAddon without a version, too. AWS says for
// each Kubernetes which it is (DescribeAddonVersions, compatibilities.defaultVersion), and
// it is often not the newest. Here it is the second newest, when nothing else is set.
func defaultVersion(name, kubernetes string) string {
	if v, set := addons[name].defaults[kubernetes]; set {
		return v
	}
	versions := addonVersions(name, kubernetes)
	if name == kubeProxyAddon {
		return versions[0]
	}
	return versions[min(1, len(versions)-1)]
}

func eksAddonTypes() map[string]*standin.Type {
	return map[string]*standin.Type{
		AddonType: {
			Constructor: eks.NewAddon,
			Noun:        "EKS Add-On",
			API:         standin.API{Service: "EKS", Create: "CreateAddon", Update: "UpdateAddon", Remove: "DeleteAddon"},
			// internal/service/eks/addon.go
			ForceNew:   []string{"addonName", "clusterName"},
			References: []standin.Reference{toCluster(true)},
			// The model has PRESERVE, too, which is for updates alone.
			Validate: func(in standin.Props) []standin.Problem {
				return standin.OneOf(in, "resolveConflictsOnCreate", "NONE", "OVERWRITE")
			},
			Create: createAddon,
			Update: updateAddon,
			// By users' reports: seconds to a minute, when it has nodes.
			Takes: standin.Timing{Create: 40 * time.Second, Update: 30 * time.Second, Remove: 15 * time.Second},
		},
	}
}

func createAddon(c *standin.Call) (string, error) {
	in, out := c.In(), c.Out()
	cluster, err := activeCluster(c)
	if err != nil {
		return "", err
	}
	name := in.Str("addonName")
	id := cluster.ID + ":" + name
	if c.Find(AddonType, id) != nil {
		return "", c.Refuse(standin.Refusal{Code: "ResourceInUseException", Status: 409, Message: "Addon already exists."})
	}
	if err := checkAddon(c, cluster); err != nil {
		return "", err
	}
	if addons[name].pods && !hasNodes(c, cluster.ID) {
		return "", fmt.Errorf("creating EKS Add-On (%s): waiting for EKS Add-On (%s) create: timeout while waiting for state to become 'ACTIVE' (last state: 'DEGRADED', timeout: 20m0s): InsufficientNumberOfReplicas: The add-on is unhealthy because all deployments have all pods unscheduled no nodes available to schedule pods", id, id)
	}
	out.SetDefaults(standin.Props{"addonVersion": defaultVersion(name, cluster.Outputs.Str("version")), "configurationValues": ""})
	out["arn"] = account.ARN(c, "eks", fmt.Sprintf("addon/%s/%s/%s", cluster.ID, name, account.UUID()))
	out["createdAt"] = c.Record.Created.UTC().Format(time.RFC3339)
	out["modifiedAt"] = out["createdAt"]
	return id, nil
}

func hasNodes(c *standin.Call, cluster string) bool {
	for r := range c.Cloud.Each(NodeGroupType, c.Region) {
		if r.Inputs.Str("clusterName") == cluster && len(r.Nodes) > 0 {
			return true
		}
	}
	return false
}

func updateAddon(c *standin.Call) error {
	c.Out()["modifiedAt"] = c.Cloud.Now().UTC().Format(time.RFC3339)
	c.Out().SetDefaults(standin.Props{"addonVersion": c.Old.Outputs["addonVersion"], "configurationValues": ""})
	return checkAddon(c, c.Find(ClusterType, c.In().Str("clusterName")))
}

func checkAddon(c *standin.Call, cluster *standin.Record) error {
	in := c.In()
	name, kubernetes := in.Str("addonName"), cluster.Outputs.Str("version")
	known, ok := addons[name]
	if !ok {
		return c.Refusef("InvalidParameterException", "Addon %s specified is not supported in %s kubernetes version", name, kubernetes)
	}
	if v := in.Str("addonVersion"); v != "" && !slices.Contains(addonVersions(name, kubernetes), v) {
		// An update of the cluster leaves its addons where they are.
		if c.Old == nil || c.Old.Outputs.Str("addonVersion") != v {
			return c.Refusef("InvalidParameterException", "Addon version specified is not supported")
		}
	}
	if values := in.Str("configurationValues"); values != "" {
		var decoded map[string]any
		if err := json.Unmarshal([]byte(values), &decoded); err != nil {
			return c.Refusef("InvalidParameterException", "ConfigurationValue provided in request is not supported: Json schema validation failed with error: [$: %v]", err)
		}
	}
	arn := in.Str("serviceAccountRoleArn")
	if arn == "" {
		return nil
	}
	if !known.roles {
		return c.Refusef("InvalidParameterException", "Addon %s does not support a service account role", name)
	}
	if iam.RoleOf(c.Cloud, arn) == nil {
		return c.Refusef("InvalidParameterException", "Role %s does not exist (Error Code: NoSuchEntity)", arn)
	}
	return nil
}
