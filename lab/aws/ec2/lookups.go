package ec2

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"

	"tombolo/lab/aws/account"
	"tombolo/lab/standin"
)

func networkFunctions() map[string]*standin.Function {
	return map[string]*standin.Function{
		"aws:ec2/getVpc:getVpc": {SDK: ec2.LookupVpc, Run: func(q *standin.Query) (standin.Props, error) {
			vpc, err := Found(q, VPCType, "EC2 VPC", standin.Props{
				"state": "available", "default": false, "ipv6CidrBlock": "", "ipv6AssociationId": "",
			})
			if err == nil {
				id := vpc.Str("id")
				vpc["cidrBlockAssociations"] = []any{map[string]any{
					"associationId": "vpc-cidr-assoc-0" + id[len(id)-16:], "cidrBlock": vpc["cidrBlock"], "state": "associated",
				}}
			}
			return vpc, err
		}},
		"aws:ec2/getSubnet:getSubnet":                               {SDK: ec2.LookupSubnet, Run: getSubnet},
		"aws:ec2/getInstanceTypeOfferings:getInstanceTypeOfferings": {SDK: ec2.GetInstanceTypeOfferings, Run: getInstanceTypeOfferings},
		"aws:ec2/getVpcs:getVpcs":                                   {SDK: ec2.GetVpcs, Run: ListIDs(VPCType, "ids")},
		"aws:ec2/getEips:getEips": {SDK: ec2.GetEips, Run: func(q *standin.Query) (standin.Props, error) {
			addresses := []any{}
			for r := range q.Cloud.Each(EIPType, q.Region) {
				if Matches(q, r) {
					addresses = append(addresses, r.Outputs["publicIp"])
				}
			}
			return standin.Props{"id": q.Region, "allocationIds": IDs(q, EIPType), "publicIps": addresses}, nil
		}},
	}
}

func getSubnet(q *standin.Query) (standin.Props, error) {
	return Found(q, SubnetType, "EC2 Subnet", standin.Props{
		"state": "available", "defaultForAz": false, "availableIpAddressCount": 251,
		"ipv6CidrBlock": "", "ipv6CidrBlockAssociationId": "", "customerOwnedIpv4Pool": "", "outpostArn": "",
		"enableLniAtDeviceIndex": 0, "mapCustomerOwnedIpOnLaunch": false,
	})
}

// getInstanceTypeOfferings tells in which zones the types that are asked for are offered.
func getInstanceTypeOfferings(q *standin.Query) (standin.Props, error) {
	filters := q.Args.Objects("filters")
	if q.Args.Str("locationType") != "availability-zone" || len(filters) != 1 || filters[0].Str("name") != "instance-type" {
		return nil, errors.New("the AWS stand-in is asked for the offerings of instance types by locationType availability-zone and the filter instance-type")
	}
	types, kinds, places := []any{}, []any{}, []any{}
	for _, typ := range filters[0].List("values") {
		for _, zone := range account.Zones(q.Region) {
			if Offers(q.Region, zone, typ) {
				types, kinds, places = append(types, typ), append(kinds, "availability-zone"), append(places, zone)
			}
		}
	}
	return standin.Props{"id": q.Region, "instanceTypes": types, "locationTypes": kinds, "locations": places}, nil
}

// Offers says whether a zone has an instance type. use1-az3, us-east-1e in most accounts, has no T3, as in
// https://github.com/ned1313/Getting-Started-Terraform/issues/44, and here nothing that the stand-in knows.
func Offers(region, zone, typ string) bool {
	return KnownInstance(typ) && account.ZoneID(region, zone) != "use1-az3"
}

