// Package account is what all services of the AWS stand-in have in common: the
// account itself, its regions, its ARNs and ids, and how AWS words its errors.
package account

import (
	"crypto/rand"
	"fmt"
	"hash/fnv"
	"net"
	"slices"
	"strings"

	"github.com/google/uuid"

	"tombolo/lab/standin"
)

// ARNIn makes an ARN of the account.
func ARNIn(c *standin.Cloud, region, service, resource string) string {
	if service == "iam" {
		region = ""
	}
	return fmt.Sprintf("arn:%s:%s:%s:%s:%s", Partition(region), service, region, c.Account, resource)
}

// ARN makes an ARN in the region of a call.
func ARN(c *standin.Call, service, resource string) string {
	return ARNIn(c.Cloud, c.Region, service, resource)
}

// CallerARN is the ARN of the caller: the one user of the account, or of the account that
// the organisation's users are in.
func CallerARN(c *standin.Cloud, region string) string {
	if c.Caller != "" {
		return c.Caller
	}
	return fmt.Sprintf("arn:%s:iam::%s:user/tombolo", Partition(region), c.Account)
}

// UserID of the account's one user.
const UserID = "AIDATOMBOLOLABUSER000"

// Regions and the letters of their zones that a new account sees; in us-west-1 those of an older
// one, as a new one has no usw1-az2. Source:
// https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-regions.html
var Regions = map[string][]string{
	"af-south-1": {"a", "b", "c"}, "ap-east-1": {"a", "b", "c"},
	"ap-northeast-1": {"a", "c", "d"}, "ap-northeast-2": {"a", "b", "c", "d"}, "ap-northeast-3": {"a", "b", "c"},
	"ap-south-1": {"a", "b", "c"}, "ap-south-2": {"a", "b", "c"},
	"ap-southeast-1": {"a", "b", "c"}, "ap-southeast-2": {"a", "b", "c"}, "ap-southeast-3": {"a", "b", "c"},
	"ap-southeast-4": {"a", "b", "c"}, "ca-central-1": {"a", "b", "d"}, "ca-west-1": {"a", "b", "c"},
	"cn-north-1": {"a", "b", "d"}, "cn-northwest-1": {"a", "b", "c"},
	"eu-central-1": {"a", "b", "c"}, "eu-central-2": {"a", "b", "c"}, "eu-north-1": {"a", "b", "c"},
	"eu-south-1": {"a", "b", "c"}, "eu-south-2": {"a", "b", "c"},
	"eu-west-1": {"a", "b", "c"}, "eu-west-2": {"a", "b", "c"}, "eu-west-3": {"a", "b", "c"},
	"il-central-1": {"a", "b", "c"}, "me-central-1": {"a", "b", "c"}, "me-south-1": {"a", "b", "c"},
	"sa-east-1": {"a", "b", "c"}, "us-east-1": {"a", "b", "c", "d", "e", "f"}, "us-east-2": {"a", "b", "c"},
	"us-gov-east-1": {"a", "b", "c"}, "us-gov-west-1": {"a", "b", "c"},
	"us-west-1": {"a", "b", "c"}, "us-west-2": {"a", "b", "c", "d"},
}

// Zones of a region, in order.
func Zones(region string) []string {
	var out []string
	for _, letter := range Regions[region] {
		out = append(out, region+letter)
	}
	return out
}

// zoneNumbers are the numbers in the ids of a region's zones where they do not follow the
// letters: each account has an order of its own, and us-east-1e is use1-az3 in most. Source:
// https://docs.aws.amazon.com/ram/latest/userguide/working-with-az-ids.html
var zoneNumbers = map[string][]int{"us-east-1": {6, 1, 2, 4, 3, 5}, "ca-central-1": {1, 2, 4}}

// Elsewhere are zones of a region that are no availability zones, and not open to the account,
// with their ids. Source: https://docs.aws.amazon.com/local-zones/latest/ug/available-local-zones.html
var Elsewhere = map[string][][2]string{
	"us-east-1": {{"us-east-1-bos-1a", "use1-bos1-az1"}, {"us-east-1-wl1-bos-wlz-1", "use1-wl1-bos-wlz1"}},
	"us-west-2": {{"us-west-2-lax-1a", "usw2-lax1-az1"}, {"us-west-2-lax-1b", "usw2-lax1-az2"}},
}

// WithoutControlPlane are the ids of zones in which EKS takes no subnet for a control plane. Source:
// https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
var WithoutControlPlane = []string{"use1-az3", "usw1-az2", "cac1-az3"}

// ZoneID is the account-independent name of a zone, such as euc1-az1.
func ZoneID(region, zone string) string {
	var short strings.Builder
	for i, part := range strings.Split(region, "-") {
		if i == 0 {
			short.WriteString(part)
			continue
		}
		short.WriteString(part[:1])
		if strings.HasPrefix(part, "north") || strings.HasPrefix(part, "south") {
			if len(part) > 5 {
				short.WriteString(part[5:6])
			}
		}
	}
	at := slices.Index(Zones(region), zone)
	number := at + 1
	if numbers := zoneNumbers[region]; at >= 0 && numbers != nil {
		number = numbers[at]
	}
	return fmt.Sprintf("%s-az%d", short.String(), number)
}

// Partition of AWS that a region is in.
func Partition(region string) string {
	switch {
	case strings.HasPrefix(region, "cn-"):
		return "aws-cn"
	case strings.HasPrefix(region, "us-gov-"):
		return "aws-us-gov"
	default:
		return "aws"
	}
}

// DNSSuffix of a region's services.
func DNSSuffix(region string) string {
	if Partition(region) == "aws-cn" {
		return "amazonaws.com.cn"
	}
	return "amazonaws.com"
}

// Host is the name of a service in a region.
func Host(service, region string) string {
	return service + "." + region + "." + DNSSuffix(region)
}

// Hosts are the names of a service in all regions.
func Hosts(service string) []string {
	var hosts []string
	for _, region := range standin.SortedKeys(Regions) {
		hosts = append(hosts, Host(service, region))
	}
	return hosts
}

// RegionOf a host of a service, which may have a port.
func RegionOf(service, host string) (region string, known bool) {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	region, _, _ = strings.Cut(strings.TrimPrefix(host, service+"."), ".")
	return region, Regions[region] != nil && Host(service, region) == host
}

// NewID makes an id as EC2 does: a prefix and 17 hexadecimal digits that begin
// with 0.
func NewID(prefix string) string { return prefix + "-0" + RandomHex(16) }

// UniqueID makes an id as IAM does, such as AROA and 17 letters and digits.
func UniqueID(prefix string) string { return prefix + rand.Text()[:17] }

// RandomHex makes a number of hexadecimal digits.
func RandomHex(digits int) string {
	b := make([]byte, digits/2+1)
	_, _ = rand.Read(b) // never fails
	return fmt.Sprintf("%x", b)[:digits]
}

// UUID makes a random UUID, as KMS and EKS name things.
func UUID() string { return uuid.NewString() }

// Hashed makes a short stable number from strings.
func Hashed(parts ...string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(strings.Join(parts, "\x00")))
	return h.Sum32()
}
