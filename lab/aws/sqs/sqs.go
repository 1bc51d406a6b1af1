// Package sqs is Simple Queue Service in the stand-in.
package sqs

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/sqs"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/iam"
	"tombolo/lab/aws/policy"
	"tombolo/lab/standin"
)

// The types of SQS.
const (
	QueueType       = "aws:sqs/queue:Queue"
	QueuePolicyType = "aws:sqs/queuePolicy:QueuePolicy"
)

// fifoSuffix ends the names of FIFO queues, and of no others.
const fifoSuffix = ".fifo"

func missingQueue() standin.Refusal {
	return standin.Refusal{Code: "AWS.SimpleQueueService.NonExistentQueue", Message: "The specified queue does not exist."}
}

// Types are queues and their policies.
func Types() map[string]*standin.Type {
	return map[string]*standin.Type{
		QueueType: {
			Constructor: sqs.NewQueue,
			Noun:        "SQS Queue",
			API:         standin.API{Service: "SQS", Create: "CreateQueue", Update: "SetQueueAttributes", Remove: "DeleteQueue"},
			// internal/service/sqs/queue.go
			ForceNew:  []string{"fifoQueue", "name", "namePrefix"},
			Documents: []string{"policy", "redrivePolicy", "redriveAllowPolicy"},
			Autoname:  standin.Autoname{Property: "name", Max: 75, Finish: fifoName, Suffix: fifoSuffix},
			Defaults: standin.Props{
				"contentBasedDeduplication": false, "delaySeconds": 0.0, "fifoQueue": false, "maxMessageSize": 262144.0,
				"messageRetentionSeconds": 345600.0, "receiveWaitTimeSeconds": 0.0, "visibilityTimeoutSeconds": 30.0,
			},
			Validate: validateQueue,
			Create:   createQueue,
			Update: func(c *standin.Call) error {
				describeQueue(c)
				return checkQueue(c)
			},
			// SQS refuses a name for 60 seconds after the deletion of its queue
			// (QueueDeletedRecently). The provider tries again until they are
			// over, so that no program sees the refusal: it is left out.
			Takes: standin.Timing{Create: 30 * time.Second, Update: 30 * time.Second, Remove: 30 * time.Second},
		},
		QueuePolicyType: {
			Constructor: sqs.NewQueuePolicy,
			Noun:        "SQS Queue Policy",
			API:         standin.API{Service: "SQS", Create: "SetQueueAttributes", Update: "SetQueueAttributes", Remove: "SetQueueAttributes"},
			// internal/service/sqs/queue_policy.go
			ForceNew:   []string{"queueUrl"},
			Documents:  []string{"policy"},
			References: []standin.Reference{{Path: []string{"queueUrl"}, To: QueueType, Missing: missingQueue(), Cascade: true}},
			Validate:   func(in standin.Props) []standin.Problem { return iam.JSONPolicy(in, "policy") },
			// A policy is an attribute of its queue: a second one takes the
			// place of the first.
			Put:    checkQueuePolicy,
			Create: func(c *standin.Call) (string, error) { return c.In().Str("queueUrl"), nil },
			Takes:  standin.Timing{Create: 30 * time.Second, Update: 30 * time.Second, Remove: 30 * time.Second},
		},
	}
}

func fifoName(in standin.Props, made string) string {
	if in.Boolean("fifoQueue") {
		return made + fifoSuffix
	}
	return made
}

var (
	queueName     = regexp.MustCompile(`^[0-9A-Za-z_-]{1,80}$`)
	fifoQueueName = regexp.MustCompile(`^[0-9A-Za-z_-]{1,75}\.fifo$`)
)

// queueRanges are the numbers that SQS accepts, in seconds and bytes. Source:
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html
var queueRanges = map[string][2]int{
	"delaySeconds":                 {0, 900},
	"kmsDataKeyReusePeriodSeconds": {60, 86400},
	"maxMessageSize":               {1024, 1048576},
	"messageRetentionSeconds":      {60, 1209600},
	"receiveWaitTimeSeconds":       {0, 20},
	"visibilityTimeoutSeconds":     {0, 43200},
}

