// Package events is EventBridge in the stand-in.
package events

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/cloudwatch"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/sqs"
	"tombolo/lab/standin"
)

// The types of EventBridge.
const (
	EventRuleType   = "aws:cloudwatch/eventRule:EventRule"
	EventTargetType = "aws:cloudwatch/eventTarget:EventTarget"
)

// defaultBus is the event bus that every account has, and the only one here.
const defaultBus = "default"

// targetQuota is the number of targets of a rule:
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-quota.html
const targetQuota = 5

// patternSize is the provider's limit of an event pattern, in characters.
const patternSize = 4096

// Types are rules and their targets.
func Types() map[string]*standin.Type {
	return map[string]*standin.Type{
		EventRuleType: {
			Constructor: cloudwatch.NewEventRule,
			Noun:        "EventBridge Rule",
			API:         standin.API{Service: "EventBridge", Create: "PutRule", Update: "PutRule", Remove: "DeleteRule"},
			// internal/service/events/rule.go
			ForceNew:  []string{"eventBusName", "name", "namePrefix"},
			Documents: []string{"eventPattern"},
			Autoname:  standin.Autoname{Property: "name", Max: 64},
			Defaults:  standin.Props{"eventBusName": defaultBus, "forceDestroy": false},
			Unplayed:  []string{"isEnabled", "scheduleExpression"},
			InUse:     standin.Refusal{Code: "ValidationException", Message: "Rule can't be deleted since it has targets."},
			Validate:  validateRule,
			Put:       putRule,
			Create:    createEventRule,
			Takes:     standin.Timing{Create: time.Second, Update: time.Second, Remove: time.Second},
		},
		EventTargetType: {
			Constructor: cloudwatch.NewEventTarget,
			Noun:        "EventBridge Target",
			API:         standin.API{Service: "EventBridge", Create: "PutTargets", Update: "PutTargets", Remove: "RemoveTargets"},
			// internal/service/events/target.go
			ForceNew: []string{"eventBusName", "rule", "targetId"},
			Defaults: standin.Props{"eventBusName": defaultBus, "forceDestroy": false},
			Unplayed: []string{"input", "inputPath", "inputTransformer"},
			References: []standin.Reference{
				{Path: []string{"rule"}, To: EventRuleType, Missing: standin.Refusal{
					Code: "ResourceNotFoundException", Message: "Rule %s does not exist on EventBus default.",
				}},
				// A queue goes whether or not events are sent to it.
				{Path: []string{"arn"}, To: sqs.QueueType, Weak: true},
			},
			Put:    checkTarget,
			Create: createTarget,
			Identifies: func(r *standin.Record, id string) bool {
				return id == r.Inputs.Str("rule")+"/"+r.Outputs.Str("targetId")
			},
			Takes: standin.Timing{Create: time.Second, Update: time.Second, Remove: time.Second},
		},
	}
}

func validateRule(in standin.Props) []standin.Problem {
	var problems []standin.Problem
	if !in.Has("eventPattern") {
		problems = append(problems, standin.Problem{Path: "eventPattern", Reason: "one of [eventPattern scheduleExpression] must be specified"})
	}
	if pattern := in.Str("eventPattern"); pattern != "" && !json.Valid([]byte(pattern)) {
		problems = append(problems, standin.Problem{Path: "eventPattern", Reason: `"eventPattern" contains an invalid JSON`})
	} else if len(pattern) > patternSize {
		problems = append(problems, standin.Problem{Path: "eventPattern", Reason: fmt.Sprintf(`"eventPattern" cannot be longer than %d characters`, patternSize)})
	}
	return problems
}

// createEventRule puts a rule: one that exists under the name is changed.
func createEventRule(c *standin.Call) (string, error) {
	name := c.In().Str("name")
	c.Out()["arn"] = account.ARN(c, "events", "rule/"+name)
	return name, nil
}

func putRule(c *standin.Call) error {
	if err := checkBus(c); err != nil {
		return err
	}
	if text := c.In().Str("eventPattern"); text != "" {
		var pattern any
		if err := json.Unmarshal([]byte(text), &pattern); err != nil {
			return refusePattern(c, "Filter is not valid JSON")
		}
		if reason := badPattern(pattern); reason != "" {
			return refusePattern(c, reason)
		}
	}
	c.Out().SetDefault("state", "ENABLED")
	return nil
}

func refusePattern(c *standin.Call, reason string) error {
	return c.Refusef("InvalidEventPatternException", "Event pattern is not valid. Reason: %s", reason)
}

func checkBus(c *standin.Call) error {
	if bus := c.In().Str("eventBusName"); bus != defaultBus {
		return c.Refusef("ResourceNotFoundException", "Event bus %s does not exist.", bus)
	}
	return nil
}

// badPattern says what is wrong with an event pattern: an object of objects
// whose leaves are lists of what matches.
func badPattern(pattern any) string {
	fields, ok := pattern.(map[string]any)
	if !ok {
		return "Filter is not an object"
	}
	if len(fields) == 0 {
		return "Empty objects are not allowed"
	}
	for _, name := range standin.SortedKeys(fields) {
		if reason := badField(name, fields[name]); reason != "" {
			return reason
		}
	}
	return ""
}

func badField(name string, value any) string {
	switch value := value.(type) {
	case map[string]any:
		return badPattern(value)
	case []any:
		if len(value) == 0 {
			return "Empty arrays are not allowed"
		}
		for _, match := range value {
			if reason := badMatch(name, match); reason != "" {
				return reason
			}
		}
		return ""
	default:
		return fmt.Sprintf("%q must be an object or an array", name)
	}
}

// matchTypes of event patterns. Source:
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html
var matchTypes = []string{
	"anything-but", "cidr", "equals-ignore-case", "exists", "numeric", "prefix", "suffix", "wildcard",
}

func badMatch(name string, match any) string {
	if name == "$or" {
		return badPattern(match)
	}
	switch match := match.(type) {
	case []any:
		return "Match value must be String, number, true, false, or null"
	case map[string]any:
		if len(match) != 1 {
			return "Only one key allowed in match expression"
		}
		for kind := range match {
			if !slices.Contains(matchTypes, kind) {
				return "Unrecognized match type " + kind
			}
		}
	}
	return ""
}

// createTarget puts a target: one that exists under the id is changed.
func createTarget(c *standin.Call) (string, error) {
	rule := c.In().Str("rule")
	c.Out().SetDefault("targetId", "terraform-"+account.RandomHex(26))
	id := rule + "-" + c.Out().Str("targetId")
	others := 0
	for r := range c.Others() {
		if r.Inputs.Str("rule") == rule && r.ID != id {
			others++
		}
	}
	if others >= targetQuota {
		return "", c.Refusef("LimitExceededException", "The requested resource exceeds the maximum number allowed.")
	}
	return id, nil
}

// checkTarget is stricter than EventBridge in one thing: it refuses a queue of
// this account and region that does not exist, where EventBridge would lose the
// events without a word. As in AWS, the queue's policy is not looked at.
func checkTarget(c *standin.Call) error {
	if err := checkBus(c); err != nil {
		return err
	}
	arn := c.In().Str("arn")
	if strings.HasPrefix(arn, account.ARN(c, "sqs", "")) && c.Find(sqs.QueueType, arn) == nil {
		return c.Refusef("ValidationException", "Parameter %s is not valid. Reason: Provided Arn is of a queue that does not exist.", arn)
	}
	return nil
}
