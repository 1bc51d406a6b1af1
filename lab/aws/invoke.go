package aws

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	awssdk "github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/resourcegroupstaggingapi"
)

// function is a function of the provider: a data source in Terraform's words.
type function struct {
	// sdk is the function of the Go SDK, such as ec2.LookupVpc.
	sdk any
	// run answers a call. What it returns is completed with the arguments.
	run func(q *query) (props, error)

	schema *schema
}

// query is one call of a function.
type query struct {
	*call
	args props
}

// invoke runs a function under the cloud's lock.
func (c *Cloud) invoke(s *session, f *function, args props) (props, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := &query{args: args, call: &call{
		cloud: c, session: s, action: "reading",
		typ: &resourceType{schema: &schema{inputs: &shape{}, outputs: &shape{}}}, r: &record{Inputs: args, Region: s.region},
	}}
	found, err := f.run(q)
	if err != nil {
		return nil, err
	}
	out := args.clone()
	for key, value := range found {
		if _, known := f.schema.outputs.fields[key]; known {
			out[key] = cloneValue(value)
		}
	}
	return normal(map[string]any(out)).(map[string]any), nil
}

// matches reports whether a record has what a lookup asks for: an id, tags,
// filters, and any other argument by its name.
func (q *query) matches(r *record) bool {
	for _, key := range sortedKeys(q.args) {
		switch key {
		case "id":
			if q.args.str(key) != r.ID {
				return false
			}
		case "tags":
			for k, v := range q.args.strs("tags") {
				if r.Outputs.strs("tags")[k] != v {
					return false
				}
			}
		case "filters":
		case "default", "defaultForAz":
			if q.args.boolean(key) {
				return false // the account has no default network
			}
		default:
			if !equal(q.args[key], r.Outputs[key]) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(q.args.objects("filters"), func(f props) bool { return !filterMatches(f, r) })
}

// filterNames of EC2 that are not the property's name with dashes.
var filterNames = map[string]string{
	"cidr": "cidrBlock", "cidr-block": "cidrBlock", "group-name": "name", "private-ip-address": "privateIp",
}

func filterMatches(f props, r *record) bool {
	name, values := f.str("name"), f.list("values")
	if key, ok := strings.CutPrefix(name, "tag:"); ok {
		return matchesAny(values, r.Outputs.strs("tags")[key])
	}
	if name == "tag-key" {
		return slices.ContainsFunc(values, func(v string) bool { return r.Outputs.sub("tags").has(v) })
	}
	property := filterNames[name]
	if property == "" {
		property = camel(name)
	}
	if strings.HasSuffix(name, "-id") && property == shortType(r)+"Id" || name == "group-id" {
		return matchesAny(values, r.ID)
	}
	return matchesAny(values, fmt.Sprint(r.Outputs[property]))
}

// shortType is a type's own name as a property is spelled, such as subnet.
func shortType(r *record) string {
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

// matchesAny compares with EC2's wildcard: an asterisk stands for any text.
func matchesAny(patterns []string, value string) bool {
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

// one finds the only match among a type's resources.
func (q *query) one(typ, noun string) (*record, error) {
	var found []*record
	for r := range q.cloud.each(typ, q.region) {
		if q.matches(r) {
			found = append(found, r)
		}
	}
	return only(found, noun)
}

// only refuses to choose: a lookup of one thing has to find exactly one.
func only(found []*record, noun string) (*record, error) {
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("no matching %s found", noun)
	case 1:
		return found[0], nil
	default:
		return nil, fmt.Errorf("multiple %ss matched; use additional constraints to reduce matches to a single %s", noun, noun)
	}
}

// withID returns a record's outputs and its id.
func withID(r *record) props {
	out := r.Outputs.clone()
	out["id"] = r.ID
	return out
}

func accountFunctions() map[string]*function {
	return map[string]*function{
		"aws:index/getCallerIdentity:getCallerIdentity": {sdk: awssdk.GetCallerIdentity, run: func(q *query) (props, error) {
			account := q.cloud.options.Account
			return props{"id": account, "accountId": account, "arn": q.cloud.callerARN(q.region), "userId": userID}, nil
		}},
		"aws:index/getPartition:getPartition": {sdk: awssdk.GetPartition, run: func(q *query) (props, error) {
			reverse := strings.Split(dnsSuffix(q.region), ".")
			slices.Reverse(reverse)
			p := partition(q.region)
			return props{"id": p, "partition": p, "dnsSuffix": dnsSuffix(q.region), "reverseDnsPrefix": strings.Join(reverse, ".")}, nil
		}},
		"aws:index/getRegion:getRegion":                       {sdk: awssdk.GetRegion, run: getRegion},
		"aws:index/getAvailabilityZones:getAvailabilityZones": {sdk: awssdk.GetAvailabilityZones, run: getZones},
	}
}

func getRegion(q *query) (props, error) {
	name := q.args.str("name")
	if name == "" {
		name = q.region
	}
	if regions[name] == nil {
		return nil, fmt.Errorf("finding Region using the specified criteria: no such region %s", name)
	}
	return props{"id": name, "name": name, "endpoint": "ec2." + name + "." + dnsSuffix(name), "description": name}, nil
}

func getZones(q *query) (props, error) {
	names, ids := []any{}, []any{}
	if state := q.args.str("state"); state == "" || state == "available" {
		for _, z := range zones(q.region) {
			id := zoneID(q.region, z)
			if slices.Contains(q.args.list("excludeNames"), z) || slices.Contains(q.args.list("excludeZoneIds"), id) {
				continue
			}
			names, ids = append(names, z), append(ids, id)
		}
	}
	return props{"id": q.region, "names": names, "zoneIds": ids, "groupNames": []any{q.region + "-zg-1"}}, nil
}

func taggingFunctions() map[string]*function {
	return map[string]*function{
		"aws:resourcegroupstaggingapi/getResources:getResources": {sdk: resourcegroupstaggingapi.GetResources, run: getResources},
	}
}

// getResources lists tagged resources. IAM's are not among them: the tagging
// API of a region knows roles and policies of none. Route 53's are found in one
// region only.
func getResources(q *query) (props, error) {
	if q.args.has("resourceArnLists") && (q.args.has("tagFilters") || q.args.has("resourceTypeFilters")) {
		return nil, errors.New("InvalidParameterException: ResourceARNList cannot be combined with other filters")
	}
	list := []any{}
	for _, r := range q.cloud.store.all() {
		typ := q.cloud.types[r.Type]
		if r.gone() || r.Implied || typ == nil || !typ.taggable() || typ.adopted || !typ.taggedIn(r, q.region) {
			continue
		}
		arn := r.Outputs.str("arn")
		if typ.arn != nil {
			arn = typ.arn(q.cloud, r)
		}
		if q.wanted(arn, r.Outputs.strs("tagsAll")) {
			list = append(list, map[string]any{
				"resourceArn": arn, "tags": r.Outputs["tagsAll"], "complianceDetails": []any{},
			})
		}
	}
	return props{"id": q.region, "resourceTagMappingLists": list}, nil
}

// taggedIn reports whether the tagging API of a region knows a resource.
func (t *resourceType) taggedIn(r *record, region string) bool {
	return r.Region == region || r.Region == global && t.tagsHome == region
}

func (q *query) wanted(arn string, tags map[string]string) bool {
	if len(tags) == 0 || arn == "" {
		return false
	}
	if arns := q.args.list("resourceArnLists"); len(arns) > 0 && !slices.Contains(arns, arn) {
		return false
	}
	for _, f := range q.args.objects("tagFilters") {
		value, has := tags[f.str("key")]
		if values := f.list("values"); !has || len(values) > 0 && !slices.Contains(values, value) {
			return false
		}
	}
	kinds := q.args.list("resourceTypeFilters")
	return len(kinds) == 0 || slices.ContainsFunc(kinds, func(kind string) bool { return arnIs(arn, kind) })
}

// arnIs reports whether an ARN is of a type such as ec2 or ec2:vpc.
func arnIs(arn, kind string) bool {
	service, resource, specific := strings.Cut(kind, ":")
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 || parts[2] != service {
		return false
	}
	return !specific || strings.HasPrefix(parts[5], resource+"/") || strings.HasPrefix(parts[5], resource+":")
}

// merged returns a copy of p with more over it.
func merged(p, more props) props {
	out := p.clone()
	maps.Copy(out, more)
	return out
}
