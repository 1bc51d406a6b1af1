package aws

import (
	"encoding/base64"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/aws/ec2"
	"tombolo/lab/aws/eks"
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
		{"iops of gp3", disk(map[string]any{"volumeType": "gp3", "iops": 20000}), "is not in the range of 3000 to 16000 for gp3"},
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
