package aws

import (
	"encoding/base64"
	"strings"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/aws/ec2"
	"tombolo/lab/aws/eks"
	"tombolo/lab/aws/iam"
	"tombolo/lab/standin"
)

const anImage = "ami-0123456789abcdef0"

func inBase64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// withTemplate are the arguments of a node group with a launch template.
func (w *world) withTemplate(template, group props) props {
	lt := w.Make(ec2.LaunchTemplateType, "lt", template)
	in := w.nodeArgs(group)
	in["launchTemplate"] = map[string]any{"id": lt.ID, "version": "1"}
	return in
}

// joining is user data by which a node joins the cluster.
func (w *world) joining() string {
	ca, _ := w.cluster.Out["certificateAuthority"].(map[string]any)["data"].(string)
	return inBase64("cluster demo at " + w.cluster.Out["endpoint"].(string) + " with " + ca)
}

// TestNodeImages: what EKS takes and refuses of images, releases and launch templates.
func TestNodeImages(t *testing.T) {
	for _, test := range []struct {
		name            string
		template, group func(*world) props
		want            string
	}{
		{"image of one's own", func(w *world) props { return props{"imageId": anImage, "userData": w.joining()} }, nil, ""},
		{"with a type", func(w *world) props { return props{"imageId": anImage, "userData": w.joining()} }, func(*world) props { return props{"amiType": "AL2023_x86_64_STANDARD"} }, "You cannot specify an AMI Type other than CUSTOM"},
		{"with a version", func(w *world) props { return props{"imageId": anImage, "userData": w.joining()} }, func(*world) props { return props{"version": "1.34"} }, "You cannot specify the field version when using a custom AMI."},
		{"with a release", func(w *world) props { return props{"imageId": anImage, "userData": w.joining()} }, func(*world) props { return props{"releaseVersion": "1.34.1-20260101"} }, "You cannot specify the field releaseVersion"},
		{"without user data", func(*world) props { return props{"imageId": anImage} }, nil, "NodeCreationFailure: Instances failed to join the kubernetes cluster"},
		{"instance profile", func(*world) props { return props{"iamInstanceProfile": map[string]any{"name": "x"}} }, nil, "iamInstanceProfile cannot be specified"},
		{"other groups only", func(w *world) props { return props{"vpcSecurityGroupIds": []any{w.group.ID}} }, nil, "their security groups do not let them reach the control plane"},
		{"user data that is no archive", func(*world) props { return props{"userData": inBase64("#!/bin/sh")} }, nil, "User data was not in the MIME multipart format."},
		{"an archive", func(*world) props {
			return props{"userData": inBase64("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\n#!/bin/sh\n--b--\n")}
		}, nil, ""},
		{"Bottlerocket", func(*world) props { return props{"userData": inBase64("[settings.kernel]\n")} }, func(*world) props {
			return props{"amiType": "BOTTLEROCKET_x86_64", "releaseVersion": "1.50.0-1a2b3c4d"}
		}, ""},
		{"Bottlerocket with a script", func(*world) props { return props{"userData": inBase64("echo x")} }, func(*world) props { return props{"amiType": "BOTTLEROCKET_x86_64"} }, "User data was not in the TOML format."},
		{"release of another version", func(*world) props { return props{} }, func(*world) props { return props{"version": "1.34", "releaseVersion": "1.33.1-20260101"} }, "Requested release version 1.33.1-20260101 is not valid for kubernetes version 1.34."},
		{"another architecture", func(*world) props { return props{} }, func(*world) props { return props{"amiType": "AL2023_ARM_64_STANDARD"} }, "is not a valid instance type for requested amiType AL2023_ARM_64_STANDARD"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			var group props
			if test.group != nil {
				group = test.group(w)
			}
			in := w.withTemplate(test.template(w), group)
			_, err := w.Try(eks.NodeGroupType, "more", in)
			if test.want == "" {
				assert.NilError(t, err)
				return
			}
			assert.Check(t, is.ErrorContains(err, test.want))
		})
	}
}

