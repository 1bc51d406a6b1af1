package eventqueue

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
)

const (
	// defaultRetention keeps events long enough to be read by a reader that
	// starts again, in seconds. What is older describes the past.
	defaultRetention = 300
	// minRetention and maxRetention are SQS's limits, in seconds. Source:
	// MessageRetentionPeriod in the API reference of SQS.
	minRetention, maxRetention = 60, 1209600
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
	// RetentionSeconds is how long an unread event stays in the
	// queue, in seconds, 60 to 1209600. Default 300.
	RetentionSeconds int
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
	if a == nil {
		return errors.New("arguments are missing")
	}
	var problems []error
	add := func(format string, v ...any) { problems = append(problems, fmt.Errorf(format, v...)) }
	if !queueNames.MatchString(a.QueueName) || len(a.QueueName) > maxQueueName {
		add("queue name %q is not 1 to %d letters, digits, hyphens and underscores", a.QueueName, maxQueueName)
	}
	if r := a.retention(); r < minRetention || r > maxRetention {
		add("retention of %d s is not within SQS's %d to %d s", r, minRetention, maxRetention)
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

func (a *EventQueueArgs) retention() int {
	if a.RetentionSeconds == 0 {
		return defaultRetention
	}
	return a.RetentionSeconds
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
