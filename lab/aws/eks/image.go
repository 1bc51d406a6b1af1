package eks

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"mime"
	"net/mail"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"tombolo/internal/userdata"
	"tombolo/lab/aws/ec2"
	"tombolo/lab/standin"
)

// This file is about what nodes run: EKS's images or others, and the launch templates by which
// a group asks for them. What EKS refuses is said by
// https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html.

// customAMI is the type of a group whose image is not EKS's.
const customAMI = "CUSTOM"

// templateData is what the group's version of its launch template says. The stand-in has the
// newest version only, which is the one that the programs use.
func templateData(c *standin.Call) standin.Props {
	if lt := launchTemplate(c, c.In().Sub("launchTemplate")); lt != nil && len(c.In().Sub("launchTemplate")) > 0 {
		return lt.Inputs
	}
	return standin.Props{}
}

// ownImage is the image that the group's launch template names, "" for none.
func ownImage(c *standin.Call) string { return templateData(c).Str("imageId") }

// checkImage refuses what EKS refuses of a group's image, release and launch template.
func checkImage(c *standin.Call, cluster *standin.Record) error {
	in, template := c.In(), templateData(c)
	for _, key := range []string{"iamInstanceProfile", "instanceInitiatedShutdownBehavior", "hibernationOptions"} {
		if template.Has(key) {
			return c.Refusef("InvalidParameterException", "%s cannot be specified in the launch template of a managed node group", key)
		}
	}
	if err := checkTemplateTags(c, template); err != nil {
		return err
	}
	if template.Has("imageId") {
		return checkOwnImage(c, template)
	}
	if c.Old != nil && c.Old.Outputs.Str("amiType") == customAMI {
		return c.Refusef("InvalidParameterException", "You cannot switch from a custom AMI to an AMI of Amazon EKS; create a new node group")
	}
	if err := checkArchitecture(c); err != nil {
		return err
	}
	if err := checkMergedUserData(c, template); err != nil {
		return err
	}
	if release := in.Str("releaseVersion"); release != "" && !releaseFits(c, release) {
		return c.Refusef("InvalidParameterException", "Requested release version %s is not valid for kubernetes version %s.", release, versionOf(c, cluster))
	}
	return checkJoins(c, cluster, template)
}

// checkTemplateTags: Auto Scaling runs instances with the tags of the launch template, and an
// organisation's policy is about those of instances and of volumes.
func checkTemplateTags(c *standin.Call, template standin.Props) error {
	tags := map[string]standin.Props{}
	for _, s := range template.Objects("tagSpecifications") {
		tags[s.Str("resourceType")] = s.Sub("tags")
	}
	for _, kind := range []string{"instance", "volume"} {
		if key := c.Cloud.Tags.Lacks("RunInstances", tags[kind]); key != "" {
			return failed(c, "AccessDenied", "not authorized to perform ec2:RunInstances with an explicit deny in a service control policy: the "+kind+" has no tag "+key)
		}
	}
	return nil
}

// checkOwnImage: amiType, version and releaseVersion cannot be set with an image, and a group
// does not switch between EKS's image and another.
func checkOwnImage(c *standin.Call, template standin.Props) error {
	in := c.In()
	if c.Old != nil && c.Old.Outputs.Str("amiType") != customAMI {
		return c.Refusef("InvalidParameterException", "You cannot switch from an AMI of Amazon EKS to a custom AMI; create a new node group")
	}
	if kind := in.Str("amiType"); kind != "" && kind != customAMI {
		return c.Refusef("InvalidParameterException", "You cannot specify an AMI Type other than CUSTOM, when specifying an image id in your launch template.")
	}
	for _, key := range []string{"version", "releaseVersion"} {
		if in.Str(key) != "" {
			return c.Refusef("InvalidParameterException", "You cannot specify the field %s when using a custom AMI.", key)
		}
	}
	// EKS adds nothing to the user data, and nodes that are not told of the cluster do not join.
	cluster := c.Find(ClusterType, in.Str("clusterName"))
	data, _ := base64.StdEncoding.DecodeString(template.Str("userData"))
	for _, needed := range []string{cluster.ID, cluster.Outputs.Str("endpoint"), cluster.Outputs.Sub("certificateAuthority").Str("data")} {
		if !strings.Contains(string(data), needed) {
			return notJoining(c, "the user data does not name the cluster, its endpoint and its certificate authority")
		}
	}
	return checkJoins(c, cluster, template)
}

