package aws

import (
	"regexp"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
)

const launchTemplateType = "aws:ec2/launchTemplate:LaunchTemplate"

func computeTypes() map[string]*resourceType {
	return map[string]*resourceType{
		launchTemplateType: {
			constructor: ec2.NewLaunchTemplate,
			noun:        "EC2 Launch Template",
			api:         api{service: "EC2", create: "CreateLaunchTemplate", update: "CreateLaunchTemplateVersion", remove: "DeleteLaunchTemplate"},
			// internal/service/ec2/ec2_launch_template.go
			forceNew: []string{"name", "namePrefix"},
			autoname: autoname{property: "name", max: 128},
			// Tags are the template's, not a version's.
			renewed:      []string{"latestVersion"},
			renewedNotBy: []string{"defaultVersion", "tags", "updateDefaultVersion"},
			references: []reference{
				{path: []string{"vpcSecurityGroupIds"}, to: securityGroupType, missing: missingGroup(), weak: true},
			},
			validate: validateLaunchTemplate,
			create:   createLaunchTemplate,
			update:   updateLaunchTemplate,
			takes:    timing{create: 2 * time.Second, remove: time.Second},
		},
	}
}

var launchTemplateName = regexp.MustCompile(`^[0-9A-Za-z()./_\-]{3,128}$`)

func validateLaunchTemplate(in props) []problem {
	name := in.str("name")
	if name != "" && !launchTemplateName.MatchString(name) {
		return []problem{{"name", "expected length of name to be in the range (3 - 128), of letters, digits and ().-/_, got " + name}}
	}
	return nil
}

func createLaunchTemplate(c *call) (string, error) {
	name := c.in().str("name")
	for r := range c.others() {
		if r.Outputs.str("name") == name {
			return "", c.refusef("InvalidLaunchTemplateName.AlreadyExistsException", "Launch template name already in use.")
		}
	}
	if err := checkLaunchTemplate(c); err != nil {
		return "", err
	}
	id, out := newID("lt"), c.out()
	out["arn"] = c.arn("ec2", "launch-template/"+id)
	out["latestVersion"], out["defaultVersion"] = 1, 1
	out.setDefault("metadataOptions", map[string]any{})
	return id, nil
}

// updateLaunchTemplate makes a new version where one is due: versions do not
// change.
func updateLaunchTemplate(c *call) error {
	if err := checkLaunchTemplate(c); err != nil {
		return err
	}
	latest := c.old.Outputs.integer("latestVersion")
	if c.typ.renews(c.old.Inputs, c.in()) {
		latest++
	}
	c.out()["latestVersion"] = latest
	switch {
	case c.in().boolean("updateDefaultVersion"):
		c.out()["defaultVersion"] = latest
	case c.in().has("defaultVersion"):
		c.out()["defaultVersion"] = c.in()["defaultVersion"]
	}
	return nil
}

func checkLaunchTemplate(c *call) error {
	if typ := c.in().str("instanceType"); typ != "" && !knownInstance(typ) {
		return c.refusef("InvalidParameterValue", "The following supplied instance types do not exist: [%s]", typ)
	}
	options := c.in().sub("metadataOptions")
	if tokens := options.str("httpTokens"); tokens != "" && tokens != "required" && tokens != "optional" {
		return c.refusef("InvalidParameterValue", "Invalid value '%s' for HttpTokens.", tokens)
	}
	if hops := options.integer("httpPutResponseHopLimit"); options.has("httpPutResponseHopLimit") && (hops < 1 || hops > 64) {
		return c.refusef("InvalidParameterValue", "Invalid value '%d' for HttpPutResponseHopLimit. It must be between 1 and 64.", hops)
	}
	for _, mapping := range c.in().objects("blockDeviceMappings") {
		disk := mapping.sub("ebs")
		if size := disk.integer("volumeSize"); disk.has("volumeSize") && (size < 1 || size > 65536) {
			return c.refusef("InvalidParameterValue", "Volume of %dGiB is outside of the allowed range of 1GiB to 65536GiB", size)
		}
	}
	return nil
}
