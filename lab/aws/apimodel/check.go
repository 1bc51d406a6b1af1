package apimodel

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"tombolo/lab/standin"
)

// Check finds inputs of a type with values that AWS does not take: outside of
// the limits of their length or range, of another pattern, or not among the
// values that there are. Unknown values are passed over.
//
// The provider has most of these checks itself and makes them before anything is
// created, the rest is refused by AWS when the call is made; here all are made
// before.
func Check(token string, in standin.Props) []standin.Problem {
	c := newCheck(token)
	c.inputs(in)
	return c.problems
}

// Unmapped are the paths of inputs that no call takes by the models, and of
// which calls.json does not say so. A type without a mapping has all of them.
func Unmapped(token string, in standin.Props) []string {
	c := newCheck(token)
	c.inputs(in)
	return c.unmapped
}

type check struct {
	Mapping
	service
	problems []standin.Problem
	unmapped []string
}

func newCheck(token string) *check {
	m, _ := Of(token)
	return &check{Mapping: m, service: read().Services[m.Service]}
}

func (c *check) inputs(in standin.Props) {
	var sent []shape
	for _, path := range c.Sent {
		sent = append(sent, c.sent(path))
	}
	c.object(sent, "", "", in)
}

// object checks the properties of an object, of which each is in one of the
// shapes. Path is where it is, with the indices of lists, and plain without.
func (c *check) object(sent []shape, path, plain string, in map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(in)) {
		at, plainAt := join(path, key), join(plain, key)
		c.arns(key, at, in[key])
		if c.unsent(plainAt) {
			continue
		}
		of, found := c.find(sent, plainAt, key)
		if !found {
			c.unmapped = append(c.unmapped, plainAt)
			continue
		}
		c.value(of, at, plainAt, in[key])
	}
}

func (c *check) find(sent []shape, plain, key string) (shape, bool) {
	name, renamed := c.Names[plain]
	if !renamed {
		name = key
	}
	for _, at := range sent {
		if of, found := c.member(at, name); found {
			return of, true
		}
	}
	return shape{}, false
}

func (c *check) value(of shape, path, plain string, v any) {
	switch v := v.(type) {
	case standin.Props:
		c.value(of, path, plain, map[string]any(v))
	case map[string]any:
		if of = of.element(c.service); of.Type == "map" {
			c.entries(of, path, v)
			return
		}
		c.object([]shape{of}, path, plain, v)
	case []any:
		for i, e := range v {
			c.value(of.element(c.service), fmt.Sprintf("%s[%d]", path, i), plain, e)
		}
	case string:
		c.text(of.element(c.service), path, v)
	case float64:
		c.number(of.element(c.service), path, v)
	}
}

// entries checks the keys and values of a map.
func (c *check) entries(of shape, path string, entries map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		c.text(c.shape(of.Key), path, key)
		if value, known := entries[key].(string); known {
			c.text(c.shape(of.Value), path+"."+key, value)
		}
	}
}

func (c *check) text(of shape, path, v string) {
	n := float64(utf8.RuneCountInString(v))
	low, high := limits(of)
	switch expression := pattern(of.Pattern); {
	case of.Type != "string":
	case len(of.Enum) > 0 && !slices.Contains(of.Enum, v):
		c.refuse(path, "expected %s to be one of %q, got %s", path, of.Enum, v)
	case n < low || n > high:
		c.refuse(path, "expected length of %s to be in the range (%s), got %s", path, bounds(low, high), v)
	case expression != nil && !expression.MatchString(v):
		c.refuse(path, "invalid value for %s (must match %s), got %s", path, of.Pattern, v)
	}
}

func (c *check) number(of shape, path string, v float64) {
	if low, high := limits(of); v < low || v > high {
		c.refuse(path, "expected %s to be in the range (%s), got %g", path, bounds(low, high), v)
	}
}

func (c *check) refuse(path, format string, args ...any) {
	c.problems = append(c.problems, standin.Problem{Path: path, Reason: fmt.Sprintf(format, args...)})
}

func limits(of shape) (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	if of.Min != nil {
		low = *of.Min
	}
	if of.Max != nil {
		high = *of.Max
	}
	return low, high
}

func bounds(low, high float64) string {
	if math.IsInf(high, 1) {
		return fmt.Sprintf("at least %.0f", low)
	}
	return fmt.Sprintf("%.0f - %.0f", max(low, 0), high)
}

func join(path, key string) string { return strings.TrimPrefix(path+"."+key, ".") }

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
