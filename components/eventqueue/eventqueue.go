// Package eventqueue makes an SQS queue that EventBridge rules feed.
package eventqueue

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

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
		MessageRetentionSeconds: pulumi.Int(retention),
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

const (
	// retention keeps events long enough to be read by a reader that
	// starts again, in seconds. What is older describes the past.
	retention = 300
	// maxQueueName and maxRuleName are the limits of SQS and EventBridge, in
	// characters.
	maxQueueName, maxRuleName = 80, 64
)

var (
	queueNames = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	ruleNames  = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)
)

// EventQueueArgs are the arguments of an EventQueue.
type EventQueueArgs struct {
	// QueueName is the queue's name in SQS, at most 80 letters, digits, hyphens
	// and underscores. The rules are named after it.
	QueueName string
	// Rules by which events get into the queue, at least one.
	Rules []Rule
}

// Rule sends the events that match its pattern to the queue.
type Rule struct {
	// Name, unique among the queue's rules. Its name in EventBridge is
	// <queue>-<name>, cut and given a hash where that is too long.
	Name string
	// Description for people who look at the account; may be empty.
	Description string
	// Pattern as EventBridge spells it, such as
	// {"source": ["aws.ec2"], "detail-type": ["EC2 Instance State-change Notification"]}.
	Pattern map[string]any
}

func (a *EventQueueArgs) validate() error {
	var problems []error
	add := func(format string, v ...any) { problems = append(problems, fmt.Errorf(format, v...)) }
	if !queueNames.MatchString(a.QueueName) || len(a.QueueName) > maxQueueName {
		add("queue name %q is not 1 to %d letters, digits, hyphens and underscores", a.QueueName, maxQueueName)
	}
	if len(a.Rules) == 0 {
		add("at least one rule is required; nothing else may write to the queue")
	}
	seen := map[string]bool{}
	for _, r := range a.Rules {
		if !ruleNames.MatchString(r.Name) {
			add("rule name %q is not letters, digits, dots, hyphens and underscores", r.Name)
		}
		if seen[r.Name] {
			add("rule %s is given twice", r.Name)
		}
		seen[r.Name] = true
		if len(r.Pattern) == 0 {
			add("rule %s has no pattern", r.Name)
		}
	}
	return errors.Join(problems...)
}

// ruleName is a rule's name in EventBridge. The hash keeps long names apart
// that begin alike.
func ruleName(queue, rule string) string {
	name := queue + "-" + rule
	if len(name) <= maxRuleName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	suffix := "-" + hex.EncodeToString(sum[:4])
	return name[:maxRuleName-len(suffix)] + suffix
}
