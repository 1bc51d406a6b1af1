package programs

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/handoff"
)

// anAPI stands for the address of the Kubernetes API.
const anAPI = "https://api"

// told are outputs of core with a value for everything that the addons need.
func told(c *config.Cluster) map[string]any {
	made := map[string]any{}
	for _, name := range []string{
		"karpenter/role_arn", "karpenter/instance_profile", "karpenter/queue_name", "loki/role_arn", "loki/bucket_name",
		"aws-load-balancer-controller/role_arn", "external-dns/role_arn", "external-secrets/role_arn",
		"aws-efs-csi-driver/file_system_id", "aws-efs-csi-driver/controller_role_arn", "aws-efs-csi-driver/node_role_arn",
		"aws-ebs-csi-driver/role_arn", "certificate/certificate_arn",
	} {
		made[name] = "made:" + name
	}
	roles := map[string]any{}
	for _, s := range c.Services {
		if s.Identity != nil {
			roles[s.Name] = "arn:role/" + s.Name
		}
	}
	return map[string]any{
		"schemaVersion": float64(handoff.SchemaVersion), "cloud": "aws", "clusterName": "eks-name", "owner": "q5zk",
		"clusterId": "arn:cluster", "clusterArn": "arn:cluster", "clusterVersion": "1.35", "clusterEndpoint": anAPI, "clusterCa": "Y2E=",
		"region": "eu-central-1", "accountId": "1", "partition": "aws", "oidcIssuer": "https://oidc", "oidcProviderArn": "arn:oidc",
		"vpcId": "vpc-1", "vpcCidr": "10.0.0.0/16", "privateSubnetIds": []any{"subnet-1", "subnet-2"}, "publicSubnetIds": []any{"subnet-3"},
		"clusterSecurityGroupId": "sg-1", "nodeRoleArn": "arn:node", "argocdRoleArn": hubRole, "registrationRoleArn": spokeRole,
		"addonOutputs": made, "serviceRoleArns": roles,
	}
}

// published is what a preview of bootstrap on these outputs would publish: keys with the
// object before them. What is unknown is left out.
func published(t *testing.T, c *config.Cluster, outputs map[string]any) map[string]string {
	t.Helper()
	r, o := deployed(t)
	api := r.Outputs["pulumi:pulumi:StackReference"]["outputs"].ObjectValue()
	outputs = maps.Clone(outputs)
	outputs["clusterCa"] = api["clusterCa"].StringValue()
	if outputs["clusterEndpoint"] == anAPI {
		outputs["clusterEndpoint"] = api["clusterEndpoint"].StringValue()
	}
	o.Told, o.Predicted, o.PredictedHub = true, outputs, outputs
	assert.NilError(t, run(t, r, c, stacks.Bootstrap, o, recorder.Preview))
	all := map[string]string{}
	add := func(res recorder.Resource, path string) {
		values, _ := res.Value(path)
		if !values.IsObject() {
			return
		}
		for key, v := range values.ObjectValue() {
			name := res.String("metadata.namespace") + "/" + res.String("metadata.name") + " " + string(key)
			if v.IsString() {
				all[name] = strings.ReplaceAll(v.StringValue(), api["clusterEndpoint"].StringValue(), anAPI)
			}
		}
	}
	for _, m := range r.OfType("kubernetes:core/v1:ConfigMap") {
		add(m, "data")
	}
	if secret, ok := r.Named(kubeSecret, c.Name+"-secret"); ok {
		add(secret, "metadata.annotations")
	}
	return all
}

// TestContentsAreWhatIsPublished compares what is worked out with what the program makes.
func TestContentsAreWhatIsPublished(t *testing.T) {
	for name, c := range map[string]*config.Cluster{"every addon": everyAddon(t), "hub": load(t, "mgmt"), "spoke": load(t, "spoke")} {
		t.Run(name, func(t *testing.T) {
			made := published(t, c, told(c))
			contents, err := ContentsOf(t.Context(), c, told(c), nil)
			assert.NilError(t, err)
			n := 0
			for _, part := range []map[string]map[string]string{contents.Data, contents.Annotations} {
				for object, keys := range part {
					for key, text := range keys {
						assert.Check(t, is.Equal(made[object+" "+key], text), "%s %s", object, key)
						n++
					}
				}
			}
			assert.Check(t, n >= len(handoffKeys) && (c.GitOps.Engine == config.ArgoCD) == (len(contents.Annotations) == 1),
				"%d texts, and annotations of %d", n, len(contents.Annotations))
		})
	}
}

