package aws

import (
	"strings"
	"testing"

	"tombolo/lab/aws/ec2"
	"tombolo/lab/aws/eks"
)

func TestServiceQuotas(t *testing.T) {
	a := newAccount(t)
	for code, want := range map[string]float64{"vpc/L-F678F1CE": ec2.VpcQuota, "ec2/L-0263D0A3": ec2.AddressQuota, "eks/L-1194D53C": eks.ClusterQuota} {
		service, code, _ := strings.Cut(code, "/")
		out, err := a.Invoke("aws:servicequotas/getServiceQuota:getServiceQuota", props{"serviceCode": service, "quotaCode": code})
		if err != nil || out["value"] != want {
			t.Errorf("%s: %v, %v; want %v", code, out["value"], err, want)
		}
	}
	a.unanswered("aws:servicequotas/getServiceQuota:getServiceQuota", props{"serviceCode": "vpc", "quotaName": "VPCs per Region"}, `the AWS stand-in does not know the quota "" of service "vpc"; it is asked by quotaCode`)
}

func TestRegions(t *testing.T) {
	a := newAccount(t)
	out, err := a.Invoke("aws:index/getRegions:getRegions", props{})
	if err != nil || len(out.List("names")) < 20 || strings.Contains(strings.Join(out.List("names"), " "), "cn-") {
		t.Errorf("regions are %v, %v", out["names"], err)
	}
}

// What counts against a quota is what there is in the region.
func TestUsage(t *testing.T) {
	a := newAccount(t)
	lists := map[string]string{"aws:ec2/getVpcs:getVpcs": "ids", "aws:ec2/getEips:getEips": "publicIps", "aws:eks/getClusters:getClusters": "names"}
	for token, key := range lists {
		if out, err := a.Invoke(token, props{}); err != nil || len(out.List(key)) != 0 {
			t.Errorf("%s of nothing: %v, %v", token, out[key], err)
		}
	}
	a.Make(ec2.VPCType, "net", props{"cidrBlock": "10.0.0.0/16"})
	a.Make(ec2.EIPType, "ip", props{"domain": "vpc"})
	for token, key := range lists {
		want := 1
		if key == "names" {
			want = 0
		}
		if out, err := a.Invoke(token, props{}); err != nil || len(out.List(key)) != want {
			t.Errorf("%s: %v, %v; want %d", token, out[key], err, want)
		}
	}
}
