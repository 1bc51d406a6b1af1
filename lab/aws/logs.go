package aws

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/cloudwatch"
)

const logGroupType = "aws:cloudwatch/logGroup:LogGroup"

// retentions are the days that CloudWatch Logs offers; 0 keeps logs for ever.
// Source: https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html
var retentions = []int{0, 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653}

var logGroupName = regexp.MustCompile(`^[.\-_/#A-Za-z0-9]{1,512}$`)

func logTypes() map[string]*resourceType {
	return map[string]*resourceType{
		logGroupType: {
			constructor: cloudwatch.NewLogGroup,
			noun:        "CloudWatch Logs Log Group",
			api:         api{service: "CloudWatch Logs", create: "CreateLogGroup", update: "PutRetentionPolicy", remove: "DeleteLogGroup"},
			// internal/service/logs/group.go
			forceNew: []string{"logGroupClass", "name", "namePrefix"},
			autoname: autoname{property: "name", max: 512},
			defaults: props{"retentionInDays": 0.0, "skipDestroy": false},
			validate: validateLogGroup,
			create:   createLogGroup,
			update:   checkLogKey,
			takes:    timing{create: time.Second, remove: time.Second},
		},
	}
}

func logFunctions() map[string]*function {
	return map[string]*function{
		"aws:cloudwatch/getLogGroups:getLogGroups": {sdk: cloudwatch.GetLogGroups, run: func(q *query) (props, error) {
			arns, names := []any{}, []any{}
			for r := range q.cloud.each(logGroupType, q.region) {
				if strings.HasPrefix(r.ID, q.args.str("logGroupNamePrefix")) {
					arns, names = append(arns, r.Outputs["arn"]), append(names, r.ID)
				}
			}
			return props{"id": q.region, "arns": arns, "logGroupNames": names}, nil
		}},
	}
}

func validateLogGroup(in props) []problem {
	var problems []problem
	if name := in.str("name"); name != "" && !logGroupName.MatchString(name) {
		problems = append(problems, problem{"name", "invalid value for name (only alphanumeric characters, and ._-/# are allowed, up to 512): " + name})
	}
	if days := in.integer("retentionInDays"); !hasUnknown(in["retentionInDays"]) && !slices.Contains(retentions, days) {
		problems = append(problems, problem{"retentionInDays", fmt.Sprintf("expected retentionInDays to be one of %v, got %d", retentions, days)})
	}
	return problems
}

func createLogGroup(c *call) (string, error) {
	name := c.in().str("name")
	if c.find(logGroupType, name) != nil {
		return "", c.refusef("ResourceAlreadyExistsException", "The specified log group already exists")
	}
	c.out()["arn"] = c.arn("logs", "log-group:"+name)
	c.out().setDefault("logGroupClass", "STANDARD")
	return name, checkLogKey(c)
}

func checkLogKey(c *call) error {
	if key := c.in().str("kmsKeyId"); key != "" {
		_, err := c.usableKey(key)
		return err
	}
	return nil
}
