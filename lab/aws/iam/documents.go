package iam

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"

	"tombolo/lab/aws/account"
	"tombolo/lab/standin"
)

// Functions look up roles and identity providers, and write policy documents.
func Functions() map[string]*standin.Function {
	return map[string]*standin.Function{
		"aws:iam/getPolicyDocument:getPolicyDocument": {SDK: iam.GetPolicyDocument, Run: getPolicyDocument},
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

// getPolicyDocument writes statements as a policy document.
func getPolicyDocument(q *standin.Query) (standin.Props, error) {
	for _, key := range []string{"overrideJson", "overridePolicyDocuments", "sourceJson", "sourcePolicyDocuments"} {
		if q.Args.Has(key) {
			return nil, fmt.Errorf("the AWS stand-in does not merge policy documents (%s)", key)
		}
	}
	list := []any{}
	for _, s := range q.Args.Objects("statements") {
		list = append(list, documentStatement(s))
	}
	version := q.Args.Str("version")
	if version == "" {
		version = "2012-10-17"
	}
	doc := map[string]any{"Version": version, "Statement": list}
	if id := q.Args.Str("policyId"); id != "" {
		doc["Id"] = id
	}
	pretty, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, err
	}
	small, err := json.Marshal(doc)
	return standin.Props{"id": fmt.Sprint(account.Hashed(string(small))), "json": string(pretty), "minifiedJson": string(small)}, err
}

func documentStatement(s standin.Props) map[string]any {
	out := map[string]any{"Effect": "Allow"}
	if e := s.Str("effect"); e != "" {
		out["Effect"] = e
	}
	if sid := s.Str("sid"); sid != "" {
		out["Sid"] = sid
	}
	for from, to := range map[string]string{"actions": "Action", "notActions": "NotAction", "resources": "Resource", "notResources": "NotResource"} {
		if list := s.List(from); len(list) > 0 {
			out[to] = single(list)
		}
	}
	for from, to := range map[string]string{"principals": "Principal", "notPrincipals": "NotPrincipal"} {
		principals := map[string]any{}
		for _, p := range s.Objects(from) {
			principals[p.Str("type")] = single(p.List("identifiers"))
		}
		if len(principals) > 0 {
			out[to] = principals
		}
	}
	conditions := map[string]any{}
	for _, c := range s.Objects("conditions") {
		test, _ := conditions[c.Str("test")].(map[string]any)
		if test == nil {
			test = map[string]any{}
			conditions[c.Str("test")] = test
		}
		test[c.Str("variable")] = single(c.List("values"))
	}
	if len(conditions) > 0 {
		out["Condition"] = conditions
	}
	return out
}

func single(list []string) any {
	if len(list) == 1 {
		return list[0]
	}
	return standin.Values(list...)
}
