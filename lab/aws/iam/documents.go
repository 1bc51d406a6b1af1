package iam

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"

	"tombolo/lab/standin"
)

// Functions look up roles, sessions and identity providers.
func Functions() map[string]*standin.Function {
	return map[string]*standin.Function{
		"aws:iam/getRole:getRole": {SDK: iam.LookupRole, Run: func(q *standin.Query) (standin.Props, error) {
			r := q.Find(RoleType, q.Args.Str("name"))
			if r == nil {
				return nil, fmt.Errorf("reading IAM Role (%s): couldn't find resource", q.Args.Str("name"))
			}
			return standin.WithID(r), nil
		}},
		"aws:iam/getSessionContext:getSessionContext": {SDK: iam.GetSessionContext, Run: getSessionContext},
		"aws:iam/getOpenIdConnectProvider:getOpenIdConnectProvider": {SDK: iam.LookupOpenIdConnectProvider, Run: func(q *standin.Query) (standin.Props, error) {
			for r := range q.Cloud.Each(OIDCProviderType, standin.Global) {
				// internal/service/iam/openid_connect_provider_data_source.go compares what the ARN ends in
				_, url, _ := strings.Cut(r.ID, "/")
				if r.ID == q.Args.Str("arn") || url == strings.TrimPrefix(q.Args.Str("url"), "https://") {
					return standin.WithID(r), nil
				}
			}
			return nil, fmt.Errorf("finding IAM OIDC Provider by url (%s): not found", q.Args.Str("url"))
		}},
	}
}

// session is the ARN of an assumed role's session, which leaves the role's path out.
var session = regexp.MustCompile(`^arn:[a-z-]+:sts::\d{12}:assumed-role/([^/]+)/(.+)$`)

// getSessionContext finds the role behind a session. Source:
// internal/service/iam/session_context_data_source.go
func getSessionContext(q *standin.Query) (standin.Props, error) {
	arn := q.Args.Str("arn")
	parts := session.FindStringSubmatch(arn)
	if parts == nil {
		return standin.Props{"id": arn, "issuerArn": arn, "issuerId": "", "issuerName": "", "sessionName": ""}, nil
	}
	role := q.Find(RoleType, parts[1])
	if role == nil {
		return nil, fmt.Errorf("unable to get role (%s): couldn't find resource", parts[1])
	}
	return standin.Props{
		"id": arn, "issuerArn": role.Outputs.Str("arn"), "issuerId": role.Outputs.Str("uniqueId"), "issuerName": parts[1], "sessionName": parts[2],
	}, nil
}
