package iam

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/policy"
	"tombolo/lab/standin"
)

// JSONPolicy finds what the provider refuses before it asks IAM: a document
// that is no JSON object. A document given as an object becomes text.
func JSONPolicy(in standin.Props, key string) []standin.Problem {
	value, given := in[key]
	if !given || standin.HasUnknown(value) {
		return nil
	}
	if _, isText := value.(string); !isText {
		if text, err := json.Marshal(value); err == nil {
			in[key] = string(text)
		}
	}
	text := in.Str(key)
	var decoded map[string]any
	if err := json.Unmarshal([]byte(text), &decoded); err != nil {
		return []standin.Problem{{Path: key, Reason: fmt.Sprintf("%q contains an invalid JSON policy: %v", key, err)}}
	}
	return nil
}

// checkPolicy refuses a document with IAM's MalformedPolicyDocument. The
// messages are IAM's.
func checkPolicy(c *standin.Call, document string, kind policy.Kind) error {
	if message := Malformed(c, document, kind); message != "" {
		return c.Refuse(standin.Refusal{Code: "MalformedPolicyDocument", Message: message})
	}
	return nil
}

// Malformed says what IAM finds wrong with a document; nothing is empty.
func Malformed(c *standin.Call, document string, kind policy.Kind) string {
	return policy.Malformed(document, kind, func(kind, value string) bool { return principalExists(c, kind, value) })
}

// servicePrincipals are the services that roles of a cluster platform trust.
// Source: the AWS Service Authorization Reference.
var servicePrincipals = []string{
	"autoscaling", "backup", "cloudtrail", "codebuild", "delivery.logs", "ec2", "ecs-tasks", "eks", "eks-fargate-pods",
	"eks-nodegroup", "elasticfilesystem", "elasticloadbalancing", "events", "firehose", "glue", "guardduty", "kms", "lambda", "logs",
	"monitoring", "pods.eks", "rds", "s3", "secretsmanager", "sns", "spot", "sqs", "ssm", "states", "sts",
	"vpc-flow-logs",
}

var principalARN = regexp.MustCompile(`^arn:[a-z-]+:(iam|sts)::(\d{12}):(root|(?:role|user|federated-user|assumed-role)/(?:.*/)?([\w+=,.@-]+))$`)

func principalExists(c *standin.Call, kind, value string) bool {
	switch kind {
	case "Service":
		name := strings.TrimSuffix(strings.TrimSuffix(value, ".cn"), ".amazonaws.com")
		return name != value && (slices.Contains(servicePrincipals, name) || slices.Contains(servicePrincipals, strings.TrimSuffix(name, "."+c.Region)))
	case "Federated":
		return strings.Contains(value, ":oidc-provider/") || strings.Contains(value, ":saml-provider/") ||
			slices.Contains([]string{"cognito-identity.amazonaws.com", "accounts.google.com"}, value)
	case "CanonicalUser":
		return value != ""
	case "AWS":
		return value == "*" || accountID.MatchString(value) || iamPrincipalExists(c, value)
	default:
		return false
	}
}

var accountID = regexp.MustCompile(`^\d{12}$`)

// iamPrincipalExists believes in other accounts: IAM knows them, the stand-in
// does not.
func iamPrincipalExists(c *standin.Call, arn string) bool {
	m := principalARN.FindStringSubmatch(arn)
	if m == nil {
		return false
	}
	return m[2] != c.Cloud.Account || m[3] == "root" || arn == account.CallerARN(c.Cloud, c.Region) || c.Find(RoleType, arn) != nil ||
		strings.HasPrefix(m[3], "assumed-role/")
}

// Trusts reports whether a role's trust policy lets a service assume it with
// all of the actions.
func Trusts(role *standin.Record, service string, actions ...string) bool {
	var d policy.Document
	if policy.Decode([]byte(role.Inputs.Str("assumeRolePolicy")), &d) != nil {
		return false
	}
	var granted []string
	for _, s := range d.Statement {
		var principals map[string]policy.OneOrMany
		if s.Effect != "Allow" || json.Unmarshal(s.Principal, &principals) != nil {
			continue
		}
		for _, p := range principals["Service"] {
			if p == service {
				granted = append(granted, s.Action...)
			}
		}
	}
	for _, action := range actions {
		if !slices.Contains(granted, action) && !slices.Contains(granted, "sts:*") {
			return false
		}
	}
	return len(granted) > 0
}
