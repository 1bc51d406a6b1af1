package aws

import (
	"testing"

	"tombolo/lab/aws/ec2"
	"tombolo/lab/aws/iam"
	"tombolo/lab/aws/logs"
	"tombolo/lab/standin"
)

// TestFlowLogRefusals: EC2 refuses some flow logs, and of others nothing would arrive.
func TestFlowLogRefusals(t *testing.T) {
	flowLog := func(w *world, change props) props {
		group := w.Make(logs.LogGroupType, "flows", props{"name": "/aws/vpc/net/flow-logs"})
		role := w.Make(iam.RoleType, "flows", props{
			"assumeRolePolicy": `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"vpc-flow-logs.amazonaws.com"},"Action":["sts:AssumeRole"]}]}`,
		})
		in := props{"vpcId": w.vpc.ID, "trafficType": "ALL", "logDestination": group.Out["arn"], "iamRoleArn": role.Out["arn"]}
		return standin.Merged(in, change)
	}
	w := newWorld(t)
	in := flowLog(w, nil)
	w.Make(ec2.FlowLogType, "first", in)
	w.denied(ec2.FlowLogType, in, "FlowLogAlreadyExists: Error. There is an existing Flow Log")
	w.denied(ec2.FlowLogType, standin.Merged(in, props{"trafficType": "REJECT", "vpcId": "vpc-0123456789abcdef0"}), "InvalidVpcID.NotFound")
	w.denied(ec2.FlowLogType, standin.Merged(in, props{"trafficType": "REJECT", "iamRoleArn": w.nodeRole.Out["arn"]}), "vpc-flow-logs.amazonaws.com cannot assume it")
	w.denied(ec2.FlowLogType, standin.Merged(in, props{"trafficType": "REJECT", "iamRoleArn": ""}), "DeliverLogsPermissionArn can't be empty")
	w.denied(ec2.FlowLogType, standin.Merged(in, props{"trafficType": "REJECT", "logDestination": "arn:aws:logs:eu-central-1:111122223333:log-group:/other"}), "there is no log group /other")
	bucket := props{"logDestinationType": "s3", "logDestination": "arn:aws:s3:::logs"}
	w.denied(ec2.FlowLogType, standin.Merged(in, bucket), "DeliverLogsPermissionArn is not applicable for s3 delivery")
	w.Make(ec2.FlowLogType, "to a bucket", standin.Merged(in, standin.Merged(bucket, props{"iamRoleArn": ""})))
}