// TestLaunchTemplateRefuses: the limits of EC2.
func TestLaunchTemplateRefuses(t *testing.T) {
	disk := func(ebs map[string]any) props {
		ebs["volumeSize"] = 50
		return props{"blockDeviceMappings": []any{map[string]any{"deviceName": "/dev/xvda", "ebs": ebs}}}
	}
	w := newWorld(t)
	for _, test := range []struct {
		name string
		in   props
		want string
	}{
		{"image", props{"imageId": "my-image"}, "InvalidAMIID.Malformed"},
		{"user data that is too long", props{"userData": inBase64(strings.Repeat("x", 16*1024+1))}, "User data is limited to 16384 bytes"},
		{"iops of gp3", disk(map[string]any{"volumeType": "gp3", "iops": 80001}), "is not in the range of 3000 to 80000 for gp3"},
		{"iops of a small gp3", disk(map[string]any{"volumeType": "gp3", "iops": 25001}), "ratio is too high; maximum is 500"},
		{"iops of a small io2", disk(map[string]any{"volumeType": "io2", "iops": 50001}), "ratio is too high; maximum is 1000"},
		{"iops of gp2", disk(map[string]any{"volumeType": "gp2", "iops": 3000}), "iops is not supported for gp2"},
		{"none of io2", disk(map[string]any{"volumeType": "io2"}), "iops must be specified for io2"},
		{"iops of a small io1", disk(map[string]any{"volumeType": "io1", "iops": 5000}), "ratio is too high; maximum is 50"},
		{"throughput of io2", disk(map[string]any{"volumeType": "io2", "iops": 5000, "throughput": 200}), "throughput is not supported for io2"},
		{"throughput of few iops", disk(map[string]any{"volumeType": "gp3", "throughput": 1000}), "maximum is 0.250000"},
		{"throughput beyond the provider", disk(map[string]any{"volumeType": "gp3", "throughput": 2000}), "expected throughput to be in the range (125 - 1000), got 2000"},
		{"a key without encryption", disk(map[string]any{"volumeType": "gp3", "kmsKeyId": w.key.Out["arn"]}), "requires the parameter Encrypted"},
		{"no such key", disk(map[string]any{"volumeType": "gp3", "encrypted": "true", "kmsKeyId": "arn:aws:kms:eu-central-1:111122223333:key/none"}), "key/none' does not exist"},
		{"a key's id", disk(map[string]any{"volumeType": "gp3", "encrypted": "true", "kmsKeyId": "1234"}), "is an invalid ARN"},
	} {
		_, err := w.Try(ec2.LaunchTemplateType, "lt-"+strings.ReplaceAll(test.name, " ", "-"), test.in)
		assert.Check(t, is.ErrorContains(err, test.want), test.name)
	}
	_, err := w.Try(ec2.LaunchTemplateType, "right", disk(map[string]any{"volumeType": "gp3", "iops": 4000, "throughput": 1000, "encrypted": "true", "kmsKeyId": w.key.Out["arn"]}))
	assert.NilError(t, err)
}

// TestNodeGroupKeepsItsKindOfImage: an update does not switch, and another release rolls.
func TestNodeGroupKeepsItsKindOfImage(t *testing.T) {
	w := newWorld(t)
	lt := w.Make(ec2.LaunchTemplateType, "lt", props{})
	in := w.nodeArgs(props{"launchTemplate": map[string]any{"id": lt.ID, "version": "1"}, "version": "1.34", "releaseVersion": "1.34.1-20260101"})
	group := w.Make(eks.NodeGroupType, "group", in)
	before := w.Clusters.Nodes["demo/"+group.In.Str("nodeGroupName")][0].Name
	assert.NilError(t, w.Update(group, props{"releaseVersion": "1.34.2-20260301"}))
	after := w.Clusters.Nodes["demo/"+group.In.Str("nodeGroupName")][0].Name
	assert.Check(t, before != after)

	assert.NilError(t, w.Update(lt, props{"imageId": anImage, "userData": w.joining()}))
	err := w.Update(group, props{"launchTemplate": map[string]any{"id": lt.ID, "version": "2"}})
	assert.Check(t, is.ErrorContains(err, "You cannot switch from an AMI of Amazon EKS to a custom AMI"))
}

