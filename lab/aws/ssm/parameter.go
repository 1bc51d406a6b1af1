package ssm

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ssm"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/kms"
	"tombolo/lab/standin"
)

// ParameterType is the type of a parameter.
const ParameterType = "aws:ssm/parameter:Parameter"

// The tiers of a parameter, and the type whose value is encrypted.
const (
	standard     = "Standard"
	advanced     = "Advanced"
	intelligent  = "Intelligent-Tiering"
	secureString = "SecureString"
)

// The longest values, in characters:
// https://docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-advanced-parameters.html
const (
	mostInStandard = 4096
	mostInAdvanced = 8192
)

// maxLevels of a name:
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_PutParameter.html,
// as all refusals of a parameter.
const maxLevels = 15

// Types are parameters.
func Types() map[string]*standin.Type {
	return map[string]*standin.Type{
		ParameterType: {
			Constructor: ssm.NewParameter,
			Noun:        "SSM Parameter",
			API:         standin.API{Service: "SSM", Create: "PutParameter", Update: "PutParameter", Remove: "DeleteParameter"},
			// internal/service/ssm/parameter.go. It replaces a parameter whose tier
			// goes from Advanced to Standard, too, which nothing here does.
			ForceNew: []string{"dataType", "name"},
			Autoname: standin.Autoname{Property: "name", Max: 2048},
			Validate: validateParameter,
			Create:   createParameter,
			Update:   updateParameter,
			Takes:    standin.Timing{Create: time.Second, Update: time.Second, Remove: time.Second},
		},
	}
}

// validateParameter is what the provider refuses by itself.
func validateParameter(in standin.Props) []standin.Problem {
	problems := standin.OneOf(in, "dataType", "aws:ec2:image", "aws:ssm:integration", "text")
	const both = `"insecure_value": one of ` + "`insecure_value,value,value_wo`"
	switch value, insecure := in.Has("value"), in.Has("insecureValue"); {
	case value && insecure:
		problems = append(problems, standin.Problem{Path: "insecureValue", Reason: "Invalid combination of arguments. " + both + " can be specified, but `insecure_value,value` were specified."})
	case !value && !insecure:
		problems = append(problems, standin.Problem{Path: "value", Reason: "Invalid combination of arguments. " + both + " must be specified"})
	case insecure && in.Str("type") == secureString:
		problems = append(problems, standin.Problem{Path: "insecureValue", Reason: "invalid configuration, cannot set type = SecureString and insecure_value"})
	}
	return problems
}

func createParameter(c *standin.Call) (string, error) {
	name := c.In().Str("name")
	if err := checkName(c, name); err != nil {
		return "", err
	}
	if c.Find(ParameterType, name) != nil && !c.In().Boolean("overwrite") {
		return "", c.Refusef("ParameterAlreadyExists", "The parameter already exists. To overwrite this value, set the overwrite option in the request to true.")
	}
	out := c.Out()
	out["arn"] = account.ARN(c, "ssm", "parameter/"+strings.TrimPrefix(name, "/"))
	out["version"] = 1.0
	out.SetDefault("dataType", "text")
	return name, putParameter(c)
}

func updateParameter(c *standin.Call) error {
	if c.Old != nil && c.Old.Outputs.Str("type") != c.In().Str("type") {
		return c.Refusef("HierarchyTypeMismatchException", "Parameter Store does not support changing a parameter type in a hierarchy. "+
			"For example, you can't change a parameter from a String type to a SecureString type. You must create a new, unique parameter.")
	}
	if version, ok := c.Out()["version"].(float64); ok {
		c.Out()["version"] = version + 1
	}
	return putParameter(c)
}

// levels are the parts of a name.
var levels = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

func checkName(c *standin.Call, name string) error {
	parts := strings.Split(strings.TrimPrefix(name, "/"), "/")
	first := strings.ToLower(parts[0])
	malformed := slices.ContainsFunc(parts, func(p string) bool { return !levels.MatchString(p) })
	switch {
	case strings.HasPrefix(first, "aws") && strings.HasPrefix(name, "/"):
		return c.Refusef("AccessDeniedException", "No access to reserved parameter name: %s.", name)
	case strings.HasPrefix(first, "aws") || strings.HasPrefix(first, "ssm") || malformed:
		return c.Refusef("ValidationException", `Parameter name: can't be prefixed with "aws" or "ssm" (case-insensitive). If formed as a path, it can consist of sub-paths `+
			"divided by slash symbol; each sub-path can be formed as a mix of letters, numbers and the following 3 symbols .-_")
	case len(parts) > 1 && !strings.HasPrefix(name, "/"):
		return c.Refusef("ValidationException", "Parameter name must be a fully qualified name.")
	case len(parts) > maxLevels:
		return c.Refusef("HierarchyLevelLimitExceededException", "A hierarchy can have a maximum of %d levels.", maxLevels)
	}
	return nil
}

// putParameter holds the value to what PutParameter takes, and writes what it answers.
func putParameter(c *standin.Call) error {
	in, out := c.In(), c.Out()
	value := in.Str("value")
	if in.Has("insecureValue") {
		value = in.Str("insecureValue")
	}
	tier := in.Str("tier")
	if tier == "" || tier == intelligent {
		out["tier"] = standard
		if tier == intelligent && len(value) > mostInStandard {
			out["tier"] = advanced
		}
	}
	if err := checkValue(c, value, out.Str("tier")); err != nil {
		return err
	}
	out["value"] = value
	if in.Str("type") != secureString {
		return nil
	}
	// The account's own key for Parameter Store is the default.
	out.SetDefault("keyId", "alias/aws/ssm")
	if key := out.Str("keyId"); key != "alias/aws/ssm" {
		if _, err := kms.UsableKey(c, key); err != nil {
			return c.Refusef("InvalidKeyId", "Invalid keyId %s", key)
		}
	}
	return nil
}

func checkValue(c *standin.Call, value, tier string) error {
	most := map[string]int{standard: mostInStandard, advanced: mostInAdvanced}[tier]
	switch {
	case value == "":
		return c.Refusef("ValidationException", "1 validation error detected: Value '' at 'value' failed to satisfy constraint: Member must have length greater than or equal to 1.")
	case strings.Contains(value, "{{") && strings.Contains(value, "}}"):
		return c.Refusef("ValidationException", "Parameter value can't nest another parameter. Do not use \"{{}}\" in the value.")
	case len(value) > most && tier == standard:
		return c.Refusef("ValidationException", "Standard tier parameters support a maximum parameter value of %d characters. "+
			"To create a larger parameter value, upgrade the parameter to use the advanced-parameter tier.", most)
	case len(value) > most:
		return c.Refusef("ValidationException", "Advanced tier parameters support a maximum parameter value of %d characters.", most)
	}
	pattern := c.In().Str("allowedPattern")
	if pattern == "" {
		return nil
	}
	allowed, err := regexp.Compile(pattern)
	if err != nil {
		return c.Refusef("InvalidAllowedPatternException", "The request does not meet the regular expression requirement.")
	}
	if !allowed.MatchString(value) {
		return c.Refusef("ParameterPatternMismatchException", "Parameter value, cannot be validated against allowedPattern: %s", pattern)
	}
	return nil
}
