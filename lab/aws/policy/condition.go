package policy

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

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

// meets reports whether all conditions of a statement hold.
func (q Inquiry) meets(condition map[string]map[string]any) bool {
	for operator, keys := range condition {
		for key, wanted := range keys {
			if !q.holds(operator, key, conditionValues(wanted)) {
				return false
			}
		}
	}
	return true
}

// holds reports whether a key's values in the inquiry are as one condition
// wants them. Source for missing and for many values: "Condition operators" and
// "Multivalued context keys" in the IAM User Guide.
func (q Inquiry) holds(operator, key string, wanted []string) bool {
	quantifier, name, quantified := strings.Cut(operator, ":")
	if !quantified {
		quantifier, name = "", operator
	}
	values := q.Context[strings.ToLower(key)]
	if name == "Null" {
		return slices.Contains(wanted, strconv.FormatBool(len(values) == 0))
	}
	name, ifExists := strings.CutSuffix(name, "IfExists")
	negated := strings.Contains(name, "Not")
	base := strings.Replace(name, "Not", "", 1)
	suits := func(value string) bool {
		return negated != slices.ContainsFunc(wanted, func(w string) bool { return q.compare(base, value, w) })
	}
	switch {
	case len(values) == 0 && (ifExists || quantifier == "ForAllValues"):
		return true
	case len(values) == 0:
		return negated && quantifier == ""
	case quantifier == "ForAllValues":
		return !slices.ContainsFunc(values, func(value string) bool { return !suits(value) })
	default:
		return slices.ContainsFunc(values, suits)
	}
}

// compare applies an operator that is not negated.
func (q Inquiry) compare(operator, value, wanted string) bool {
	same := func(s string) string { return s }
	plain, known := q.expand(wanted, same, same)
	if !known {
		return false
	}
	switch {
	case operator == "StringEquals", operator == "BinaryEquals":
		return value == plain
	case operator == "StringEqualsIgnoreCase", operator == "Bool":
		return strings.EqualFold(value, plain)
	case operator == "StringLike":
		expression, _ := q.expand(wanted, wildcards, regexp.QuoteMeta)
		return like(expression, value)
	case operator == "ArnEquals", operator == "ArnLike":
		return q.likeARN(value, wanted)
	case operator == "IpAddress":
		return inBlock(value, plain)
	case strings.HasPrefix(operator, "Numeric"):
		a, okA := standin.Number(value)
		b, okB := standin.Number(plain)
		return okA && okB && ordered(strings.TrimPrefix(operator, "Numeric"), a < b, a == b)
	case strings.HasPrefix(operator, "Date"):
		a, okA := conditionTime(value)
		b, okB := conditionTime(plain)
		return okA && okB && ordered(strings.TrimPrefix(operator, "Date"), a.Before(b), a.Equal(b))
	default:
		return false
	}
}

// likeARN matches each of the six parts of an ARN by itself.
func (q Inquiry) likeARN(value, wanted string) bool {
	values, patterns := strings.SplitN(value, ":", 6), strings.SplitN(wanted, ":", 6)
	if wanted == "*" {
		return true
	}
	if len(values) != 6 || len(patterns) != 6 {
		return false
	}
	for i, pattern := range patterns {
		expression, _ := q.expand(pattern, wildcards, regexp.QuoteMeta)
		if !like(expression, values[i]) {
			return false
		}
	}
	return true
}

func inBlock(value, block string) bool {
	address, err := netip.ParseAddr(value)
	if err != nil {
		return false
	}
	if single, err := netip.ParseAddr(block); err == nil {
		return address == single
	}
	prefix, err := netip.ParsePrefix(block)
	return err == nil && prefix.Contains(address)
}

func ordered(relation string, less, equal bool) bool {
	switch relation {
	case "Equals":
		return equal
	case "LessThan":
		return less
	case "LessThanEquals":
		return less || equal
	case "GreaterThan":
		return !less && !equal
	case "GreaterThanEquals":
		return !less
	default:
		return false
	}
}

// conditionTime reads a date of ISO 8601, in the forms that the W3C's profile
// has in common with AWS's examples, or seconds since 1970.
func conditionTime(text string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	seconds, ok := standin.Number(text)
	return time.Unix(int64(seconds), 0), ok
}

// conditionValues are the values of a condition as texts.
func conditionValues(value any) []string {
	switch value := value.(type) {
	case []any:
		var out []string
		for _, v := range value {
			out = append(out, conditionValues(v)...)
		}
		return out
	case string:
		return []string{value}
	case bool:
		return []string{strconv.FormatBool(value)}
	case float64:
		return []string{strconv.FormatFloat(value, 'f', -1, 64)}
	default:
		return nil
	}
}
