package ec2

import (
	"regexp"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"

	"tombolo/lab/aws/account"
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
			Create:   createLaunchTemplate,
			Update:   updateLaunchTemplate,
			Takes:    standin.Timing{Create: 2 * time.Second, Remove: time.Second},
		},
	}
}

var launchTemplateName = regexp.MustCompile(`^[0-9A-Za-z()./_\-]{3,128}$`)

func validateLaunchTemplate(in standin.Props) []standin.Problem {
	return standin.Matching(in, "name", launchTemplateName, "expected length of name to be in the range (3 - 128), of letters, digits and ().-/_, got ")
}

func createLaunchTemplate(c *standin.Call) (string, error) {
	if c.Other("name", c.In().Str("name")) != nil {
		return "", c.Refusef("InvalidLaunchTemplateName.AlreadyExistsException", "Launch template name already in use.")
	}
	if err := checkLaunchTemplate(c); err != nil {
		return "", err
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
	if err := checkLaunchTemplate(c); err != nil {
		return err
	}
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
	options := c.In().Sub("metadataOptions")
	if hops := options.Integer("httpPutResponseHopLimit"); options.Has("httpPutResponseHopLimit") && (hops < 1 || hops > 64) {
		return c.Refusef("InvalidParameterValue", "Invalid value '%d' for HttpPutResponseHopLimit. It must be between 1 and 64.", hops)
	}
	for _, mapping := range c.In().Objects("blockDeviceMappings") {
		disk := mapping.Sub("ebs")
		if size := disk.Integer("volumeSize"); disk.Has("volumeSize") && (size < 1 || size > 65536) {
			return c.Refusef("InvalidParameterValue", "Volume of %dGiB is outside of the allowed range of 1GiB to 65536GiB", size)
		}
	}
	return nil
}