// TestNodeGroupsUnderATagPolicy: an organisation's policy is about what the launch template
// tags.
func TestNodeGroupsUnderATagPolicy(t *testing.T) {
	for want, kinds := range map[string][]string{"the volume has no tag team": {"instance"}, "": {"instance", "volume"}} {
		w := newWorld(t)
		w.Cloud.Tags = standin.TagPolicy{Calls: []string{"RunInstances"}, Keys: []string{"team"}}
		specifications := []any{}
		for _, kind := range kinds {
			specifications = append(specifications, map[string]any{"resourceType": kind, "tags": map[string]any{"team": "platform"}})
		}
		_, err := w.Try(eks.NodeGroupType, "more", w.withTemplate(props{"tagSpecifications": specifications}, nil))
		if want == "" {
			assert.NilError(t, err)
			continue
		}
		assert.Check(t, is.ErrorContains(err, want))
	}
}

// autoArgs are a cluster with EKS Auto Mode, and the roles that it needs.
func (w *world) autoArgs(change props) props {
	const trust = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"eks.amazonaws.com"},"Action":["sts:AssumeRole","sts:TagSession"]}]}`
	role := w.Make(iam.RoleType, "auto-role", props{"assumeRolePolicy": trust})
	for _, policy := range []string{"AmazonEKSClusterPolicy", "AmazonEKSComputePolicy", "AmazonEKSBlockStoragePolicy", "AmazonEKSLoadBalancingPolicy", "AmazonEKSNetworkingPolicy"} {
		w.Make(iam.AttachmentType, policy, props{"role": role.ID, "policyArn": "arn:aws:iam::aws:policy/" + policy})
	}
	return standin.Merged(w.clusterArgs(props{
		"name": "auto", "roleArn": role.Out["arn"], "bootstrapSelfManagedAddons": false,
		"computeConfig":           map[string]any{"enabled": true, "nodePools": []any{"general-purpose", "system"}, "nodeRoleArn": w.nodeRole.Out["arn"]},
		"kubernetesNetworkConfig": map[string]any{"elasticLoadBalancing": map[string]any{"enabled": true}},
		"storageConfig":           map[string]any{"blockStorage": map[string]any{"enabled": true}},
	}), change)
}

func TestAutoModeRefusals(t *testing.T) {
	refused(t, newWorld, []attempt{
		{"a part of it", eks.ClusterType, func(w *world) props {
			return w.autoArgs(props{"storageConfig": map[string]any{"blockStorage": map[string]any{"enabled": false}}})
		}, "InvalidParameterException: For EKS Auto Mode, please ensure that all required configs"},
		{"addons of EKS's", eks.ClusterType, func(w *world) props {
			return w.autoArgs(props{"bootstrapSelfManagedAddons": true})
		}, "InvalidParameterException: When EKS Auto Mode is enabled, bootstrapSelfManagedAddons must be set to false."},
		{"role of a cluster without it", eks.ClusterType, func(w *world) props {
			return w.autoArgs(props{"roleArn": w.clusterRole.Out["arn"]})
		}, "has no AmazonEKSComputePolicy attached"},
		{"no such pool", eks.ClusterType, func(w *world) props {
			return w.autoArgs(props{"computeConfig": map[string]any{"enabled": true, "nodePools": []any{"gpu"}, "nodeRoleArn": w.nodeRole.Out["arn"]}})
		}, "Node pool gpu is not one of general-purpose, system"},
		{"role of the cluster for nodes", eks.ClusterType, func(w *world) props {
			return w.autoArgs(props{"computeConfig": map[string]any{"enabled": true, "nodePools": []any{"system"}, "nodeRoleArn": w.clusterRole.Out["arn"]}})
		}, "ec2.amazonaws.com cannot assume it"},
	})
}

// TestAutoMode: EKS lets the nodes in, and takes them away with the cluster.
func TestAutoMode(t *testing.T) {
	w := newWorld(t)
	cluster := w.Make(eks.ClusterType, "auto", w.autoArgs(nil))
	entries := 0
	for r := range w.Cloud.Each(eks.AccessEntryType, "eu-central-1") {
		if r.Outputs.Str("clusterName") == "auto" && r.Outputs.Str("type") == "EC2" {
			entries++
		}
	}
	assert.Check(t, is.Equal(entries, 1))
	instance := w.Make(ec2.InstanceType, "node", props{
		"ami": "ami-0123456789abcdef0", "instanceType": "m7i.large", "subnetId": w.subnetA.ID,
		"tags": map[string]any{eks.ClusterNameTag: "auto", eks.NodePoolTag: "general-purpose"},
	})
	assert.NilError(t, w.Delete(cluster))
	for r := range w.Cloud.Each(ec2.InstanceType, "eu-central-1") {
		assert.Check(t, r.ID != instance.ID, "the node outlives its cluster")
	}
}

func TestAddonVersions(t *testing.T) {
	w := newWorld(t)
	for _, test := range []struct{ addon, kubernetes, byDefault, mostRecent string }{
		{"coredns", "1.32", "v1.11.4-eksbuild.22", "v1.11.4-eksbuild.24"},
		{"coredns", "1.34", "v1.12.3-eksbuild.1", "v1.12.4-eksbuild.1"},
		{"coredns", "1.35", "v1.12.4-eksbuild.1", "v1.13.2-eksbuild.4"},
		{"vpc-cni", "1.31", "v1.19.0-eksbuild.1", "v1.20.5-eksbuild.1"},
		{"vpc-cni", "1.34", "v1.20.1-eksbuild.3", "v1.20.5-eksbuild.1"},
		{"vpc-cni", "1.35", "v1.20.4-eksbuild.2", "v1.20.5-eksbuild.1"},
		{"kube-proxy", "1.35", "v1.35.0-eksbuild.2", "v1.35.0-eksbuild.2"},
	} {
		for mostRecent, want := range map[bool]string{false: test.byDefault, true: test.mostRecent} {
			got, err := w.Invoke("aws:eks/getAddonVersion:getAddonVersion", props{
				"addonName": test.addon, "kubernetesVersion": test.kubernetes, "mostRecent": mostRecent,
			})
			assert.NilError(t, err)
			assert.Check(t, is.Equal(got["version"], want), "%s for %s, most recent: %t", test.addon, test.kubernetes, mostRecent)
		}
	}
	for _, args := range []props{{"addonName": "nothing", "kubernetesVersion": "1.34"}, {"addonName": "coredns", "kubernetesVersion": "1.99"}} {
		w.unanswered("aws:eks/getAddonVersion:getAddonVersion", args, "empty result")
	}
}

// TestAddonFollows: an addon made without a version has the default one. To write that
// down is no change; another version is an update in place, that its outputs show.
func TestAddonFollows(t *testing.T) {
	w := newWorld(t)
	addon := w.Make(eks.AddonType, "cni", props{"clusterName": "demo", "addonName": "vpc-cni"})
	version := func() any { _, out := w.read(addon); return out["addonVersion"] }
	assert.Check(t, is.Equal(version(), "v1.20.1-eksbuild.3"))

	same := w.Diff(addon, props{"addonVersion": "v1.20.1-eksbuild.3"})
	assert.Check(t, is.Equal(same.Changes, pulumirpc.DiffResponse_DIFF_NONE), "%v", same)
	other := w.Diff(addon, props{"addonVersion": "v1.20.4-eksbuild.2"})
	assert.Check(t, is.DeepEqual(other.Diffs, []string{"addonVersion"}))
	assert.Check(t, is.Len(other.Replaces, 0))

	assert.NilError(t, w.Update(addon, props{"addonVersion": "v1.20.4-eksbuild.2"}))
	assert.Check(t, is.Equal(version(), "v1.20.4-eksbuild.2"))
}