// handoffKeys are outputs of core, and the keys and values that follow them on a
// cluster with every addon.
var handoffKeys = map[string][]string{
	"privateSubnetIds":       {"flux-system/infra-config private_subnet_ids"},
	"clusterSecurityGroupId": {"flux-system/infra-config cluster_security_group_id", "flux-system/infra-config karpenter_security_group_terms"},
	"clusterEndpoint":        {"flux-system/infra-config cluster_endpoint", "kube-system/karpenter-values values.yaml"},
	"nodeRoleArn":            {"flux-system/infra-config node_role_arn"},
}

// TestUnknownKeyByKey: what does not follow an output that is unknown is known.
func TestUnknownKeyByKey(t *testing.T) {
	c := everyAddon(t)
	known := published(t, c, told(c))
	unknown := func(outputs map[string]any) []string {
		has := published(t, c, outputs)
		var out []string
		for _, key := range slices.Sorted(maps.Keys(known)) {
			if text, ok := has[key]; !ok {
				out = append(out, key)
			} else {
				assert.Check(t, is.Equal(text, known[key]), key)
			}
		}
		return out
	}
	for output, follow := range handoffKeys {
		outputs := told(c)
		outputs[output] = plugin.UnknownStringValue
		assert.Check(t, is.DeepEqual(unknown(outputs), follow), output)
	}
	// Of what was made for an addon, each output counts on its own.
	outputs := told(c)
	outputs["addonOutputs"].(map[string]any)["karpenter/instance_profile"] = plugin.UnknownStringValue
	assert.DeepEqual(t, unknown(outputs), []string{"flux-system/infra-config karpenter_instance_profile"})
}

// TestReachIsExact changes each output, and compares what changes with where a mark of
// the output is found: no key may use an output without holding it.
func TestReachIsExact(t *testing.T) {
	for name, c := range map[string]*config.Cluster{"every addon": everyAddon(t), "spoke": load(t, "spoke")} {
		t.Run(name, func(t *testing.T) {
			base := texts(t, c, told(c))
			for output, v := range told(c) {
				if output == "schemaVersion" || output == "cloud" {
					continue
				}
				for _, empty := range []bool{false, true} {
					outputs := told(c)
					outputs[output] = replaced(v, "core-output-0-0.", empty)
					for key, text := range texts(t, c, outputs) {
						changed := text != base[key]
						if empty && changed {
							outputs[output] = replaced(v, "core-output-0-0.", false)
							changed = !strings.Contains(texts(t, c, outputs)[key], "core-output-0-0.")
							assert.Check(t, !changed, "%s changes %s, which does not hold it", output, key)
						} else if !empty {
							assert.Check(t, is.Equal(changed, strings.Contains(text, "core-output-0-0.")), "%s in %s: %s", output, key, text)
						}
					}
				}
			}
		})
	}
}

// replaced is a value with a text in the place of each text in it; or without any.
func replaced(v any, by string, empty bool) any {
	switch v := v.(type) {
	case []any:
		if empty {
			return []any{}
		}
		return []any{by, by}
	case map[string]any:
		out := map[string]any{}
		for key := range v {
			if !empty {
				out[key] = by
			}
		}
		return out
	}
	if empty {
		return ""
	}
	return by
}

func texts(t *testing.T, c *config.Cluster, outputs map[string]any) map[string]string {
	t.Helper()
	contents, err := ContentsOf(t.Context(), c, outputs, nil)
	assert.NilError(t, err)
	all := map[string]string{}
	for _, part := range []map[string]map[string]string{contents.Data, contents.Annotations} {
		for object, keys := range part {
			for key, text := range keys {
				all[object+" "+key] = text
			}
		}
	}
	return all
}
