// Package servicequotas is Service Quotas in the stand-in.
package servicequotas

import (
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/servicequotas"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/ec2"
	"tombolo/lab/aws/eks"
	"tombolo/lab/standin"
)

// quota is one of Service Quotas.
type quota struct {
	name  string
	value int
}

// serviceQuotas that the stand-in holds a program to, by service and code. Source:
// https://docs.aws.amazon.com/general/latest/gr/vpc-service.html and its
// siblings for EC2 and EKS.
var serviceQuotas = map[string]quota{
	"vpc/L-F678F1CE": {"VPCs per Region", ec2.VpcQuota},
	"ec2/L-0263D0A3": {"EC2-VPC Elastic IPs", ec2.AddressQuota},
	"eks/L-1194D53C": {"Clusters", eks.ClusterQuota},
}

// Functions tell how much of what an account may have, and has.
func Functions() map[string]*standin.Function {
	return map[string]*standin.Function{
		"aws:servicequotas/getServiceQuota:getServiceQuota": {SDK: servicequotas.LookupServiceQuota, Run: getServiceQuota},
	}
}

func getServiceQuota(q *standin.Query) (standin.Props, error) {
	service, code := q.Args.Str("serviceCode"), q.Args.Str("quotaCode")
	found, ok := serviceQuotas[service+"/"+code]
	if !ok {
		return nil, fmt.Errorf("the AWS stand-in does not know the quota %q of service %q; it is asked by quotaCode", code, service)
	}
	return standin.Props{
		"id": service + "/" + code, "arn": account.ARN(q.Call, "servicequotas", service+"/"+code), "adjustable": true, "globalQuota": false,
		"quotaCode": code, "quotaName": found.name, "serviceCode": service, "serviceName": service,
		"value": float64(found.value), "defaultValue": float64(found.value), "usageMetrics": []any{},
	}, nil
}
