// Package sqs is Simple Queue Service in the stand-in.
package sqs

import (
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
			ForceNew: []string{"name", "namePrefix"},
			Autoname: standin.Autoname{Property: "name", Max: 75},
			Defaults: standin.Props{
				"delaySeconds": 0.0, "maxMessageSize": 262144.0,
				"messageRetentionSeconds": 345600.0, "receiveWaitTimeSeconds": 0.0, "visibilityTimeoutSeconds": 30.0,
			},
			Unplayed: []string{
				"contentBasedDeduplication", "deduplicationScope", "fifoQueue", "fifoThroughputLimit", "kmsDataKeyReusePeriodSeconds", "kmsMasterKeyId",
				"policy", "redriveAllowPolicy", "redrivePolicy",
			},
			Validate: validateQueue,
			Put:      describeQueue,
			Create:   createQueue,
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

var queueName = regexp.MustCompile(`^[0-9A-Za-z_-]{1,80}$`)

// queueRanges are the numbers that SQS accepts, in seconds and bytes. Source:
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html
var queueRanges = map[string][2]int{
	"delaySeconds":             {0, 900},
	"maxMessageSize":           {1024, 1048576},
	"messageRetentionSeconds":  {60, 1209600},
	"receiveWaitTimeSeconds":   {0, 20},
	"visibilityTimeoutSeconds": {0, 43200},
}

func validateQueue(in standin.Props) []standin.Problem {
	var problems []standin.Problem
	for _, key := range standin.SortedKeys(queueRanges) {
		problems = append(problems, standin.InRange(in, key, queueRanges[key][0], queueRanges[key][1])...)
	}
	problems = append(problems, standin.Matching(in, "name", queueName, "invalid queue name: ")...)
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
	c.Out()["url"], c.Out()["arn"] = url, account.ARN(c, "sqs", name)
	return url, nil
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

func describeQueue(c *standin.Call) error {
	c.Out().SetDefaults(standin.Props{
		"sqsManagedSseEnabled": true, "kmsDataKeyReusePeriodSeconds": 300, "fifoQueue": false, "contentBasedDeduplication": false,
		"policy": "", "redrivePolicy": "", "redriveAllowPolicy": "", "deduplicationScope": "", "fifoThroughputLimit": "",
	})
	return nil
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
