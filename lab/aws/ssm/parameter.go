package ssm

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ssm"

	"tombolo/lab/aws/account"
	"tombolo/lab/standin"
)

// ParameterType is the type of a parameter.
const ParameterType = "aws:ssm/parameter:Parameter"

// secureString is the type whose value is encrypted.
const secureString = "SecureString"

// mostInStandard is the longest value of the tier Standard, in characters:
// https://docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-advanced-parameters.html
const mostInStandard = 4096

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
			// internal/service/ssm/parameter.go
			ForceNew: []string{"name"},
			Autoname: standin.Autoname{Property: "name", Max: 2048},
			Unplayed: []string{"allowedPattern", "dataType", "insecureValue", "keyId", "overwrite", "tier"},
			Validate: validateParameter,
			Create:   createParameter,
			Update:   updateParameter,
			Takes:    standin.Timing{Create: time.Second, Update: time.Second, Remove: time.Second},
		},
	}
}

// validateParameter is what the provider refuses by itself.
func validateParameter(in standin.Props) []standin.Problem {
	if in.Has("value") {
		return nil
	}
	return []standin.Problem{{Path: "value", Reason: "Invalid combination of arguments. \"insecure_value\": one of `insecure_value,value,value_wo` must be specified"}}
}

func createParameter(c *standin.Call) (string, error) {
	name := c.In().Str("name")
	if err := checkName(c, name); err != nil {
		return "", err
	}
	if c.Find(ParameterType, name) != nil {
		return "", c.Refusef("ParameterAlreadyExists", "The parameter already exists. To overwrite this value, set the overwrite option in the request to true.")
	}
	out := c.Out()
	out["arn"] = account.ARN(c, "ssm", "parameter/"+strings.TrimPrefix(name, "/"))
	out["version"], out["dataType"], out["tier"] = 1.0, "text", "Standard"
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
	value := c.In().Str("value")
	switch {
	case value == "":
		return c.Refusef("ValidationException", "1 validation error detected: Value '' at 'value' failed to satisfy constraint: Member must have length greater than or equal to 1.")
	case strings.Contains(value, "{{") && strings.Contains(value, "}}"):
		return c.Refusef("ValidationException", "Parameter value can't nest another parameter. Do not use \"{{}}\" in the value.")
	case len(value) > mostInStandard:
		return c.Refusef("ValidationException", "Standard tier parameters support a maximum parameter value of %d characters. "+
			"To create a larger parameter value, upgrade the parameter to use the advanced-parameter tier.", mostInStandard)
	}
	if c.In().Str("type") == secureString {
		// The account's own key for Parameter Store.
		c.Out()["keyId"] = "alias/aws/ssm"
	}
	return nil
}
