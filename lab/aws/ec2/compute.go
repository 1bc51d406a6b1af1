package ec2

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/kms"
	"tombolo/lab/standin"
)

func computeTypes() map[string]*standin.Type {
	return map[string]*standin.Type{
		LaunchTemplateType: {
			Constructor: ec2.NewLaunchTemplate,
			Noun:        "EC2 Launch Template",
			API:         standin.API{Service: "EC2", Create: "CreateLaunchTemplate", Update: "CreateLaunchTemplateVersion", Remove: "DeleteLaunchTemplate"},
			// internal/service/ec2/ec2_launch_template.go
			ForceNew: []string{"name", "namePrefix"},
			Autoname: standin.Autoname{Property: "name", Max: 128},
			// Tags are the template's, not a version's.
			Renewed:      []string{"latestVersion"},
			RenewedNotBy: []string{"defaultVersion", "tags", "updateDefaultVersion"},
			References: []standin.Reference{
				{Path: []string{"vpcSecurityGroupIds"}, To: SecurityGroupType, Missing: missingGroup(), Weak: true},
			},
			Validate: validateLaunchTemplate,
			Put:      checkLaunchTemplate,
			Create:   createLaunchTemplate,
			Update:   updateLaunchTemplate,
			Takes:    standin.Timing{Create: 2 * time.Second, Remove: time.Second},
		},
	}
}

// templateNames is what a launch template's name matches: AWS's model has it as mere text.
// Source: ValidLaunchTemplateName in internal/verify/validate.go of hashicorp/terraform-provider-aws
var templateNames = regexp.MustCompile(`^[0-9A-Za-z()./_-]{3,128}$`)

func validateLaunchTemplate(in standin.Props) []standin.Problem {
	problems := standin.Matching(in, "name", templateNames, "\"name\" must have 3 to 128 alphanumeric characters and ()./_ symbols: ")
	for i, mapping := range in.Objects("blockDeviceMappings") {
		disk, at := mapping.Sub("ebs"), fmt.Sprintf("blockDeviceMappings[%d].ebs.", i)
		if t := disk.Integer("throughput"); disk.Has("throughput") && (t < 125 || t > 1000) {
			problems = append(problems, standin.Problem{Path: at + "throughput", Reason: fmt.Sprintf("expected throughput to be in the range (125 - 1000), got %d", t)})
		}
		if key := disk.Str("kmsKeyId"); key != "" && !strings.HasPrefix(key, "arn:") {
			problems = append(problems, standin.Problem{Path: at + "kmsKeyId", Reason: fmt.Sprintf("(%s) is an invalid ARN: arn: invalid prefix", key)})
		}
	}
	return problems
}

func createLaunchTemplate(c *standin.Call) (string, error) {
	if c.Other("name", c.In().Str("name")) != nil {
		return "", c.Refusef("InvalidLaunchTemplateName.AlreadyExistsException", "Launch template name already in use.")
	}
	id, out := account.NewID("lt"), c.Out()
	out["arn"] = account.ARN(c, "ec2", "launch-template/"+id)
	out["latestVersion"], out["defaultVersion"] = 1, 1
	out.SetDefault("metadataOptions", map[string]any{})
	return id, nil
}

// updateLaunchTemplate makes a new version where one is due: versions do not
// change.
func updateLaunchTemplate(c *standin.Call) error {
	latest := c.Old.Outputs.Integer("latestVersion")
	if c.Type.Renews(c.Old.Inputs, c.In()) {
		latest++
	}
	c.Out()["latestVersion"] = latest
	switch {
	case c.In().Boolean("updateDefaultVersion"):
		c.Out()["defaultVersion"] = latest
	case c.In().Has("defaultVersion"):
		c.Out()["defaultVersion"] = c.In()["defaultVersion"]
	}
	return nil
}

