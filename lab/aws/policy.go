package aws

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// policyKind is where a policy document is used.
type policyKind int

const (
	// identityPolicy says what its bearer may do.
	identityPolicy policyKind = iota
	// trustPolicy says who may assume a role.
	trustPolicy
	// resourcePolicy is attached to a resource, such as a key.
	resourcePolicy
)

// statement of a policy document. Unknown keys are syntax errors to IAM.
type statement struct {
	Sid          string
	Effect       string
	Principal    json.RawMessage
	NotPrincipal json.RawMessage
	Action       oneOrMany
	NotAction    oneOrMany
	Resource     oneOrMany
	NotResource  oneOrMany
	Condition    map[string]map[string]any
}

type policyDocument struct {
	Version   string
	Id        string //nolint:revive // IAM spells it so
	Statement statements
}

// oneOrMany is a string or a list of strings.
type oneOrMany []string

// UnmarshalJSON accepts a string or a list of strings.
func (o *oneOrMany) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*o = []string{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(o))
}

type statements []statement

// UnmarshalJSON accepts a statement or a list of statements.
func (s *statements) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		var one statement
		err := strict(data, &one)
		*s = []statement{one}
		return err
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	for _, r := range raw {
		var one statement
		if err := strict(r, &one); err != nil {
			return err
		}
		*s = append(*s, one)
	}
	return nil
}

func strict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// jsonPolicy finds what the provider refuses before it asks IAM: a document
// that is no JSON object. A document given as an object becomes text.
func jsonPolicy(in props, key string) []problem {
	value, given := in[key]
	if !given || hasUnknown(value) {
		return nil
	}
	if _, isText := value.(string); !isText {
		if text, err := json.Marshal(value); err == nil {
			in[key] = string(text)
		}
	}
	text := in.str(key)
	var decoded map[string]any
	if err := json.Unmarshal([]byte(text), &decoded); err != nil {
		return []problem{{key, fmt.Sprintf("%q contains an invalid JSON policy: %v", key, err)}}
	}
	return nil
}

// checkPolicy refuses a document with IAM's MalformedPolicyDocument. The
// messages are IAM's.
func (c *call) checkPolicy(document string, kind policyKind) error {
	if message := c.malformed(document, kind); message != "" {
		return c.refuse(refusal{code: "MalformedPolicyDocument", message: message})
	}
	return nil
}

func (c *call) malformed(document string, kind policyKind) string {
	var d policyDocument
	if err := strict([]byte(document), &d); err != nil {
		return "Syntax errors in policy."
	}
	if d.Version != "2012-10-17" && (kind != resourcePolicy || d.Version != "2008-10-17") {
		return "Policy document must be version 2012-10-17 or greater."
	}
	if len(d.Statement) == 0 {
		return "Syntax errors in policy."
	}
	sids := map[string]bool{}
	for _, s := range d.Statement {
		if s.Sid != "" && sids[s.Sid] {
			return "Statement IDs (SID) in a single policy must be unique."
		}
		sids[s.Sid] = true
		if message := c.badStatement(s, kind); message != "" {
			return message
		}
	}
	return ""
}

var (
	actionName = regexp.MustCompile(`^([a-z0-9-]+:[A-Za-z0-9*?]+|\*)$`)
	statementI = regexp.MustCompile(`^[A-Za-z0-9]*$`)
	arnShape   = regexp.MustCompile(`^arn:[^:]+:[^:]*:[^:]*:[^:]*:.+$`)
)

func (c *call) badStatement(s statement, kind policyKind) string {
	actions, resources := slices.Concat(s.Action, s.NotAction), slices.Concat(s.Resource, s.NotResource)
	switch {
	case s.Effect == "":
		return "Missing required field Effect cannot be empty!"
	case s.Effect != "Allow" && s.Effect != "Deny":
		return "Invalid effect: " + s.Effect
	case !statementI.MatchString(s.Sid) && kind != resourcePolicy:
		return "Statement IDs (SID) must be alpha-numeric. Check that your input satisfies the regular expression [0-9A-Za-z]*"
	case len(actions) == 0 && kind == trustPolicy:
		return "Missing required field Action"
	case len(actions) == 0:
		return "Policy statement must contain actions."
	}
	for _, action := range actions {
		if !actionName.MatchString(action) {
			return "Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc."
		}
		if kind == trustPolicy && !strings.HasPrefix(action, "sts:") {
			return "AssumeRole policy may only specify STS AssumeRole actions."
		}
	}
	if message := badCondition(s.Condition); message != "" {
		return message
	}
	if kind == identityPolicy {
		return badIdentity(s, resources)
	}
	if kind == trustPolicy && len(resources) > 0 {
		return "Has prohibited field Resource"
	}
	if s.Principal == nil && s.NotPrincipal == nil {
		return "Missing required field Principal"
	}
	return c.badPrincipal(s.Principal)
}

