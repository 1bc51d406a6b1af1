package aws

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/cloudwatch"
)

const (
	eventRuleType   = "aws:cloudwatch/eventRule:EventRule"
	eventTargetType = "aws:cloudwatch/eventTarget:EventTarget"
)

// defaultBus is the event bus that every account has, and the only one here.
const defaultBus = "default"

// targetQuota is the number of targets of a rule:
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-quota.html
const targetQuota = 5

// patternSize is the provider's limit of an event pattern, in characters.
const patternSize = 4096

func eventTypes() map[string]*resourceType {
	return map[string]*resourceType{
		eventRuleType: {
			constructor: cloudwatch.NewEventRule,
			noun:        "EventBridge Rule",
			api:         api{service: "EventBridge", create: "PutRule", update: "PutRule", remove: "DeleteRule"},
			// internal/service/events/rule.go
			forceNew:  []string{"eventBusName", "name", "namePrefix"},
			documents: []string{"eventPattern"},
			autoname:  autoname{property: "name", max: 64},
			defaults:  props{"eventBusName": defaultBus, "forceDestroy": false},
			inUse:     refusal{code: "ValidationException", message: "Rule can't be deleted since it has targets."},
			validate:  validateRule,
			create:    createEventRule,
			update:    putRule,
			takes:     timing{create: time.Second, update: time.Second, remove: time.Second},
		},
		eventTargetType: {
			constructor: cloudwatch.NewEventTarget,
			noun:        "EventBridge Target",
			api:         api{service: "EventBridge", create: "PutTargets", update: "PutTargets", remove: "RemoveTargets"},
			// internal/service/events/target.go
			forceNew: []string{"eventBusName", "rule", "targetId"},
			defaults: props{"eventBusName": defaultBus, "forceDestroy": false},
			references: []reference{
				{path: []string{"rule"}, to: eventRuleType, missing: refusal{
					code: "ResourceNotFoundException", message: "Rule %s does not exist on EventBus default.",
				}},
				// A queue goes whether or not events are sent to it.
				{path: []string{"arn"}, to: queueType, weak: true},
			},
			validate: validateTarget,
			create:   createTarget,
			update:   checkTarget,
			identifies: func(r *record, id string) bool {
				return id == r.Inputs.str("rule")+"/"+r.Outputs.str("targetId")
			},
			takes: timing{create: time.Second, update: time.Second, remove: time.Second},
		},
	}
}

var (
	ruleName   = regexp.MustCompile(`^[0-9A-Za-z_.-]{1,64}$`)
	schedule   = regexp.MustCompile(`^(rate\((1 (minute|hour|day)|([2-9]|[1-9]\d+) (minutes|hours|days))\)|cron\(\S+( \S+){5}\))$`)
	ruleStates = []string{"DISABLED", "ENABLED", "ENABLED_WITH_ALL_CLOUDTRAIL_MANAGEMENT_EVENTS"}
)

func validateRule(in props) []problem {
	var problems []problem
	if !in.has("eventPattern") && !in.has("scheduleExpression") {
		problems = append(problems, problem{"eventPattern", "one of [eventPattern scheduleExpression] must be specified"})
	}
	if name := in.str("name"); name != "" && !ruleName.MatchString(name) {
		problems = append(problems, problem{"name", "invalid value for name (only alphanumeric characters, and ._- are allowed, up to 64): " + name})
	}
	if state := in.str("state"); state != "" && !slices.Contains(ruleStates, state) {
		problems = append(problems, problem{"state", fmt.Sprintf("expected state to be one of %v, got %s", ruleStates, state)})
	}
	if pattern := in.str("eventPattern"); pattern != "" && !json.Valid([]byte(pattern)) {
		problems = append(problems, problem{"eventPattern", `"eventPattern" contains an invalid JSON`})
	} else if len(pattern) > patternSize {
		problems = append(problems, problem{"eventPattern", fmt.Sprintf(`"eventPattern" cannot be longer than %d characters`, patternSize)})
	}
	return problems
}

// createEventRule puts a rule: one that exists under the name is changed.
func createEventRule(c *call) (string, error) {
	name := c.in().str("name")
	c.out()["arn"] = c.arn("events", "rule/"+name)
	return name, putRule(c)
}

func putRule(c *call) error {
	if err := checkBus(c); err != nil {
		return err
	}
	if text := c.in().str("eventPattern"); text != "" {
		var pattern any
		if err := json.Unmarshal([]byte(text), &pattern); err != nil {
			return c.badPattern("Filter is not valid JSON")
		}
		if reason := badPattern(pattern); reason != "" {
			return c.badPattern(reason)
		}
	}
	if text := c.in().str("scheduleExpression"); text != "" && !schedule.MatchString(text) {
		return c.refusef("ValidationException", "Parameter ScheduleExpression is not valid.")
	}
	enabled := !c.in().has("isEnabled") || c.in().boolean("isEnabled")
	c.out().setDefault("state", map[bool]string{true: "ENABLED", false: "DISABLED"}[enabled])
	return nil
}

func (c *call) badPattern(reason string) error {
	return c.refusef("InvalidEventPatternException", "Event pattern is not valid. Reason: %s", reason)
}

func checkBus(c *call) error {
	if bus := c.in().str("eventBusName"); bus != defaultBus {
		return c.refusef("ResourceNotFoundException", "Event bus %s does not exist.", bus)
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
	for _, name := range sortedKeys(fields) {
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

var targetName = regexp.MustCompile(`^[.\-_A-Za-z0-9]{1,64}$`)

func validateTarget(in props) []problem {
	var problems []problem
	if id := in.str("targetId"); id != "" && !targetName.MatchString(id) {
		problems = append(problems, problem{"targetId", "invalid value for targetId (only alphanumeric characters, and ._- are allowed, up to 64): " + id})
	}
	if arn := in.str("arn"); in.has("arn") && !hasUnknown(in["arn"]) && !arnShape.MatchString(arn) {
		problems = append(problems, problem{"arn", fmt.Sprintf("%q (%s) is an invalid ARN: arn: invalid prefix", "arn", arn)})
	}
	given := 0
	for _, key := range []string{"input", "inputPath", "inputTransformer"} {
		if in.has(key) {
			given++
		}
	}
	if given > 1 {
		problems = append(problems, problem{"input", `Conflicting configuration arguments. "input": conflicts with inputPath and inputTransformer`})
	}
	return problems
}

// createTarget puts a target: one that exists under the id is changed.
func createTarget(c *call) (string, error) {
	rule := c.in().str("rule")
	c.out().setDefault("targetId", "terraform-"+randomHex(26))
	id := rule + "-" + c.out().str("targetId")
	others := 0
	for r := range c.others() {
		if r.Inputs.str("rule") == rule && r.ID != id {
			others++
		}
	}
	if others >= targetQuota {
		return "", c.refusef("LimitExceededException", "The requested resource exceeds the maximum number allowed.")
	}
	return id, checkTarget(c)
}

// checkTarget is stricter than EventBridge in one thing: it refuses a queue of
// this account and region that does not exist, where EventBridge would lose the
// events without a word. As in AWS, the queue's policy is not looked at.
func checkTarget(c *call) error {
	if err := checkBus(c); err != nil {
		return err
	}
	arn := c.in().str("arn")
	if strings.HasPrefix(arn, c.arn("sqs", "")) && c.find(queueType, arn) == nil {
		return c.refusef("ValidationException", "Parameter %s is not valid. Reason: Provided Arn is of a queue that does not exist.", arn)
	}
	return nil
}
