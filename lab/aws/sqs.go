package aws

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/sqs"
)

const (
	queueType       = "aws:sqs/queue:Queue"
	queuePolicyType = "aws:sqs/queuePolicy:QueuePolicy"
)

// fifoSuffix ends the names of FIFO queues, and of no others.
const fifoSuffix = ".fifo"

func missingQueue() refusal {
	return refusal{code: "AWS.SimpleQueueService.NonExistentQueue", message: "The specified queue does not exist."}
}

func queueTypes() map[string]*resourceType {
	return map[string]*resourceType{
		queueType: {
			constructor: sqs.NewQueue,
			noun:        "SQS Queue",
			api:         api{service: "SQS", create: "CreateQueue", update: "SetQueueAttributes", remove: "DeleteQueue"},
			// internal/service/sqs/queue.go
			forceNew:  []string{"fifoQueue", "name", "namePrefix"},
			documents: []string{"policy", "redrivePolicy", "redriveAllowPolicy"},
			autoname:  autoname{property: "name", max: 75, finish: fifoName},
			defaults: props{
				"contentBasedDeduplication": false, "delaySeconds": 0.0, "fifoQueue": false, "maxMessageSize": 262144.0,
				"messageRetentionSeconds": 345600.0, "receiveWaitTimeSeconds": 0.0, "visibilityTimeoutSeconds": 30.0,
			},
			validate: validateQueue,
			create:   createQueue,
			update: func(c *call) error {
				describeQueue(c)
				return checkQueue(c)
			},
			// SQS refuses a name for 60 seconds after the deletion of its queue
			// (QueueDeletedRecently). The provider tries again until they are
			// over, so that nobody meets the refusal: it is left out.
			takes: timing{create: 30 * time.Second, update: 30 * time.Second, remove: 30 * time.Second},
		},
		queuePolicyType: {
			constructor: sqs.NewQueuePolicy,
			noun:        "SQS Queue Policy",
			api:         api{service: "SQS", create: "SetQueueAttributes", update: "SetQueueAttributes", remove: "SetQueueAttributes"},
			// internal/service/sqs/queue_policy.go
			forceNew:   []string{"queueUrl"},
			documents:  []string{"policy"},
			references: []reference{{path: []string{"queueUrl"}, to: queueType, missing: missingQueue(), cascade: true}},
			validate:   func(in props) []problem { return jsonPolicy(in, "policy") },
			// A policy is an attribute of its queue: a second one takes the
			// place of the first.
			create: func(c *call) (string, error) {
				return c.in().str("queueUrl"), checkQueuePolicy(c)
			},
			update: checkQueuePolicy,
			takes:  timing{create: 30 * time.Second, update: 30 * time.Second, remove: 30 * time.Second},
		},
	}
}