// Matches reports whether a record has what a lookup asks for: an id, tags,
// filters, and any other argument by its name.
func Matches(q *standin.Query, r *standin.Record) bool {
	for _, key := range standin.SortedKeys(q.Args) {
		switch key {
		case "id":
			if q.Args.Str(key) != r.ID {
				return false
			}
		case "tags":
			if !r.HasTags(q.Args.Strs("tags")) {
				return false
			}
		case "filters":
		case "default", "defaultForAz":
			if q.Args.Boolean(key) {
				return false // the account has no default network
			}
		default:
			if !standin.Equal(q.Args[key], r.Outputs[key]) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(q.Args.Objects("filters"), func(f standin.Props) bool { return !filterMatches(f, r) })
}

// filterNames of EC2 that are not the property's name with dashes.
var filterNames = map[string]string{
	"cidr": "cidrBlock", "cidr-block": "cidrBlock", "group-name": "name", "private-ip-address": "privateIp",
}

func filterMatches(f standin.Props, r *standin.Record) bool {
	name, values := f.Str("name"), f.List("values")
	if key, ok := strings.CutPrefix(name, "tag:"); ok {
		return MatchesAny(values, r.Outputs.Strs("tags")[key])
	}
	if name == "tag-key" {
		return slices.ContainsFunc(values, func(v string) bool { return r.Outputs.Sub("tags").Has(v) })
	}
	property := filterNames[name]
	if property == "" {
		property = camel(name)
	}
	if strings.HasSuffix(name, "-id") && property == shortType(r)+"Id" || name == "group-id" {
		return MatchesAny(values, r.ID)
	}
	return MatchesAny(values, fmt.Sprint(r.Outputs[property]))
}

// shortType is a type's own name as a property is spelled, such as subnet.
func shortType(r *standin.Record) string {
	name := r.Type[strings.LastIndex(r.Type, ":")+1:]
	return strings.ToLower(name[:1]) + name[1:]
}

func camel(dashed string) string {
	parts := strings.Split(dashed, "-")
	for i, p := range parts[1:] {
		if p != "" {
			parts[i+1] = strings.ToUpper(p[:1]) + p[1:]
		}
	}
	return strings.Join(parts, "")
}

// MatchesAny compares with EC2's wildcard: an asterisk stands for any text.
func MatchesAny(patterns []string, value string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matchesPattern(p, value) })
}

func matchesPattern(pattern, value string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == value
	}
	rest, ok := strings.CutPrefix(value, parts[0])
	for _, part := range parts[1 : len(parts)-1] {
		if ok {
			_, rest, ok = strings.Cut(rest, part)
		}
	}
	return ok && strings.HasSuffix(rest, parts[len(parts)-1])
}

// Found is the only match among a type's resources, with more properties over its
// own.
func Found(q *standin.Query, typ, noun string, more standin.Props) (standin.Props, error) {
	var found []*standin.Record
	for r := range q.Cloud.Each(typ, q.Region) {
		if Matches(q, r) {
			found = append(found, r)
		}
	}
	r, err := Only(found, noun)
	if err != nil {
		return nil, err
	}
	return standin.Merged(standin.WithID(r), more), nil
}

// ListIDs answers a function that lists a type's resources, with their ids in an output.
func ListIDs(typ, output string) func(q *standin.Query) (standin.Props, error) {
	return func(q *standin.Query) (standin.Props, error) {
		return standin.Props{"id": q.Region, output: IDs(q, typ)}, nil
	}
}

// Only refuses to choose: a lookup of one thing has to find exactly one.
func Only(found []*standin.Record, noun string) (*standin.Record, error) {
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("no matching %s found", noun)
	case 1:
		return found[0], nil
	default:
		return nil, fmt.Errorf("multiple %ss matched; use additional constraints to reduce matches to a single %s", noun, noun)
	}
}

// Foreign is the first of the resources that a property of the call names that is
// not in a VPC; "" when all are. The property is a path, such as
// vpcConfig.subnetIds.
func Foreign(c *standin.Call, typ, property, vpc string) string {
	for _, id := range c.In().At(strings.Split(property, ".")...) {
		if c.Find(typ, id).Inputs.Str("vpcId") != vpc {
			return id
		}
	}
	return ""
}

// IDs of a type's resources that a lookup asks for.
func IDs(q *standin.Query, typ string) []any {
	ids := []any{}
	for r := range q.Cloud.Each(typ, q.Region) {
		if Matches(q, r) {
			ids = append(ids, r.ID)
		}
	}
	return ids
}
