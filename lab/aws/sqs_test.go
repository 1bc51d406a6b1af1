package aws

import (
	"fmt"
	"strings"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/aws/sqs"
)

const queueURL = "https://sqs.eu-central-1.amazonaws.com/111122223333/"

// letEventsIn is the policy of an interruption queue.
func letEventsIn(queue string) string {
	return policyOf(fmt.Sprintf(`{"Sid":"events.in","Effect":"Allow","Principal":{"Service":["events.amazonaws.com","sqs.amazonaws.com"]},"Action":"sqs:SendMessage","Resource":%q},`+
		`{"Effect":"Deny","Principal":"*","Action":"sqs:*","Resource":%q,"Condition":{"Bool":{"aws:SecureTransport":"false"}}}`, queue, queue))
}

func TestQueueRefusals(t *testing.T) {
	refused(t, emptyWorld, []attempt{
		{"name", sqs.QueueType, props{"name": "a.b"}, "name: invalid queue name: a.b"},
		{"name too long", sqs.QueueType, props{"name": strings.Repeat("x", 81)}, "name: invalid queue name: xxx"},
		{"retention too short", sqs.QueueType, props{"messageRetentionSeconds": 59}, "expected messageRetentionSeconds to be in the range (60 - 1209600), got 59"},
		{"retention too long", sqs.QueueType, props{"messageRetentionSeconds": 1209601}, "expected messageRetentionSeconds to be in the range (60 - 1209600), got 1209601"},
		{"visibility", sqs.QueueType, props{"visibilityTimeoutSeconds": 43201}, "expected visibilityTimeoutSeconds to be in the range (0 - 43200), got 43201"},
		{"FIFO", sqs.QueueType, props{"name": "a.fifo", "fifoQueue": true}, "the stand-in does not play fifoQueue of aws:sqs/queue:Queue"},
		{"name taken", sqs.QueueType, func(w *world) props {
			w.Make(sqs.QueueType, "first", props{"name": "q"})
			return props{"name": "q", "visibilityTimeoutSeconds": 60}
		}, "QueueAlreadyExists: A queue already exists with the same name and a different value for attribute VisibilityTimeoutSeconds"},
		{"other tags", sqs.QueueType, func(w *world) props {
			w.Make(sqs.QueueType, "first", props{"name": "q"})
			return props{"name": "q", "tags": map[string]any{"a": "b"}}
		}, "QueueAlreadyExists: A queue already exists with the same name and different tags"},
		{"no queue", sqs.QueuePolicyType, props{"queueUrl": queueURL + "none", "policy": letEventsIn("*")}, "AWS.SimpleQueueService.NonExistentQueue: The specified queue does not exist."},
		{"policy without principal", sqs.QueuePolicyType, func(w *world) props {
			q := w.Make(sqs.QueueType, "q", props{})
			return props{"queueUrl": q.ID, "policy": policyOf(`{"Effect":"Allow","Action":"sqs:SendMessage","Resource":"*"}`)}
		}, "InvalidAttributeValue: Invalid value for the parameter Policy."},
		{"policy for an unknown service", sqs.QueuePolicyType, func(w *world) props {
			q := w.Make(sqs.QueueType, "q", props{})
			return props{"queueUrl": q.ID, "policy": strings.ReplaceAll(letEventsIn("*"), "events.a", "event.a")}
		}, "InvalidAttributeValue: Invalid value for the parameter Policy."},
	})
}

func TestQueue(t *testing.T) {
	w := emptyWorld(t)
	in := props{"name": "demo-karpenter", "messageRetentionSeconds": 300, "sqsManagedSseEnabled": true, "tags": map[string]any{"tombolo:cluster": "demo"}}
	q := w.Add(sqs.QueueType, "queue", in)
	arn := "arn:aws:sqs:eu-central-1:111122223333:demo-karpenter"
	assert.Check(t, q.ID == queueURL+"demo-karpenter" && q.Out.Str("url") == q.ID && q.Out.Str("arn") == arn, "queue is %s, %v", q.ID, q.Out)
	policy := w.Add(sqs.QueuePolicyType, "policy", props{"queueUrl": q.ID, "policy": letEventsIn(arn)})
	d := w.Diff(policy, props{"policy": strings.ReplaceAll(letEventsIn(arn), `"sqs:SendMessage"`, `["sqs:SendMessage"]`)})
	assert.Check(t, d.Changes == pulumirpc.DiffResponse_DIFF_NONE, "the same policy, written differently: %v", d)
	again := w.Make(sqs.QueueType, "again", in)
	assert.Check(t, again.ID == q.ID, "the same queue again is %s", again.ID)
	err := w.Update(q, props{"messageRetentionSeconds": 600.0})
	assert.Check(t, err == nil && q.Out.Integer("messageRetentionSeconds") == 600 && q.Out.Str("arn") == arn, "update gives %v, %v", err, q.Out)
	found := w.tagged("tombolo:cluster", "demo")
	assert.Assert(t, is.Len(found, 1))
	assert.Check(t, is.Equal(found[0].Str("resourceArn"), arn))
	w.TakeDown()
}

// TestQueueGoesWithItsPolicy: a policy is a part of its queue.
func TestQueueGoesWithItsPolicy(t *testing.T) {
	w := emptyWorld(t)
	q := w.Make(sqs.QueueType, "q", props{})
	w.Make(sqs.QueuePolicyType, "p", props{"queueUrl": q.ID, "policy": letEventsIn(q.Out.Str("arn"))})
	if err := w.Delete(q); err != nil || len(w.Cloud.Inventory()) != 0 {
		t.Errorf("left over after %v: %v", err, w.Cloud.Inventory())
	}
}
