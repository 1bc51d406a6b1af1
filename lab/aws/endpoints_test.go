package aws

import (
	"testing"

	"tombolo/lab/aws/ec2"
)

// In China some services have names of their own, and no others.
func TestEndpointServicesInChina(t *testing.T) {
	a := newAccount(t)
	a.Configure(props{"region": "cn-north-1"})
	vpc := a.Make(ec2.VPCType, "vpc", props{"cidrBlock": "10.0.0.0/16", "enableDnsHostnames": true})
	endpoint := func(service, kind string) props {
		return props{"vpcId": vpc.ID, "serviceName": service, "vpcEndpointType": kind}
	}
	for _, service := range []string{"cn.com.amazonaws.cn-north-1.ecr.api", "cn.com.amazonaws.cn-north-1.sts", "com.amazonaws.cn-north-1.logs"} {
		a.Make(ec2.EndpointType, service, endpoint(service, "Interface"))
	}
	a.Make(ec2.EndpointType, "s3", endpoint("com.amazonaws.cn-north-1.s3", "Gateway"))
	for _, service := range []string{"com.amazonaws.cn-north-1.ec2", "com.amazonaws.cn-north-1.ecr.dkr", "cn.com.amazonaws.cn-north-1.logs", "cn.com.amazonaws.eu-central-1.ec2"} {
		a.denied(ec2.EndpointType, endpoint(service, "Interface"), "api error InvalidServiceName: The Vpc Endpoint Service '"+service+"' does not exist")
	}
}
