package account

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	awssdk "github.com/pulumi/pulumi-aws/sdk/v6/go/aws"

	"tombolo/lab/standin"
)

// Functions tell of the account, its regions and their zones.
func Functions() map[string]*standin.Function {
	return map[string]*standin.Function{
		"aws:index/getCallerIdentity:getCallerIdentity": {SDK: awssdk.GetCallerIdentity, Run: func(q *standin.Query) (standin.Props, error) {
			account := q.Cloud.Account
			return standin.Props{"id": account, "accountId": account, "arn": cmp.Or(q.Caller, CallerARN(q.Cloud, q.Region)), "userId": UserID}, nil
		}},
		"aws:index/getPartition:getPartition": {SDK: awssdk.GetPartition, Run: func(q *standin.Query) (standin.Props, error) {
			reverse := strings.Split(DNSSuffix(q.Region), ".")
			slices.Reverse(reverse)
			p := Partition(q.Region)
			return standin.Props{"id": p, "partition": p, "dnsSuffix": DNSSuffix(q.Region), "reverseDnsPrefix": strings.Join(reverse, ".")}, nil
		}},
		"aws:index/getRegion:getRegion":                       {SDK: awssdk.GetRegion, Run: getRegion},
		"aws:index/getAvailabilityZones:getAvailabilityZones": {SDK: awssdk.GetAvailabilityZones, Run: getZones},
		"aws:index/getRegions:getRegions":                     {SDK: awssdk.GetRegions, Run: getRegions},
	}
}

func getRegion(q *standin.Query) (standin.Props, error) {
	name := q.Args.Str("name")
	if name == "" {
		name = q.Region
	}
	if Regions[name] == nil {
		return nil, fmt.Errorf("finding Region using the specified criteria: no such region %s", name)
	}
	return standin.Props{"id": name, "name": name, "endpoint": "ec2." + name + "." + DNSSuffix(name), "description": name}, nil
}

func getZones(q *standin.Query) (standin.Props, error) {
	names, ids := []any{}, []any{}
	if state := q.Args.Str("state"); state == "" || state == "available" {
		for _, z := range Zones(q.Region) {
			id := ZoneID(q.Region, z)
			if slices.Contains(q.Args.List("excludeNames"), z) || slices.Contains(q.Args.List("excludeZoneIds"), id) {
				continue
			}
			names, ids = append(names, z), append(ids, id)
		}
	}
	return standin.Props{"id": q.Region, "names": names, "zoneIds": ids, "groupNames": []any{q.Region + "-zg-1"}}, nil
}

// getRegions lists the regions of the partition: in this account all are enabled.
func getRegions(q *standin.Query) (standin.Props, error) {
	if len(q.Args.Objects("filters")) > 0 {
		return nil, errors.New("the AWS stand-in does not filter regions")
	}
	names := []any{}
	for _, name := range standin.SortedKeys(Regions) {
		if Partition(name) == Partition(q.Region) {
			names = append(names, name)
		}
	}
	return standin.Props{"id": Partition(q.Region), "names": names}, nil
}
