package aws

import (
	"errors"
	"fmt"

	awssdk "github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/servicequotas"
)

// clusterQuota is the default quota of clusters in a region:
// https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html
const clusterQuota = 100

// quota is one of Service Quotas.
type quota struct {
	name  string
	value int
}

// serviceQuotas that the stand-in holds a program to, by service and code. Source:
// https://docs.aws.amazon.com/general/latest/gr/vpc-service.html and its
// siblings for EC2 and EKS.
var serviceQuotas = map[string]quota{
	"vpc/L-F678F1CE": {"VPCs per Region", vpcQuota},
	"ec2/L-0263D0A3": {"EC2-VPC Elastic IPs", addressQuota},
	"eks/L-1194D53C": {"Clusters", clusterQuota},
}

// quotaFunctions tell how much of what an account may have, and has.
func quotaFunctions() map[string]*function {
	return map[string]*function{
		"aws:servicequotas/getServiceQuota:getServiceQuota": {sdk: servicequotas.LookupServiceQuota, run: getServiceQuota},
		"aws:index/getRegions:getRegions":                   {sdk: awssdk.GetRegions, run: getRegions},
		"aws:ec2/getVpcs:getVpcs": {sdk: ec2.GetVpcs, run: func(q *query) (props, error) {
			return props{"id": q.region, "ids": q.ids(vpcType)}, nil
		}},
		"aws:ec2/getEips:getEips": {sdk: ec2.GetEips, run: func(q *query) (props, error) {
			addresses := []any{}
			for r := range q.cloud.each(eipType, q.region) {
				if q.matches(r) {
					addresses = append(addresses, r.Outputs["publicIp"])
				}
			}
			return props{"id": q.region, "allocationIds": q.ids(eipType), "publicIps": addresses}, nil
		}},
		"aws:eks/getClusters:getClusters": {sdk: eks.GetClusters, run: func(q *query) (props, error) {
			return props{"id": q.region, "names": q.ids(clusterType)}, nil
		}},
	}
}

// ids of a type's resources that a lookup asks for.
func (q *query) ids(typ string) []any {
	ids := []any{}
	for r := range q.cloud.each(typ, q.region) {
		if q.matches(r) {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

func getServiceQuota(q *query) (props, error) {
	service, code := q.args.str("serviceCode"), q.args.str("quotaCode")
	found, ok := serviceQuotas[service+"/"+code]
	if !ok {
		return nil, fmt.Errorf("the AWS stand-in does not know the quota %q of service %q; it is asked by quotaCode", code, service)
	}
	return props{
		"id": service + "/" + code, "arn": q.arn("servicequotas", service+"/"+code), "adjustable": true, "globalQuota": false,
		"quotaCode": code, "quotaName": found.name, "serviceCode": service, "serviceName": service,
		"value": float64(found.value), "defaultValue": float64(found.value), "usageMetrics": []any{},
	}, nil
}

// getRegions lists the regions of the partition: in this account all are enabled.
func getRegions(q *query) (props, error) {
	if len(q.args.objects("filters")) > 0 {
		return nil, errors.New("the AWS stand-in does not filter regions")
	}
	names := []any{}
	for _, name := range sortedKeys(regions) {
		if partition(name) == partition(q.region) {
			names = append(names, name)
		}
	}
	return props{"id": partition(q.region), "names": names}, nil
}
