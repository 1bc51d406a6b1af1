// Package logs is CloudWatch Logs in the stand-in.
package logs

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/cloudwatch"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/kms"
	"tombolo/lab/standin"
)

// LogGroupType is the type of log groups.
const LogGroupType = "aws:cloudwatch/logGroup:LogGroup"

// retentions are the days that CloudWatch Logs offers; 0 keeps logs for ever.
// Source: https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html
var retentions = []int{0, 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653}

// Types are log groups.
func Types() map[string]*standin.Type {
	return map[string]*standin.Type{
		LogGroupType: {
			Constructor: cloudwatch.NewLogGroup,
			Noun:        "CloudWatch Logs Log Group",
			API:         standin.API{Service: "CloudWatch Logs", Create: "CreateLogGroup", Update: "PutRetentionPolicy", Remove: "DeleteLogGroup"},
			// internal/service/logs/group.go
			ForceNew: []string{"logGroupClass", "name", "namePrefix"},
			Autoname: standin.Autoname{Property: "name", Max: 512},
			Defaults: standin.Props{"retentionInDays": 0.0, "skipDestroy": false},
			Validate: validateLogGroup,
			Put:      checkLogKey,
			Create:   createLogGroup,
			Takes:    standin.Timing{Create: time.Second, Remove: time.Second},
		},
	}
}

// Functions look up log groups.
func Functions() map[string]*standin.Function {
	return map[string]*standin.Function{
		"aws:cloudwatch/getLogGroups:getLogGroups": {SDK: cloudwatch.GetLogGroups, Run: func(q *standin.Query) (standin.Props, error) {
			arns, names := []any{}, []any{}
			for r := range q.Cloud.Each(LogGroupType, q.Region) {
				if strings.HasPrefix(r.ID, q.Args.Str("logGroupNamePrefix")) {
					arns, names = append(arns, r.Outputs["arn"]), append(names, r.ID)
				}
			}
			return standin.Props{"id": q.Region, "arns": arns, "logGroupNames": names}, nil
		}},
	}
}

func validateLogGroup(in standin.Props) []standin.Problem {
	if days := in.Integer("retentionInDays"); !standin.HasUnknown(in["retentionInDays"]) && !slices.Contains(retentions, days) {
		return []standin.Problem{{Path: "retentionInDays", Reason: fmt.Sprintf("expected retentionInDays to be one of %v, got %d", retentions, days)}}
	}
	return nil
}

func createLogGroup(c *standin.Call) (string, error) {
	name := c.In().Str("name")
	if c.Find(LogGroupType, name) != nil {
		return "", c.Refusef("ResourceAlreadyExistsException", "The specified log group already exists")
	}
	c.Out()["arn"] = account.ARN(c, "logs", "log-group:"+name)
	c.Out().SetDefault("logGroupClass", "STANDARD")
	return name, nil
}

func checkLogKey(c *standin.Call) error {
	if key := c.In().Str("kmsKeyId"); key != "" {
		_, err := kms.UsableKey(c, key)
		return err
	}
	return nil
}
