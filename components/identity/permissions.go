package identity

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"tombolo/components/policy"
)

// maxInlinePolicy is IAM's limit for all inline policies of a role together, in
// characters without white space. Source: "IAM and AWS STS quotas" in the IAM
// User Guide.
const maxInlinePolicy = 10240

// statementID is what IAM takes as the Sid of a statement.
var statementID = regexp.MustCompile(`^[A-Za-z0-9]*$`)

// Statement allows actions on resources.
type Statement struct {
	// Sid names the statement, in letters and digits, once in a policy. Empty
	// for no name.
	Sid string
	// Actions, such as s3:GetObject.
	Actions []string
	// Resources as ARNs.
	Resources []string
	// Conditions by operator and key, such as
	// {"StringEquals": {"aws:RequestTag/team": {"a", "b"}}}: one of the values
	// of each key has to match. Nil for none.
	Conditions map[string]map[string][]string
}

// Document is the policy that allows the statements, as JSON without white
// space.
func Document(statements []Statement) (string, error) {
	out := make([]policy.Statement, len(statements))
	for i, s := range statements {
		out[i] = policy.Statement{
			Sid: s.Sid, Effect: policy.Allow, Action: s.Actions, Resource: s.Resources, Condition: s.Conditions,
		}
	}
	return policy.Render(out...)
}

// checkStatements finds what IAM would refuse in statements for one role.
func checkStatements(statements []Statement) error {
	if len(statements) == 0 {
		return nil
	}
	var problems []error
	sids := map[string]bool{}
	for i, s := range statements {
		if len(s.Actions) == 0 || len(s.Resources) == 0 {
			problems = append(problems, fmt.Errorf("statement %d needs actions and resources", i+1))
		}
		if !statementID.MatchString(s.Sid) {
			problems = append(problems, fmt.Errorf("statement %d: Sid %q has more than letters and digits", i+1, s.Sid))
		}
		if s.Sid != "" && sids[s.Sid] {
			problems = append(problems, fmt.Errorf("statement %d: Sid %q is given twice", i+1, s.Sid))
		}
		sids[s.Sid] = true
		problems = append(problems, emptyConditions(i+1, s.Conditions))
	}
	document, err := Document(statements)
	if n := utf8.RuneCountInString(document); n > maxInlinePolicy {
		err = fmt.Errorf("the statements make a policy of %d characters; IAM allows a role %d: "+
			"move some to a managed policy and give its ARN", n, maxInlinePolicy)
	}
	return errors.Join(append(problems, err)...)
}

// emptyConditions finds a key without values, which IAM takes and which never
// matches.
func emptyConditions(number int, conditions map[string]map[string][]string) error {
	var problems []error
	for _, operator := range slices.Sorted(maps.Keys(conditions)) {
		keys := conditions[operator]
		if len(keys) == 0 {
			problems = append(problems, fmt.Errorf("statement %d: condition %s has no keys", number, operator))
		}
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			if len(keys[key]) == 0 {
				problems = append(problems, fmt.Errorf("statement %d: condition %s of %s has no values", number, operator, key))
			}
		}
	}
	return errors.Join(problems...)
}

const (
	stsAudience    = "sts.amazonaws.com"
	podIdentity    = "pods.eks.amazonaws.com"
	assumeRole     = "sts:AssumeRole"
	assumeWithOIDC = "sts:AssumeRoleWithWebIdentity"
	tagSession     = "sts:TagSession"
)

// WebIdentityTrust trusts the tokens of service accounts of one namespace, made
// for STS. Both conditions matter: without sub any pod of the cluster could assume the role,
// without aud a token made for another audience could.
func WebIdentityTrust(providerARN, issuer, namespace string, serviceAccounts []string) (string, error) {
	host := strings.TrimPrefix(issuer, "https://")
	if host == "" {
		return "", fmt.Errorf("OIDC issuer %q has no host", issuer)
	}
	var subjects []string
	for _, account := range serviceAccounts {
		subjects = append(subjects, "system:serviceaccount:"+namespace+":"+account)
	}
	return policy.Render(policy.Statement{
		Effect:    policy.Allow,
		Principal: map[string]string{"Federated": providerARN},
		Action:    []string{assumeWithOIDC},
		Condition: policy.Conditions{"StringEquals": {
			host + ":aud": {stsAudience},
			host + ":sub": subjects,
		}},
	})
}

// podIdentityTrust trusts EKS Pod Identity on behalf of one cluster. The
// service tags its sessions, hence TagSession; which service account gets the
// role is said by the association.
func podIdentityTrust(account, clusterARN string) (string, error) {
	return policy.Render(policy.Statement{
		Effect:    policy.Allow,
		Principal: policy.Service(podIdentity),
		Action:    []string{assumeRole, tagSession},
		Condition: policy.Conditions{
			"ArnEquals":    {"aws:SourceArn": {clusterARN}},
			"StringEquals": {"aws:SourceAccount": {account}},
		},
	})
}

// ServiceTrust trusts AWS services, such as eks.amazonaws.com, which may tag their sessions
// where it is told.
func ServiceTrust(services []string, tags bool) (string, error) {
	actions := []string{assumeRole}
	if tags {
		actions = append(actions, tagSession)
	}
	statements := make([]policy.Statement, len(services))
	for i, service := range services {
		statements[i] = policy.Statement{Effect: policy.Allow, Principal: policy.Service(service), Action: actions}
	}
	return policy.Render(statements...)
}