func checkLaunchTemplate(c *standin.Call) error {
	if typ := c.In().Str("instanceType"); typ != "" && !KnownInstance(typ) {
		return c.Refusef("InvalidParameterValue", "The following supplied instance types do not exist: [%s]", typ)
	}
	if id := c.In().Str("imageId"); id != "" && !imageID.MatchString(id) && !strings.HasPrefix(id, "resolve:ssm:") {
		return c.Refusef("InvalidAMIID.Malformed", "Invalid id: %q (expecting \"ami-...\")", id)
	}
	if err := checkUserData(c); err != nil {
		return err
	}
	options := c.In().Sub("metadataOptions")
	if hops := options.Integer("httpPutResponseHopLimit"); options.Has("httpPutResponseHopLimit") && (hops < 1 || hops > 64) {
		return c.Refusef("InvalidParameterValue", "Invalid value '%d' for HttpPutResponseHopLimit. It must be between 1 and 64.", hops)
	}
	for _, mapping := range c.In().Objects("blockDeviceMappings") {
		disk := mapping.Sub("ebs")
		if size := disk.Integer("volumeSize"); disk.Has("volumeSize") && (size < 1 || size > 65536) {
			return c.Refusef("InvalidParameterValue", "Volume of %dGiB is outside of the allowed range of 1GiB to 65536GiB", size)
		}
		if err := checkDisk(c, disk); err != nil {
			return err
		}
	}
	return nil
}

// checkUserData holds it to its size before base64. Source:
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-add-user-data.html
func checkUserData(c *standin.Call) error {
	data, err := base64.StdEncoding.DecodeString(c.In().Str("userData"))
	switch {
	case err != nil:
		return c.Refusef("InvalidUserData.Malformed", "Invalid BASE64 encoding of user data.")
	case len(data) > 16*1024:
		return c.Refusef("InvalidParameterValue", "User data is limited to 16384 bytes")
	}
	return nil
}

// diskLimits of a kind of volume. Source:
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_EbsBlockDevice.html; the ratios
// to the size are from https://docs.aws.amazon.com/ebs/latest/userguide/ebs-volume-types.html
var diskLimits = map[string]struct{ least, most, perGiB int }{
	"gp3": {3000, 80000, 500}, "io1": {100, 64000, 50}, "io2": {100, 256000, 1000},
}

// checkDisk holds IOPS and throughput to the kind of volume, and the key to those there are.
// The provider takes a throughput of 125 to 1000 and a key's ARN only
// (internal/service/ec2/ec2_launch_template.go).
func checkDisk(c *standin.Call, disk standin.Props) error {
	kind, iops, throughput := cmp.Or(disk.Str("volumeType"), "gp2"), disk.Integer("iops"), disk.Integer("throughput")
	limits, provisioned := diskLimits[kind]
	switch {
	case !provisioned && iops > 0:
		return c.Refusef("InvalidParameterCombination", "The parameter iops is not supported for %s volumes.", kind)
	case kind != "gp3" && throughput > 0:
		return c.Refusef("InvalidParameterCombination", "The parameter throughput is not supported for %s volumes.", kind)
	case iops == 0 && (kind == "io1" || kind == "io2"):
		return c.Refusef("MissingParameter", "The parameter iops must be specified for %s volumes.", kind)
	case iops > 0 && (iops < limits.least || iops > limits.most):
		return c.Refusef("InvalidParameterValue", "Volume iops of %d is not in the range of %d to %d for %s.", iops, limits.least, limits.most, kind)
	case iops > 0 && disk.Has("volumeSize") && iops > limits.perGiB*disk.Integer("volumeSize"):
		return c.Refusef("InvalidParameterCombination", "Iops to volume size ratio is too high; maximum is %d", limits.perGiB)
	case throughput*4 > max(iops, 3000):
		return c.Refusef("InvalidParameterCombination", "Throughput (MiBps) to iops ratio of %f is too high; maximum is 0.250000 MiBps per iops", float64(throughput)/float64(max(iops, 3000)))
	}
	if key := disk.Str("kmsKeyId"); key != "" {
		if disk.Str("encrypted") != "true" {
			return c.Refusef("InvalidParameterDependency", "The parameter KmsKeyId requires the parameter Encrypted to be set.")
		}
		if _, err := kms.UsableKey(c, key); err != nil {
			return err
		}
	}
	return nil
}
