package apimodel

import (
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/arn"
)

// The parts of an ARN, as the provider checks them: internal/verify/validate.go of
// hashicorp/terraform-provider-aws, ValidARN.
var (
	arnPartition = regexp.MustCompile(`^aws(-[a-z]+)*$`)
	arnRegion    = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-\d$`)
	arnAccount   = regexp.MustCompile(`^(aws|aws-managed|third-party|\d{12}|cw.{10})$`)
)

// arns checks the shape of ARNs, which the models have as mere text. The
// provider names an input after what it holds.
func (c *check) arns(key, path string, v any) {
	text, known := v.(string)
	if !known || text == "" || key != "arn" && !strings.HasSuffix(key, "Arn") {
		return
	}
	if reason := arnProblem(text); reason != "" {
		c.refuse(path, "%q (%s) is an invalid ARN: %s", key, text, reason)
	}
}

func arnProblem(text string) string {
	parts, err := arn.Parse(text)
	switch {
	case err != nil:
		return err.Error()
	case !arnPartition.MatchString(parts.Partition):
		return "invalid partition value (expecting to match regular expression: " + arnPartition.String() + ")"
	case parts.Region != "" && !arnRegion.MatchString(parts.Region):
		return "invalid region value (expecting to match regular expression: " + arnRegion.String() + ")"
	case parts.AccountID != "" && !arnAccount.MatchString(parts.AccountID):
		return "invalid account ID value (expecting to match regular expression: " + arnAccount.String() + ")"
	case parts.Resource == "":
		return "missing resource value"
	}
	return ""
}