func validateQueue(in standin.Props) []standin.Problem {
	var problems []standin.Problem
	for _, key := range standin.SortedKeys(queueRanges) {
		problems = append(problems, standin.InRange(in, key, queueRanges[key][0], queueRanges[key][1])...)
	}
	for _, key := range []string{"policy", "redrivePolicy", "redriveAllowPolicy"} {
		problems = append(problems, iam.JSONPolicy(in, key)...)
	}
	if in.Has("kmsMasterKeyId") && in.Has("sqsManagedSseEnabled") {
		problems = append(problems, standin.Problem{Path: "kmsMasterKeyId", Reason: `Conflicting configuration arguments. "kmsMasterKeyId": conflicts with sqsManagedSseEnabled`})
	}
	shape := queueName
	if in.Boolean("fifoQueue") {
		shape = fifoQueueName
	}
	problems = append(problems, standin.Matching(in, "name", shape, "invalid queue name: ")...)
	if !in.Boolean("fifoQueue") && in.Boolean("contentBasedDeduplication") {
		problems = append(problems, standin.Problem{Path: "contentBasedDeduplication", Reason: "content-based deduplication can only be set for FIFO queue"})
	}
	return problems
}

func createQueue(c *standin.Call) (string, error) {
	name := c.In().Str("name")
	url := fmt.Sprintf("https://sqs.%s.%s/%s/%s", c.Region, account.DNSSuffix(c.Region), c.Cloud.Account, name)
	if other := c.Find(QueueType, url); other != nil {
		if err := sameQueue(c, other); err != nil {
			return "", err
		}
	}
	describeQueue(c)
	c.Out()["url"], c.Out()["arn"] = url, account.ARN(c, "sqs", name)
	return url, checkQueue(c)
}

// sameQueue refuses a name that another queue has. SQS takes a request for a
// queue that exists, with the attributes that it has, as done.
func sameQueue(c *standin.Call, other *standin.Record) error {
	for _, key := range standin.UnionKeys(c.In(), other.Inputs) {
		if c.Type.Same(key, c.In()[key], other.Inputs[key]) {
			continue
		}
		if key == "tags" {
			return c.Refusef("QueueAlreadyExists", "A queue already exists with the same name and different tags")
		}
		attribute := strings.ToUpper(key[:1]) + key[1:]
		return c.Refusef("QueueAlreadyExists", "A queue already exists with the same name and a different value for attribute %s", attribute)
	}
	return nil
}

func describeQueue(c *standin.Call) {
	out := c.Out()
	if !c.In().Has("sqsManagedSseEnabled") {
		out["sqsManagedSseEnabled"] = !c.In().Has("kmsMasterKeyId")
	}
	out.SetDefault("kmsDataKeyReusePeriodSeconds", 300)
	for _, key := range []string{"policy", "redrivePolicy", "redriveAllowPolicy", "deduplicationScope", "fifoThroughputLimit"} {
		out.SetDefault(key, "")
	}
}

func checkQueue(c *standin.Call) error {
	if c.In().Has("policy") {
		if err := checkQueuePolicy(c); err != nil {
			return err
		}
	}
	return checkRedrive(c)
}

// checkQueuePolicy refuses documents that SQS cannot use, without saying what is
// wrong. SQS does not check either whether a policy allows the senders that the
// queue needs: a rule whose events a queue refuses looks like one without events.
func checkQueuePolicy(c *standin.Call) error {
	if iam.Malformed(c, c.In().Str("policy"), policy.Resource) != "" {
		return c.Refusef("InvalidAttributeValue", "Invalid value for the parameter Policy.")
	}
	return nil
}

// checkRedrive refuses a dead letter queue that does not exist or is of the
// other kind.
func checkRedrive(c *standin.Call) error {
	text := c.In().Str("redrivePolicy")
	if text == "" {
		return nil
	}
	var redrive struct {
		Target string          `json:"deadLetterTargetArn"`
		Count  json.RawMessage `json:"maxReceiveCount"`
	}
	refuse := func(reason string) error {
		return c.Refusef("InvalidParameterValue", "Value %s for parameter RedrivePolicy is invalid. Reason: %s", text, reason)
	}
	if err := json.Unmarshal([]byte(text), &redrive); err != nil || redrive.Target == "" {
		return refuse("Redrive policy does not contain mandatory attribute: deadLetterTargetArn.")
	}
	count, known := standin.Number(strings.Trim(string(redrive.Count), `"`))
	if !known || count < 1 || count > 1000 {
		return refuse("Invalid value for maxReceiveCount: " + string(redrive.Count) + ", valid values are from 1 to 1000 both inclusive.")
	}
	target := c.Find(QueueType, redrive.Target)
	if target == nil {
		return refuse("Dead letter target does not exist.")
	}
	if target.Inputs.Boolean("fifoQueue") != c.In().Boolean("fifoQueue") {
		return refuse("Dead-letter queue must be same type of queue as the source.")
	}
	return nil
}
