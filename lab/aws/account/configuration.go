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

// Configuration of the AWS provider. Nothing of one region is in another.
func Configuration() standin.Configuration {
	return standin.Configuration{
		Settings: awssdk.ProviderArgs{}.ElementType(),
		Replaces: []string{"region"},
		Check:    checkSettings,
		Session: func(config standin.Props) (region string, tags map[string]string) {
			return config.Str("region"), config.Sub("defaultTags").Strs("tags")
		},
		Account: func(config standin.Props) string {
			if arn := strings.SplitN(config.Sub("assumeRole").Str("roleArn"), ":", 6); len(arn) == 6 {
				return arn[4]
			}
			return ""
		},
	}
}

// checkSettings refuses what the AWS provider refuses: regions that do not
// exist, other accounts.
func checkSettings(c *standin.Cloud, config standin.Props) []standin.Problem {
	var problems []standin.Problem
	if region := config.Str("region"); region != "" && Regions[region] == nil {
		problems = append(problems, standin.Problem{Path: "region", Reason: "invalid AWS Region: " + region})
	}
	if reason := accountGuard(c, config); reason != "" {
		problems = append(problems, standin.Problem{Path: "allowedAccountIds", Reason: reason})
	}
	return problems
}

func accountGuard(c *standin.Cloud, config standin.Props) string {
	account := c.Account
	allowed, forbidden := config.List("allowedAccountIds"), config.List("forbiddenAccountIds")
	if len(allowed) > 0 && !standin.HasUnknown(config["allowedAccountIds"]) && !slices.Contains(allowed, account) {
		return fmt.Sprintf("AWS account ID not allowed: %s (allowedAccountIds: %s)", account, strings.Join(allowed, ", "))
	}
	if slices.Contains(forbidden, account) {
		return fmt.Sprintf("AWS account ID not allowed: %s (it is among forbiddenAccountIds)", account)
	}
	return ""
}

// ValidateTags checks tags against AWS's limits: 50 tags, keys of 128 and values
// of 256 characters, no keys that begin with aws:.
func ValidateTags(in standin.Props) []standin.Problem {
	var problems []standin.Problem
	tags := in.Sub("tags")
	if len(tags) > 50 {
		problems = append(problems, standin.Problem{Path: "tags", Reason: "a resource can have at most 50 tags"})
	}
	for _, key := range standin.SortedKeys(tags) {
		value, _ := tags[key].(string)
		switch {
		case len(key) == 0 || len(key) > 128:
			problems = append(problems, standin.Problem{Path: "tags", Reason: "a tag's key has 1 to 128 characters: " + key})
		case len(value) > 256:
			problems = append(problems, standin.Problem{Path: "tags", Reason: "a tag's value has at most 256 characters: " + key})
		case len(key) >= 4 && key[:4] == "aws:":
			problems = append(problems, standin.Problem{Path: "tags", Reason: "a tag's key must not begin with aws: " + key})
		}
	}
	return problems
}

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
		"aws:index/getAvailabilityZones:getAvailabilityZones": {SDK: awssdk.GetAvailabilityZones, Run: getZones},
		"aws:index/getRegions:getRegions":                     {SDK: awssdk.GetRegions, Run: getRegions},
	}
}

// getZones lists the zones that are open to the account, or all. All availability zones are
// available, and no other zone is open.
func getZones(q *standin.Query) (standin.Props, error) {
	type zone struct{ name, id, kind, optIn string }
	var all []zone
	for _, z := range Zones(q.Region) {
		all = append(all, zone{z, ZoneID(q.Region, z), "availability-zone", "opt-in-not-required"})
	}
	if q.Args.Boolean("allAvailabilityZones") {
		for _, z := range Elsewhere[q.Region] {
			kind := map[bool]string{true: "wavelength-zone", false: "local-zone"}[strings.Contains(z[0], "-wl")]
			all = append(all, zone{z[0], z[1], kind, "not-opted-in"})
		}
	}
	names, ids := []any{}, []any{}
	for _, z := range all {
		known := map[string]string{"zone-type": z.kind, "zone-id": z.id, "zone-name": z.name, "opt-in-status": z.optIn, "region-name": q.Region}
		left := slices.Contains(q.Args.List("excludeNames"), z.name) || slices.Contains(q.Args.List("excludeZoneIds"), z.id)
		for _, f := range q.Args.Objects("filters") {
			value, filters := known[f.Str("name")]
			if !filters {
				return nil, fmt.Errorf("reading EC2 Availability Zones: operation error EC2: DescribeAvailabilityZones, api error InvalidParameterValue: The filter '%s' is invalid", f.Str("name"))
			}
			left = left || !slices.Contains(f.List("values"), value)
		}
		if state := q.Args.Str("state"); left || state != "" && state != "available" {
			continue
		}
		names, ids = append(names, z.name), append(ids, z.id)
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
