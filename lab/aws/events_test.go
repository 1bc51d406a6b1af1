package aws

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/lab/aws/events"
	"tombolo/lab/aws/sqs"
)

const interruptions = `{"source":["aws.ec2"],"detail-type":["EC2 Spot Instance Interruption Warning"]}`

func TestEventRefusals(t *testing.T) {
	refused(t, emptyWorld, []attempt{
		{"rule of nothing", events.EventRuleType, props{}, "one of [eventPattern scheduleExpression] must be specified"},
		{"rule name", events.EventRuleType, props{"name": "a b", "eventPattern": interruptions}, "invalid value for name (must match "},
		{"no JSON", events.EventRuleType, props{"eventPattern": "{"}, `eventPattern: "eventPattern" contains an invalid JSON`},
		{"pattern too long", events.EventRuleType, props{"eventPattern": `{"source":["` + strings.Repeat("x", 4096) + `"]}`}, `"eventPattern" cannot be longer than 4096 characters`},
		{"pattern of a list", events.EventRuleType, props{"eventPattern": `["aws.ec2"]`}, "InvalidEventPatternException: Event pattern is not valid. Reason: Filter is not an object"},
		{
			"leaf that is no list", events.EventRuleType,
			props{"eventPattern": `{"source":"aws.ec2"}`},
			`InvalidEventPatternException: Event pattern is not valid. Reason: "source" must be an object or an array`,
		},
		{"nested leaf that is no list", events.EventRuleType, props{"eventPattern": `{"detail":{"state":"running"}}`}, `Reason: "state" must be an object or an array`},
		{"empty leaf", events.EventRuleType, props{"eventPattern": `{"source":[]}`}, "Reason: Empty arrays are not allowed"},
		{"list in a list", events.EventRuleType, props{"eventPattern": `{"source":[["aws.ec2"]]}`}, "Reason: Match value must be String, number, true, false, or null"},
		{"unknown match", events.EventRuleType, props{"eventPattern": `{"source":[{"starts-with":"aws"}]}`}, "Reason: Unrecognized match type starts-with"},
		{"no bus", events.EventRuleType, props{"eventPattern": interruptions, "eventBusName": "orders"}, "ResourceNotFoundException: Event bus orders does not exist."},
		{"no rule", events.EventTargetType, func(w *world) props {
			q := w.Make(sqs.QueueType, "q", props{})
			return props{"rule": "none", "arn": q.Out["arn"]}
		}, "ResourceNotFoundException: Rule none does not exist on EventBus default."},
		{"no ARN", events.EventTargetType, func(w *world) props {
			q := w.Make(sqs.QueueType, "q", props{})
			return props{"rule": "r", "arn": q.Out["url"]}
		}, "is an invalid ARN: arn: invalid prefix"},
		{"no queue", events.EventTargetType, func(w *world) props {
			w.Make(events.EventRuleType, "r", props{"name": "r", "eventPattern": interruptions})
			return props{"rule": "r", "arn": "arn:aws:sqs:eu-central-1:111122223333:none"}
		}, "api error ValidationException: Parameter arn:aws:sqs:eu-central-1:111122223333:none is not valid."},
		{"sixth target", events.EventTargetType, func(w *world) props {
			q := w.Make(sqs.QueueType, "q", props{})
			w.Make(events.EventRuleType, "r", props{"name": "r", "eventPattern": interruptions})
			for i := range 5 {
				w.Make(events.EventTargetType, fmt.Sprint("t", i), props{"rule": "r", "arn": q.Out["arn"]})
			}
			return props{"rule": "r", "arn": q.Out["arn"]}
		}, "LimitExceededException: The requested resource exceeds the maximum number allowed."},
	})
}

func TestEvents(t *testing.T) {
	w := emptyWorld(t)
	q := w.Add(sqs.QueueType, "queue", props{"name": "demo"})
	rule := w.Add(events.EventRuleType, "rule", props{"name": "spot", "eventPattern": interruptions})
	assert.Check(t, rule.ID == "spot" && rule.Out.Str("arn") == "arn:aws:events:eu-central-1:111122223333:rule/spot" && rule.Out.Str("state") == "ENABLED", "rule is %s, %v", rule.ID, rule.Out)
	target := w.Add(events.EventTargetType, "target", props{"rule": rule.ID, "targetId": "queue", "arn": q.Out["arn"]})
	assert.Check(t, target.ID == "spot-queue", "target is %s", target.ID)
	in, _ := w.read(&thing{Token: events.EventTargetType, ID: "spot/queue"})
	assert.Check(t, in.Str("arn") == q.Out.Str("arn"), "the import form finds %v", in)
	refuses(t, w.Delete(rule), "api error ValidationException: Rule can't be deleted since it has targets.")
	w.TakeDown()
}

// TestPatterns are patterns that EventBridge takes.
func TestPatterns(t *testing.T) {
	a := newAccount(t)
	for i, pattern := range []string{
		interruptions,
		`{"detail":{"instance":{"state":["running",null,1,true]}}}`,
		`{"source":[{"prefix":"aws."},{"anything-but":["aws.s3"]}],"detail":{"n":[{"numeric":[">",0,"<=",5]}],"x":[{"exists":false}]}}`,
		`{"$or":[{"source":["a"]},{"detail-type":["b"]}]}`,
	} {
		a.Make(events.EventRuleType, fmt.Sprint("r", i), props{"eventPattern": pattern})
	}
}

// TestQueueGoesBeforeItsTarget: EventBridge does not hold queues.
func TestQueueGoesBeforeItsTarget(t *testing.T) {
	w := emptyWorld(t)
	q := w.Make(sqs.QueueType, "queue", props{})
	rule := w.Make(events.EventRuleType, "rule", props{"eventPattern": interruptions})
	w.Make(events.EventTargetType, "target", props{"rule": rule.ID, "arn": q.Out["arn"]})
	assert.Check(t, w.Delete(q))
}
