// Package tagging is the Resource Groups Tagging API in the stand-in.
package tagging

import (
	"errors"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/resourcegroupstaggingapi"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/ec2"
	"tombolo/lab/aws/eks"
	"tombolo/lab/standin"
)

// Functions look up resources of all services by their tags.
func Functions() map[string]*standin.Function {
	return map[string]*standin.Function{
		"aws:resourcegroupstaggingapi/getResources:getResources": {SDK: resourcegroupstaggingapi.GetResources, Run: getResources},
	}
}

// unnamed make the ARNs of types that have none among their outputs.
var unnamed = map[string]func(c *standin.Cloud, r *standin.Record) string{
	ec2.NatType: func(c *standin.Cloud, r *standin.Record) string {
		return account.ARNIn(c, r.Region, "ec2", "natgateway/"+r.ID)
	},
	eks.PodIdentityType: func(_ *standin.Cloud, r *standin.Record) string { return r.Outputs.Str("associationArn") },
}

// getResources lists tagged resources. IAM's are not among them: the tagging
// API of a region knows roles and policies of none.
func getResources(q *standin.Query) (standin.Props, error) {
	if q.Args.Has("resourceArnLists") && (q.Args.Has("tagFilters") || q.Args.Has("resourceTypeFilters")) {
		return nil, errors.New("InvalidParameterException: ResourceARNList cannot be combined with other filters")
	}
	list := []any{}
	for _, r := range q.Cloud.All() {
		typ := q.Cloud.TypeOf(r.Type)
		if r.Gone() || r.Implied || typ == nil || !typ.Taggable() || typ.Adopted || r.Region != q.Region {
			continue
		}
		arn := r.Outputs.Str("arn")
		if made := unnamed[r.Type]; made != nil {
			arn = made(q.Cloud, r)
		}
		if wanted(q, arn, r.Outputs.Strs("tagsAll")) {
			list = append(list, map[string]any{
				"resourceArn": arn, "tags": r.Outputs["tagsAll"], "complianceDetails": []any{},
			})
		}
	}
	return standin.Props{"id": q.Region, "resourceTagMappingLists": list}, nil
}

func wanted(q *standin.Query, arn string, tags map[string]string) bool {
	if len(tags) == 0 || arn == "" {
		return false
	}
	if arns := q.Args.List("resourceArnLists"); len(arns) > 0 && !slices.Contains(arns, arn) {
		return false
	}
	for _, f := range q.Args.Objects("tagFilters") {
		value, has := tags[f.Str("key")]
		if values := f.List("values"); !has || len(values) > 0 && !slices.Contains(values, value) {
			return false
		}
	}
	kinds := q.Args.List("resourceTypeFilters")
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