func badIdentity(s statement, resources []string) string {
	if s.Principal != nil || s.NotPrincipal != nil {
		return "Policy document should not specify a principal."
	}
	if len(resources) == 0 {
		return "Policy statement must contain resources."
	}
	for _, r := range resources {
		if r != "*" && !arnShape.MatchString(r) {
			return fmt.Sprintf("Resource %s must be in ARN format or \"*\".", r)
		}
	}
	return ""
}

// servicePrincipals are the services that roles of a cluster platform trust.
// Source: the AWS Service Authorization Reference.
var servicePrincipals = []string{
	"autoscaling", "backup", "cloudtrail", "codebuild", "delivery.logs", "ec2", "ecs-tasks", "eks", "eks-fargate-pods",
	"eks-nodegroup", "elasticfilesystem", "elasticloadbalancing", "events", "firehose", "glue", "guardduty", "kms", "lambda", "logs",
	"monitoring", "pods.eks", "rds", "s3", "secretsmanager", "sns", "spot", "sqs", "ssm", "states", "sts",
	"vpc-flow-logs",
}

// badPrincipal refuses principals of unknown shape, and of this account ones
// that do not exist.
func (c *call) badPrincipal(raw json.RawMessage) string {
	var all string
	if raw == nil || json.Unmarshal(raw, &all) == nil && all == "*" {
		return ""
	}
	var kinds map[string]oneOrMany
	if err := json.Unmarshal(raw, &kinds); err != nil || len(kinds) == 0 {
		return "Syntax errors in policy."
	}
	for _, kind := range sortedKeys(kinds) {
		for _, value := range kinds[kind] {
			if !c.principalExists(kind, value) {
				return fmt.Sprintf("Invalid principal in policy: %q:%q", strings.ToUpper(kind), value)
			}
		}
	}
	return ""
}

var principalARN = regexp.MustCompile(`^arn:[a-z-]+:(iam|sts)::(\d{12}):(root|(?:role|user|federated-user|assumed-role)/(?:.*/)?([\w+=,.@-]+))$`)

func (c *call) principalExists(kind, value string) bool {
	switch kind {
	case "Service":
		name := strings.TrimSuffix(strings.TrimSuffix(value, ".cn"), ".amazonaws.com")
		return name != value && (slices.Contains(servicePrincipals, name) || slices.Contains(servicePrincipals, strings.TrimSuffix(name, "."+c.region)))
	case "Federated":
		return strings.Contains(value, ":oidc-provider/") || strings.Contains(value, ":saml-provider/") ||
			slices.Contains([]string{"cognito-identity.amazonaws.com", "accounts.google.com"}, value)
	case "CanonicalUser":
		return value != ""
	case "AWS":
		return value == "*" || accountID.MatchString(value) || c.iamPrincipalExists(value)
	default:
		return false
	}
}

var accountID = regexp.MustCompile(`^\d{12}$`)

// iamPrincipalExists believes in other accounts: IAM knows them, the stand-in
// does not.
func (c *call) iamPrincipalExists(arn string) bool {
	m := principalARN.FindStringSubmatch(arn)
	if m == nil {
		return false
	}
	return m[2] != c.cloud.options.Account || m[3] == "root" || arn == c.cloud.callerARN(c.region) || c.find(roleType, arn) != nil ||
		strings.HasPrefix(m[3], "assumed-role/")
}

// trusts reports whether a role's trust policy lets a service assume it with
// all of the actions.
func trusts(role *record, service string, actions ...string) bool {
	var d policyDocument
	if strict([]byte(role.Inputs.str("assumeRolePolicy")), &d) != nil {
		return false
	}
	var granted []string
	for _, s := range d.Statement {
		var principals map[string]oneOrMany
		if s.Effect != "Allow" || json.Unmarshal(s.Principal, &principals) != nil {
			continue
		}
		for _, p := range principals["Service"] {
			if strings.TrimSuffix(strings.TrimSuffix(p, ".cn"), ".amazonaws.com") == service {
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
