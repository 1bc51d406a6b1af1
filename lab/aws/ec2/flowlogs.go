package ec2

import (
	"fmt"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/iam"
	"tombolo/lab/aws/logs"
	"tombolo/lab/standin"
)

// FlowLogType is the type of flow logs, which EC2 sends to a log group or a bucket.
const FlowLogType = "aws:ec2/flowLog:FlowLog"

// deliverer assumes the role of a flow log.
const deliverer = "vpc-flow-logs.amazonaws.com"

func flowLogTypes() map[string]*standin.Type {
	return map[string]*standin.Type{
		FlowLogType: {
			Constructor: ec2.NewFlowLog,
			Noun:        "EC2 Flow Log",
			API:         standin.API{Service: "EC2", Create: "CreateFlowLogs", Update: "CreateTags", Remove: "DeleteFlowLogs"},
			// internal/service/ec2/vpc_flow_log.go: all but tags
			ForceNew: []string{
				"deliverCrossAccountRole", "destinationOptions", "eniId", "iamRoleArn", "logDestination", "logDestinationType", "logFormat",
				"maxAggregationInterval", "subnetId", "trafficType", "transitGatewayAttachmentId", "transitGatewayId", "vpcId",
			},
			Defaults:   standin.Props{"logDestinationType": "cloud-watch-logs", "maxAggregationInterval": 600.0},
			References: []standin.Reference{{Path: []string{"vpcId"}, To: VPCType, Weak: true, Missing: MissingVPC}},
			Create:     createFlowLog,
			Takes:      standin.Timing{Create: time.Second, Remove: time.Second},
		},
	}
}

// createFlowLog refuses what EC2 refuses, and a log group into which the role could write
// nothing: EC2 makes such a flow log, and says "Access error" in its status. Sources:
// https://docs.aws.amazon.com/vpc/latest/userguide/flow-logs-troubleshooting.html and
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateFlowLogs.html
func createFlowLog(c *standin.Call) (string, error) {
	in := c.In()
	for other := range c.Cloud.Each(FlowLogType, c.Region) {
		if other.Inputs.Str("vpcId") == in.Str("vpcId") && other.Inputs.Str("trafficType") == in.Str("trafficType") &&
			other.Inputs.Str("logDestination") == in.Str("logDestination") {
			return "", c.Refusef("FlowLogAlreadyExists", "Error. There is an existing Flow Log with the same configuration and log destination.")
		}
	}
	var err error
	if in.Str("logDestinationType") == "s3" {
		err = checkFlowBucket(c)
	} else {
		err = checkFlowGroup(c)
	}
	if err != nil {
		return "", err
	}
	id := account.NewID("fl")
	c.Out()["arn"] = account.ARN(c, "ec2", "vpc-flow-log/"+id)
	c.Out().SetDefault("logFormat", "${version} ${account-id} ${interface-id} ${srcaddr} ${dstaddr} ${srcport} ${dstport} ${protocol} ${packets} ${bytes} ${start} ${end} ${action} ${log-status}")
	return id, nil
}

// checkFlowBucket does not look for the bucket: it may be another account's.
func checkFlowBucket(c *standin.Call) error {
	in := c.In()
	if in.Str("iamRoleArn") != "" {
		return c.Refusef("InvalidParameter", "DeliverLogsPermissionArn is not applicable for s3 delivery")
	}
	return nil
}

func checkFlowGroup(c *standin.Call) error {
	in := c.In()
	if in.Str("iamRoleArn") == "" {
		return c.Refusef("InvalidParameter", "DeliverLogsPermissionArn can't be empty if LogDestinationType is cloud-watch-logs.")
	}
	role := iam.RoleOf(c.Cloud, in.Str("iamRoleArn"))
	if role == nil || !iam.Trusts(role, deliverer, "sts:AssumeRole") {
		return fmt.Errorf("flow log: Access error: %s does not exist, or %s cannot assume it", in.Str("iamRoleArn"), deliverer)
	}
	name := in.Str("logDestination")[strings.Index(in.Str("logDestination"), ":log-group:")+len(":log-group:"):]
	if c.Find(logs.LogGroupType, strings.TrimSuffix(name, ":*")) == nil {
		return fmt.Errorf("flow log: Access error: there is no log group %s, and the role makes none", name)
	}
	return nil
}
