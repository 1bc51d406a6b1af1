package addon

import (
	"fmt"
	"regexp"
	"slices"

	"tombolo/config/field"
	"tombolo/config/strict"
)

// KEDAOptions are the options of keda.
type KEDAOptions struct {
	// Queues are the ARNs of SQS queues whose length its operator may read. Everybody who
	// may make a ScaledObject can have the operator read them. Default: none.
	Queues []string `yaml:"queues,omitempty" cloud:"aws"`
	// CloudWatch lets its operator read AWS's metrics: all of the cluster's account and
	// region, as there is no narrower right. Everybody who may make a ScaledObject can have
	// the operator read them. Default false.
	CloudWatch bool `yaml:"cloudWatch,omitempty" cloud:"aws"`
}

var kedaOptionsFields = field.Of[KEDAOptions](map[string]field.Descriptor{
	"Queues": {
		Rule: strict.Rule{
			What: "the ARN of an SQS queue", Noun: "queue", Example: "arn:aws:sqs:eu-central-1:111122223333:orders",
			// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-queue-message-identifiers.html
			Pattern: regexp.MustCompile(`^arn:aws[a-z-]*:sqs:[a-z0-9-]+:[0-9]{12}:([A-Za-z0-9_-]{1,80}|[A-Za-z0-9_-]{1,75}\.fifo)$`),
		},
		Change: field.Changes("the role is made, changed or deleted, and the engine follows the values"),
		Remedy: "remove it: the scalers of Azure take the identity that a TriggerAuthentication names",
	},
	"CloudWatch": {Rule: strict.Rule{Default: false}, Change: field.Changes("the role is made, changed or deleted, and the engine follows the values"), Remedy: "remove it: CloudWatch is AWS's"},
})

// kedaAccount is the service account of the chart's operator, which is what calls AWS:
// https://keda.sh/docs/latest/authentication-providers/aws/
const kedaAccount = "keda-operator"

var _ = register(Addon{
	Name:            "keda",
	Summary:         "Scales workloads by events, such as the length of a queue, down to none.",
	Namespace:       "keda",
	NamespaceLabels: podSecurity("restricted"),
	Stage:           Others,
}, definition[KEDAOptions]{
	Fields: kedaOptionsFields,
	Needs: func(in Input[KEDAOptions]) Needs {
		statements := kedaStatements(in.Facts, in.Options)
		if len(statements) == 0 {
			return Needs{} // nothing of AWS's to read: no role
		}
		return Needs{Identities: []Identity{{ServiceAccount: kedaAccount, Statements: statements}}}
	},
	Values: func(in Input[KEDAOptions], out Outputs) map[string]any {
		operator := map[string]any{"create": true, "name": kedaAccount}
		if role := out.Made[RoleARN]; role != "" {
			operator = serviceAccount(kedaAccount, role)
		}
		return with(map[string]any{
			"clusterName":    in.Cluster, // in the events that KEDA sends
			"serviceAccount": map[string]any{"operator": operator},
		}, "env", in.proxyEnv())
	},
	Check: func(o KEDAOptions, _ Selection) []Problem {
		var problems []Problem
		for i, queue := range o.Queues {
			if first := slices.Index(o.Queues, queue); first < i {
				problems = append(problems, Problem{
					Path: at("queues", i, ""), Message: fmt.Sprintf("%q is already item %d of the list", queue, first+1), Remedy: "give each queue once",
				})
			}
		}
		return problems
	},
})

// kedaStatements are what the scalers aws-sqs-queue and aws-cloudwatch call:
// https://github.com/kedacore/keda/blob/v2.20.2/pkg/scalers/aws_sqs_queue_scaler.go
// https://github.com/kedacore/keda/blob/v2.20.2/pkg/scalers/aws_cloudwatch_scaler.go
func kedaStatements(f Facts, o KEDAOptions) []Statement {
	var statements []Statement
	if len(o.Queues) > 0 {
		statements = append(statements, Statement{Sid: "ReadQueueLengths", Actions: []string{"sqs:GetQueueAttributes"}, Resources: o.Queues})
	}
	if o.CloudWatch {
		statements = append(statements, Statement{
			Sid: "ReadMetrics", Actions: []string{"cloudwatch:GetMetricData"},
			Resources: []string{"*"}, Conditions: f.inRegion(),
			Reason: "CloudWatch's GetMetricData takes no resource; the condition keeps it to the region.",
		})
	}
	return statements
}
