package account

import (
	"fmt"
	"slices"
	"strings"

	awssdk "github.com/pulumi/pulumi-aws/sdk/v6/go/aws"

	"tombolo/lab/standin"
)

// Configuration of the AWS provider. Nothing of one region is in another.
func Configuration() standin.Configuration {
	return standin.Configuration{
		Settings: awssdk.ProviderArgs{}.ElementType(),
		Replaces: []string{"region"},
		Check:    checkSettings,
		Session: func(config standin.Props) (region string, tags map[string]string) {
			return config.Str("region"), config.Sub("defaultTags").Strs("tags")
		},
		Account: func(config standin.Props) string {
			if arn := strings.SplitN(config.Sub("assumeRole").Str("roleArn"), ":", 6); len(arn) == 6 {
				return arn[4]
			}
			return ""
		},
	}
}

// checkSettings refuses what the AWS provider refuses: regions that do not
// exist, other accounts.
func checkSettings(c *standin.Cloud, config standin.Props) []standin.Problem {
	var problems []standin.Problem
	if region := config.Str("region"); region != "" && Regions[region] == nil {
		problems = append(problems, standin.Problem{Path: "region", Reason: "invalid AWS Region: " + region})
	}
	if reason := accountGuard(c, config); reason != "" {
		problems = append(problems, standin.Problem{Path: "allowedAccountIds", Reason: reason})
	}
	return problems
}

func accountGuard(c *standin.Cloud, config standin.Props) string {
	account := c.Account
	allowed, forbidden := config.List("allowedAccountIds"), config.List("forbiddenAccountIds")
	if len(allowed) > 0 && !standin.HasUnknown(config["allowedAccountIds"]) && !slices.Contains(allowed, account) {
		return fmt.Sprintf("AWS account ID not allowed: %s (allowedAccountIds: %s)", account, strings.Join(allowed, ", "))
	}
	if slices.Contains(forbidden, account) {
		return fmt.Sprintf("AWS account ID not allowed: %s (it is among forbiddenAccountIds)", account)
	}
	return ""
}

// ValidateTags checks tags against AWS's limits: 50 tags, keys of 128 and values
// of 256 characters, no keys that begin with aws:.
func ValidateTags(in standin.Props) []standin.Problem {
	var problems []standin.Problem
	tags := in.Sub("tags")
	if len(tags) > 50 {
		problems = append(problems, standin.Problem{Path: "tags", Reason: "a resource can have at most 50 tags"})
	}
	for _, key := range standin.SortedKeys(tags) {
		value, _ := tags[key].(string)
		switch {
		case len(key) == 0 || len(key) > 128:
			problems = append(problems, standin.Problem{Path: "tags", Reason: "a tag's key has 1 to 128 characters: " + key})
		case len(value) > 256:
			problems = append(problems, standin.Problem{Path: "tags", Reason: "a tag's value has at most 256 characters: " + key})
		case len(key) >= 4 && key[:4] == "aws:":
			problems = append(problems, standin.Problem{Path: "tags", Reason: "a tag's key must not begin with aws: " + key})
		}
	}
	return problems
}