// checkJoins: EKS adds the cluster's security group only to a template without any, and that
// group admits only itself to the control plane.
func checkJoins(c *standin.Call, cluster *standin.Record, template standin.Props) error {
	groups := template.List("vpcSecurityGroupIds")
	if len(groups) > 0 && !slices.Contains(groups, cluster.Outputs.Sub("vpcConfig").Str("clusterSecurityGroupId")) {
		return notJoining(c, "their security groups do not let them reach the control plane")
	}
	vpc := cluster.Outputs.Sub("vpcConfig").Str("vpcId")
	for _, id := range groups {
		if group := c.Find(ec2.SecurityGroupType, id); group != nil && group.Inputs.Str("vpcId") != vpc {
			return c.Refusef("InvalidParameterException", "Security group %s is not in the VPC of the cluster, %s", id, vpc)
		}
	}
	return nil
}

func notJoining(c *standin.Call, why string) error {
	return failed(c, "NodeCreationFailure", "Instances failed to join the kubernetes cluster ("+why+")")
}

// failed is what EKS finds out after it has taken the call: the provider waits, and reports
// the health of the group.
func failed(c *standin.Call, code, message string) error {
	return fmt.Errorf("waiting for EKS Node Group (%s:%s) create: unexpected state 'CREATE_FAILED', wanted target 'ACTIVE'. last error: %s: %s",
		c.In().Str("clusterName"), c.In().Str("nodeGroupName"), code, message)
}

// checkArchitecture refuses an image that the instance types cannot run.
func checkArchitecture(c *standin.Call) error {
	kind, arch := c.In().Str("amiType"), ec2.InstanceArch(nodeInstanceTypes(c)[0])
	if kind == "" || kind == customAMI || strings.Contains(kind, map[string]string{"amd64": "x86_64", "arm64": "ARM_64"}[arch]) {
		return nil
	}
	return c.Refusef("InvalidParameterException", "%v is not a valid instance type for requested amiType %s", nodeInstanceTypes(c), kind)
}

func isBottlerocket(c *standin.Call) bool {
	return strings.HasPrefix(c.In().Str("amiType"), "BOTTLEROCKET")
}

// mostPods is how many pods a node of the group takes.
func mostPods(c *standin.Call, instanceType string) int {
	data, _ := base64.StdEncoding.DecodeString(templateData(c).Str("userData"))
	family := userdata.AL2023
	if isBottlerocket(c) {
		family = userdata.Bottlerocket
	}
	own, _ := userdata.Split(family, string(data))
	return cmp.Or(own.MaxPods, ec2.MostPods(instanceType))
}

// checkMergedUserData: EKS adds its own to user data that is a MIME archive, or TOML for
// Bottlerocket. The words are in terraform-aws-modules/terraform-aws-eks, issue 2955.
func checkMergedUserData(c *standin.Call, template standin.Props) error {
	data, _ := base64.StdEncoding.DecodeString(template.Str("userData"))
	if len(data) == 0 {
		return nil
	}
	if isBottlerocket(c) {
		var settings map[string]any
		if _, err := toml.Decode(string(data), &settings); err != nil {
			return failed(c, "Ec2LaunchTemplateInvalidConfiguration", "User data was not in the TOML format.")
		}
		return nil
	}
	message, err := mail.ReadMessage(strings.NewReader(string(data)))
	if err == nil {
		var kind string
		if kind, _, err = mime.ParseMediaType(message.Header.Get("Content-Type")); err == nil && strings.HasPrefix(kind, "multipart/") {
			return nil
		}
	}
	return failed(c, "Ec2LaunchTemplateInvalidConfiguration", "User data was not in the MIME multipart format.")
}

// versionOf the group's nodes.
func versionOf(c *standin.Call, cluster *standin.Record) string {
	if version := c.In().Str("version"); version != "" {
		return version
	}
	return cluster.Outputs.Str("version")
}

// releaseFits says that a release is of the group's version of Kubernetes. Bottlerocket's
// releases are for all.
func releaseFits(c *standin.Call, release string) bool {
	version, date, dashed := strings.Cut(release, "-")
	if isBottlerocket(c) {
		return dashed && len(date) == 8 && !strings.HasPrefix(version, c.In().Str("version")+".")
	}
	return dashed && len(date) == 8 && (c.In().Str("version") == "" || strings.HasPrefix(version, c.In().Str("version")+"."))
}

// releaseOf the image: the one that is asked for, or the newest. That of an image that is not
// EKS's is the image itself: "releaseVersion" in
// https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html.
func releaseOf(c *standin.Call) string {
	if image := ownImage(c); image != "" {
		return image
	}
	asked, newest := c.In().Str("releaseVersion"), c.Out().Str("version")+".0-20260101"
	if isBottlerocket(c) {
		newest = "1.50.0-1a2b3c4d"
	}
	if asked == "" {
		return newest
	}
	return asked
}
