// Package eventqueue makes an SQS queue that EventBridge rules feed.
package eventqueue

import (
	"encoding/json"
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/cloudwatch"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/sqs"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/policy"
	"tombolo/components/ready"
)

const eventQueueType = "tombolo:eventqueue:EventQueue"

// EventQueue is a queue of events.
type EventQueue struct {
	pulumi.ResourceState

	// Name, ARN and URL of the queue. They resolve when events arrive in it, so
	// that the reader of the queue misses none.
	Name, ARN, URL pulumi.StringOutput
}

// NewEventQueue makes a queue that only its own rules may write to.
func NewEventQueue(ctx *pulumi.Context, name string, args *EventQueueArgs, opts ...pulumi.ResourceOption) (*EventQueue, error) {
	if err := args.validate(); err != nil {
		return nil, fmt.Errorf("event queue %s: %w", name, err)
	}
	c := &EventQueue{}
	if err := ctx.RegisterComponentResourceV2(eventQueueType, name, pulumi.Map{"queueName": pulumi.String(args.QueueName)}, c, opts...); err != nil {
		return nil, fmt.Errorf("register event queue %s: %w", name, err)
	}
	b := &builder{ctx: ctx, name: name, args: args, parent: pulumi.Parent(c)}
	for _, step := range []func() error{b.makeQueue, b.makeRules, b.makePolicy} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("event queue %s: %w", name, err)
		}
	}
	c.Name = ready.After(b.queue.Name, b.complete...)
	c.ARN = ready.After(b.queue.Arn, b.complete...)
	c.URL = ready.After(b.queue.Url, b.complete...)
	return c, ctx.RegisterResourceOutputs(c, pulumi.Map{"name": c.Name, "arn": c.ARN, "url": c.URL})
}

// builder holds what the steps of making a queue hand to each other.
type builder struct {
	ctx    *pulumi.Context
	name   string
	args   *EventQueueArgs
	parent pulumi.ResourceOption

	queue    *sqs.Queue
	ruleARNs []any
	// complete is all that events need on their way into the queue.
	complete []pulumi.Resource
}

func (b *builder) makeQueue() error {
	var err error
	b.queue, err = sqs.NewQueue(b.ctx, b.name+"-queue", &sqs.QueueArgs{
		Name:                    pulumi.String(b.args.QueueName),
		MessageRetentionSeconds: pulumi.Int(b.args.retention()),
		SqsManagedSseEnabled:    pulumi.Bool(true),
	}, b.parent)
	return err
}

func (b *builder) makeRules() error {
	for _, r := range b.args.Rules {
		pattern, err := json.Marshal(r.Pattern)
		if err != nil {
			return fmt.Errorf("render event pattern of rule %s: %w", r.Name, err)
		}
		args := &cloudwatch.EventRuleArgs{
			Name:         pulumi.String(ruleName(b.args.QueueName, r.Name)),
			EventPattern: pulumi.String(string(pattern)),
		}
		if r.Description != "" {
			args.Description = pulumi.String(r.Description)
		}
		rule, err := cloudwatch.NewEventRule(b.ctx, b.name+"-rule-"+r.Name, args, b.parent)
		if err != nil {
			return err
		}
		target, err := cloudwatch.NewEventTarget(b.ctx, b.name+"-target-"+r.Name, &cloudwatch.EventTargetArgs{
			Rule:     rule.Name,
			TargetId: pulumi.String("queue"),
			Arn:      b.queue.Arn,
		}, b.parent)
		if err != nil {
			return err
		}
		b.ruleARNs = append(b.ruleARNs, rule.Arn)
		b.complete = append(b.complete, target)
	}
	return nil
}

// makePolicy lets EventBridge send on behalf of the queue's own rules: without
// the condition, a rule of anybody's account could.
func (b *builder) makePolicy() error {
	document := pulumi.All(append([]any{b.queue.Arn}, b.ruleARNs...)...).ApplyT(func(v []any) (string, error) {
		rules := make([]string, 0, len(v)-1)
		for _, arn := range v[1:] {
			rules = append(rules, arn.(string))
		}
		return queuePolicy(v[0].(string), rules)
	}).(pulumi.StringOutput)
	made, err := sqs.NewQueuePolicy(b.ctx, b.name+"-policy", &sqs.QueuePolicyArgs{
		QueueUrl: b.queue.Url,
		Policy:   document,
	}, b.parent)
	b.complete = append(b.complete, made)
	return err
}

func queuePolicy(queue string, rules []string) (string, error) {
	return policy.Render(
		policy.Statement{
			Sid:       "SendFromRules",
			Effect:    policy.Allow,
			Principal: policy.Service("events.amazonaws.com"),
			Action:    []string{"sqs:SendMessage"},
			Resource:  []string{queue},
			Condition: policy.Conditions{"ArnEquals": {"aws:SourceArn": rules}},
		},
		policy.RequireTLS("sqs", queue),
	)
}
