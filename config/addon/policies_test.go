package addon

import (
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

var sid = regexp.MustCompile(`^[A-Za-z0-9]+$`)

// TestPoliciesAreNarrow refuses actions with a bare * or every action of a
// service, and resources that are everything without a reason.
func TestPoliciesAreNarrow(t *testing.T) {
	statements := 0
	for _, a := range All() {
		for _, identity := range a.Needs(facts(), sampleOptions(t, a)).Identities {
			seen := map[string]bool{}
			for _, s := range identity.Statements {
				statements++
				if !sid.MatchString(s.Sid) || seen[s.Sid] {
					t.Errorf("%s, service account %s: statement %q needs a name of its own, in letters and digits", a.Name, identity.ServiceAccount, s.Sid)
				}
				seen[s.Sid] = true
				for _, problem := range tooWide(s) {
					t.Errorf("%s, service account %s, statement %s: %s", a.Name, identity.ServiceAccount, s.Sid, problem)
				}
			}
		}
	}
	assert.Check(t, statements != 0, "no addon has a policy")
}

// tooWide says what a statement allows too much.
func tooWide(s Statement) []string {
	var problems []string
	for _, action := range s.Actions {
		if strings.Contains(action, "*") {
			problems = append(problems, "the action "+action+" holds a *")
		}
		if service, name, ok := strings.Cut(action, ":"); !ok || service == "" || name == "" {
			problems = append(problems, "the action "+action+" is none")
		}
	}
	for _, resource := range s.Resources {
		if (everything(resource) || ofAKind.MatchString(resource)) && s.Reason == "" {
			problems = append(problems, "the resource "+resource+" means everything, and no reason is given")
		}
	}
	if !sentence.MatchString(s.Reason) && s.Reason != "" {
		problems = append(problems, "the reason is no sentence")
	}
	return problems
}

// ofAKind are all secrets, parameters, keys or tables that there are.
var ofAKind = regexp.MustCompile(`^arn:[^:]*:(dynamodb|kms|secretsmanager|ssm):[^:]*:[^:]*:[a-z-]+[:/]\*$`)

// everything says whether a resource is * or all of a service.
func everything(resource string) bool {
	parts := strings.SplitN(resource, ":", 6)
	return resource == "*" || len(parts) == 6 && strings.Trim(parts[5], "*/") == ""
}

func TestTooWide(t *testing.T) {
	for want, s := range map[string]Statement{
		"holds a *":            {Actions: []string{"s3:Get*"}, Resources: []string{"arn:aws:s3:::b/x"}},
		"is none":              {Actions: []string{"GetObject"}, Resources: []string{"arn:aws:s3:::b/x"}},
		"means everything":     {Actions: []string{"s3:GetObject"}, Resources: []string{"*"}},
		"arn:aws:s3:::* means": {Actions: []string{"s3:GetObject"}, Resources: []string{"arn:aws:s3:::*"}},
		"secret:* means":       {Actions: []string{"secretsmanager:GetSecretValue"}, Resources: []string{"arn:aws:secretsmanager:eu-central-1:111122223333:secret:*"}},
		"no sentence":          {Actions: []string{"s3:GetObject"}, Resources: []string{"*"}, Reason: "because"},
	} {
		if got := strings.Join(tooWide(s), "; "); !strings.Contains(got, want) {
			t.Errorf("problems %q, expected %q", got, want)
		}
	}
	good := Statement{Actions: []string{"ec2:DescribeSubnets"}, Resources: []string{"*"}, Reason: "It takes no resource."}
	if got := tooWide(good); len(got) > 0 {
		t.Errorf("a good statement has problems: %v", got)
	}
}
