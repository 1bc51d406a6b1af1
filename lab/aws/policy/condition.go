package policy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tombolo/lab/standin"
)

// conditionOperators of IAM. Source:
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html
var conditionOperators = []string{
	"StringEquals", "StringNotEquals", "StringEqualsIgnoreCase", "StringNotEqualsIgnoreCase", "StringLike", "StringNotLike",
	"NumericEquals", "NumericNotEquals", "NumericLessThan", "NumericLessThanEquals", "NumericGreaterThan", "NumericGreaterThanEquals",
	"DateEquals", "DateNotEquals", "DateLessThan", "DateLessThanEquals", "DateGreaterThan", "DateGreaterThanEquals",
	"Bool", "BinaryEquals", "IpAddress", "NotIpAddress", "ArnEquals", "ArnLike", "ArnNotEquals", "ArnNotLike", "Null",
}

// conditionKey is a vendor and a name, such as aws:ResourceTag/team, or the
// issuer of tokens and a claim, such as oidc.example.com/id/A:sub.
var conditionKey = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9./_-]*:[A-Za-z][^\s]*$`)

// badCondition says what is wrong with a statement's conditions: operators that
// do not exist, keys without a vendor, values that are no text.
func badCondition(condition map[string]map[string]any) string {
	for _, operator := range standin.SortedKeys(condition) {
		if !knownOperator(operator) {
			return fmt.Sprintf("Invalid Condition type : %s.", operator)
		}
		for _, key := range standin.SortedKeys(condition[operator]) {
			if !conditionKey.MatchString(key) {
				return "Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc."
			}
			if badConditionValue(operator, condition[operator][key]) {
				return "Syntax errors in policy."
			}
		}
	}
	return ""
}

func knownOperator(operator string) bool {
	name := strings.TrimPrefix(strings.TrimPrefix(operator, "ForAllValues:"), "ForAnyValue:")
	if base, optional := strings.CutSuffix(name, "IfExists"); optional && base != "Null" {
		name = base
	}
	return slices.Contains(conditionOperators, name)
}

func badConditionValue(operator string, value any) bool {
	switch value := value.(type) {
	case []any:
		return slices.ContainsFunc(value, func(v any) bool {
			_, nested := v.([]any)
			return nested || badConditionValue(operator, v)
		})
	case bool:
		return false
	case string:
		return isTruth(operator) && value != "true" && value != "false"
	case float64:
		return isTruth(operator)
	default:
		return true
	}
}

// isTruth reports whether an operator compares with true or false. A policy
// variable is possible too, but not supported here.
func isTruth(operator string) bool {
	return strings.HasSuffix(operator, "Null") || strings.TrimSuffix(operator, "IfExists") == "Bool"
}
