package eventqueue

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
)

func queueArgs() *EventQueueArgs {
	return &EventQueueArgs{
		QueueName: "demo-karpenter",
		Rules: []Rule{
			{
				Name: "spot-interruption", Description: "Spot instances that are taken back",
				Pattern: map[string]any{"source": []string{"aws.ec2"}, "detail-type": []string{"EC2 Spot Instance Interruption Warning"}},
			},
			{Name: "health", Pattern: map[string]any{"source": []string{"aws.health"}}},
		},
	}
}

func run(args *EventQueueArgs) (*recorder.Recorder, error) {
	r := &recorder.Recorder{Outputs: map[string]resource.PropertyMap{
		"aws:sqs/queue:Queue": {"url": resource.NewProperty("https://sqs.eu-central-1.amazonaws.com/111122223333/demo-karpenter")},
	}}
	return r, r.Run("demo-core", recorder.Probing("demo-karpenter", NewEventQueue, args, func(q *EventQueue) pulumi.Map {
		return pulumi.Map{"name": q.Name, "arn": q.ARN, "url": q.URL}
	}))
}

func built(t *testing.T, args *EventQueueArgs) *recorder.Recorder {
	t.Helper()
	r, err := run(args)
	return r.Sound(t, err)
}

func TestQueue(t *testing.T) {
	r := built(t, queueArgs())
	r.OfType("aws:sqs/queue:Queue")[0].Expect(t, map[string]string{
		"name": "demo-karpenter", "messageRetentionSeconds": "300", "sqsManagedSseEnabled": "true",
	})
	made := r.OfType("aws:sqs/queuePolicy:QueuePolicy")[0]
	made.Expect(t, map[string]string{"queueUrl": "https://sqs.eu-central-1.amazonaws.com/111122223333/demo-karpenter"})
	recorder.Golden(t, "policy.json", made.String("policy"))
}

func TestRules(t *testing.T) {
	r := built(t, queueArgs())
	rule, _ := r.Named("aws:cloudwatch/eventRule:EventRule", "demo-karpenter-rule-spot-interruption")
	rule.Expect(t, map[string]string{
		"name": "demo-karpenter-spot-interruption", "description": "Spot instances that are taken back",
		"eventPattern": `{"detail-type":["EC2 Spot Instance Interruption Warning"],"source":["aws.ec2"]}`,
	})
	target, _ := r.Named("aws:cloudwatch/eventTarget:EventTarget", "demo-karpenter-target-health")
	target.Expect(t, map[string]string{
		"rule": "demo-karpenter-health", "arn": "arn:aws:test:eu-central-1:111122223333:demo-karpenter-queue",
	})
}

func TestOutputsWaitForTheWayIntoTheQueue(t *testing.T) {
	probe := built(t, queueArgs()).Probed()
	probe.Expect(t, map[string]string{
		"name": "demo-karpenter", "arn": "arn:aws:test:eu-central-1:111122223333:demo-karpenter-queue",
		"url": "https://sqs.eu-central-1.amazonaws.com/111122223333/demo-karpenter",
	})
	for _, output := range []string{"name", "arn", "url"} {
		probe.ExpectAfter(t, output, "demo-karpenter-policy", "demo-karpenter-target-health", "demo-karpenter-target-spot-interruption")
	}
}

func TestRuleName(t *testing.T) {
	assert.Check(t, is.Equal(ruleName("demo", "health"), "demo-health"))
	queue := strings.Repeat("q", maxQueueName)
	one, two := ruleName(queue, "health"), ruleName(queue, "spot")
	assert.Check(t, len(one) == maxRuleName && len(two) == maxRuleName && one != two,
		"long names are %s and %s, expected two of %d characters", one, two, maxRuleName)
}

func TestEventQueueValidate(t *testing.T) {
	recorder.Refuses(t, "demo-karpenter", NewEventQueue, "event queue demo-karpenter: ", queueArgs, map[string]func(*EventQueueArgs){
		`queue name "a.fifo" is not 1 to 80 letters, digits, hyphens and underscores`: func(a *EventQueueArgs) { a.QueueName = "a.fifo" },
		"is not 1 to 80 letters": func(a *EventQueueArgs) { a.QueueName = strings.Repeat("q", 81) },
		"at least one rule is required; nothing else may write to the queue":    func(a *EventQueueArgs) { a.Rules = nil },
		"rule health is given twice":                                            func(a *EventQueueArgs) { a.Rules[0].Name = "health" },
		"rule health has no pattern":                                            func(a *EventQueueArgs) { a.Rules[1].Pattern = nil },
		`rule name "a b" is not letters, digits, dots, hyphens and underscores`: func(a *EventQueueArgs) { a.Rules[1].Name = "a b" },
	})
}