func fifoName(in props, made string) string {
	if in.boolean("fifoQueue") {
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

func validateQueue(in props) []problem {
	var problems []problem
	for _, key := range sortedKeys(queueRanges) {
		problems = append(problems, inRange(in, key, queueRanges[key][0], queueRanges[key][1])...)
	}
	for _, key := range []string{"policy", "redrivePolicy", "redriveAllowPolicy"} {
		problems = append(problems, jsonPolicy(in, key)...)
	}
	if in.has("kmsMasterKeyId") && in.has("sqsManagedSseEnabled") {
		problems = append(problems, problem{"kmsMasterKeyId", `Conflicting configuration arguments. "kmsMasterKeyId": conflicts with sqsManagedSseEnabled`})
	}
	shape := queueName
	if in.boolean("fifoQueue") {
		shape = fifoQueueName
	}
	if name := in.str("name"); name != "" && !shape.MatchString(name) {
		problems = append(problems, problem{"name", "invalid queue name: " + name})
	}
	if !in.boolean("fifoQueue") && in.boolean("contentBasedDeduplication") {
		problems = append(problems, problem{"contentBasedDeduplication", "content-based deduplication can only be set for FIFO queue"})
	}
	return problems
}

// inRange refuses a number that is given and outside of its limits.
func inRange(in props, key string, low, high int) []problem {
	value, known := in[key].(float64)
	if !known || int(value) >= low && int(value) <= high {
		return nil
	}
	return []problem{{key, fmt.Sprintf("expected %s to be in the range (%d - %d), got %d", key, low, high, int(value))}}
}

func createQueue(c *call) (string, error) {
	name := c.in().str("name")
	url := fmt.Sprintf("https://sqs.%s.%s/%s/%s", c.region, dnsSuffix(c.region), c.cloud.options.Account, name)
	if other := c.find(queueType, url); other != nil {
		if err := sameQueue(c, other); err != nil {
			return "", err
		}
	}
	describeQueue(c)
	c.out()["url"], c.out()["arn"] = url, c.arn("sqs", name)
	return url, checkQueue(c)
}

// sameQueue refuses a name that another queue has. SQS takes a request for a
// queue that exists, with the attributes that it has, as done.
func sameQueue(c *call, other *record) error {
	for _, key := range unionKeys(c.in(), other.Inputs) {
		if c.typ.same(key, c.in()[key], other.Inputs[key]) {
			continue
		}
		if key == "tags" {
			return c.refusef("QueueAlreadyExists", "A queue already exists with the same name and different tags")
		}
		attribute := strings.ToUpper(key[:1]) + key[1:]
		return c.refusef("QueueAlreadyExists", "A queue already exists with the same name and a different value for attribute %s", attribute)
	}
	return nil
}

func describeQueue(c *call) {
	out := c.out()
	if !c.in().has("sqsManagedSseEnabled") {
		out["sqsManagedSseEnabled"] = !c.in().has("kmsMasterKeyId")
	}
	out.setDefault("kmsDataKeyReusePeriodSeconds", 300)
	for _, key := range []string{"policy", "redrivePolicy", "redriveAllowPolicy", "deduplicationScope", "fifoThroughputLimit"} {
		out.setDefault(key, "")
	}
}

func checkQueue(c *call) error {
	if c.in().has("policy") {
		if err := checkQueuePolicy(c); err != nil {
			return err
		}
	}
	return checkRedrive(c)
}

// checkQueuePolicy refuses documents that SQS cannot use; what is wrong, it
// does not say. Whether the policy lets in who needs it, nobody tells either: a
// rule whose events a queue refuses looks like one without events.
func checkQueuePolicy(c *call) error {
	if c.malformed(c.in().str("policy"), resourcePolicy) != "" {
		return c.refusef("InvalidAttributeValue", "Invalid value for the parameter Policy.")
	}
	return nil
}

// checkRedrive refuses a dead letter queue that does not exist or is of the
// other kind.
func checkRedrive(c *call) error {
	text := c.in().str("redrivePolicy")
	if text == "" {
		return nil
	}
	var redrive struct {
		Target string          `json:"deadLetterTargetArn"`
		Count  json.RawMessage `json:"maxReceiveCount"`
	}
	refuse := func(reason string) error {
		return c.refusef("InvalidParameterValue", "Value %s for parameter RedrivePolicy is invalid. Reason: %s", text, reason)
	}
	if err := json.Unmarshal([]byte(text), &redrive); err != nil || redrive.Target == "" {
		return refuse("Redrive policy does not contain mandatory attribute: deadLetterTargetArn.")
	}
	count, known := number(strings.Trim(string(redrive.Count), `"`))
	if !known || count < 1 || count > 1000 {
		return refuse("Invalid value for maxReceiveCount: " + string(redrive.Count) + ", valid values are from 1 to 1000 both inclusive.")
	}
	target := c.find(queueType, redrive.Target)
	if target == nil {
		return refuse("Dead letter target does not exist.")
	}
	if target.Inputs.boolean("fifoQueue") != c.in().boolean("fifoQueue") {
		return refuse("Dead-letter queue must be same type of queue as the source.")
	}
	return nil
}
