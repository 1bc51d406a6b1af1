package sts

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tombolo/lab/aws/iam"
	"tombolo/lab/aws/policy"
	"tombolo/lab/aws/sigv4"
	"tombolo/lab/standin"
)

// Durations of a session. Source:
// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
const (
	usualSession    = time.Hour
	shortestSession = 15 * time.Minute
	// longestChained is for roles that are assumed by a role.
	longestChained = time.Hour
)

var (
	sessionName = regexp.MustCompile(`^[\w+=,.@-]{2,64}$`)
	roleARN     = regexp.MustCompile(`^arn:[a-z-]+:iam::\d{12}:role/[!-~]+$`)
)

// assumption is a request for a role's session.
type assumption struct {
	roleARN, session, externalID string
	duration                     time.Duration
	tags                         map[string]string
	transitive                   []string
}

// unserved are parameters that change what a session may do, or who may start
// it, in ways that the stand-in does not know.
var unserved = []string{"Policy", "PolicyArns.member.1.arn", "SerialNumber", "TokenCode", "SourceIdentity", "ProvidedContexts.member.1.ProviderArn"}

func readAssumption(form url.Values) (*assumption, error) {
	a := &assumption{
		roleARN: form.Get("RoleArn"), session: form.Get("RoleSessionName"), externalID: form.Get("ExternalId"),
		duration: usualSession, tags: map[string]string{},
	}
	for _, key := range unserved {
		if form.Has(key) {
			return nil, invalid("the AWS stand-in does not know the parameter %s", key)
		}
	}
	if !roleARN.MatchString(a.roleARN) {
		return nil, invalid("%s is invalid", a.roleARN)
	}
	if !sessionName.MatchString(a.session) {
		return nil, invalid(`1 validation error detected: Value '%s' at 'roleSessionName' failed to satisfy constraint: Member must satisfy regular expression pattern: [\w+=,.@-]*`, a.session)
	}
	if text := form.Get("DurationSeconds"); text != "" {
		seconds, err := strconv.Atoi(text)
		if a.duration = time.Duration(seconds) * time.Second; err != nil || a.duration < shortestSession {
			return nil, invalid("1 validation error detected: Value '%s' at 'durationSeconds' failed to satisfy constraint: Member must have value greater than or equal to 900", text)
		}
	}
	for i := 1; form.Has(fmt.Sprintf("Tags.member.%d.Key", i)); i++ {
		a.tags[form.Get(fmt.Sprintf("Tags.member.%d.Key", i))] = form.Get(fmt.Sprintf("Tags.member.%d.Value", i))
	}
	for i := 1; form.Has(fmt.Sprintf("TransitiveTagKeys.member.%d", i)); i++ {
		a.transitive = append(a.transitive, form.Get(fmt.Sprintf("TransitiveTagKeys.member.%d", i)))
	}
	return a, nil
}

// assumeRole starts a session of a role of an account, for a caller of it or of another
// one. In AWS, a trust policy that names a principal of the same account is enough; the lab
// asks for the caller's own permission as well, which is needed between accounts.
func assumeRole(c *standin.Cloud, who Caller, form url.Values) (*assumedRole, error) {
	a, err := readAssumption(form)
	if err != nil {
		return nil, err
	}
	for _, key := range who.transitive {
		if _, again := a.tags[key]; again {
			return nil, &Error{400, "InvalidParameterValue", "One of the specified transitive tag keys can't be set because it conflicts with a transitive tag key from the calling session."}
		}
		a.tags[key] = who.tags[key]
		a.transitive = append(a.transitive, key)
	}
	role := roleOf(c, a.roleARN)
	actions := []string{"sts:AssumeRole"}
	if len(a.tags) > 0 {
		actions = append(actions, "sts:TagSession")
	}
	for _, action := range actions {
		if !mayAssume(c, who, role, a, action) {
			return nil, &Error{403, "AccessDenied", fmt.Sprintf("User: %s is not authorized to perform: %s on resource: %s", who.arn, action, a.roleARN)}
		}
	}
	if who.Role != nil && a.duration > longestChained {
		return nil, invalid("The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining")
	}
	defer c.Lock()()
	return startSession(c, role, a)
}

func roleOf(c *standin.Cloud, arn string) *standin.Record {
	defer c.Lock()()
	return iam.RoleOf(c, arn)
}

func mayAssume(c *standin.Cloud, who Caller, role *standin.Record, a *assumption, action string) bool {
	if role == nil {
		return false
	}
	q := policy.Inquiry{Action: action, Resource: a.roleARN, Context: assumeContext(c, who, role, a), Principals: map[string][]string{
		"AWS": {accountOf(who.Principal), strings.Join(slices.Concat(strings.SplitN(who.Principal, ":", 6)[:5], []string{"root"}), ":"), who.Principal, who.arn},
	}}
	if q.Judge(policy.Trust, role.Inputs.Str("assumeRolePolicy")) != policy.Allowed {
		return false
	}
	if who.Role == nil {
		return true // the user is an administrator
	}
	return who.allowed(q)
}

// assumeContext are the condition keys of a call of AssumeRole. Source: "Actions,
// resources, and condition keys for AWS Security Token Service" in the Service
// Authorization Reference, and "AWS global condition context keys" in the IAM
// User Guide. Keys about networks are left out: the lab has none.
func assumeContext(c *standin.Cloud, who Caller, role *standin.Record, a *assumption) map[string][]string {
	kind := "User"
	if who.Role != nil {
		kind = "AssumedRole"
	}
	context := map[string][]string{
		"aws:principalarn": {who.Principal}, "aws:principalaccount": {accountOf(who.Principal)}, "aws:principaltype": {kind}, "aws:userid": {who.userID},
	}
	for key, value := range who.tags {
		context["aws:principaltag/"+strings.ToLower(key)] = []string{value}
	}
	if a.externalID != "" {
		context["sts:externalid"] = []string{a.externalID}
	}
	maps.Copy(context, sessionContext(c, role, a))
	return context
}

// sessionContext are the condition keys about the session that is asked for.
func sessionContext(c *standin.Cloud, role *standin.Record, a *assumption) map[string][]string {
	now := c.Now().UTC()
	context := map[string][]string{
		"sts:rolesessionname": {a.session}, "aws:resourceaccount": {c.Account}, "aws:securetransport": {"true"},
		"aws:currenttime": {now.Format(time.RFC3339)}, "aws:epochtime": {strconv.FormatInt(now.Unix(), 10)},
	}
	for key, value := range a.tags {
		context["aws:requesttag/"+strings.ToLower(key)] = []string{value}
		context["aws:tagkeys"] = append(context["aws:tagkeys"], key)
	}
	if len(a.transitive) > 0 {
		context["sts:transitivetagkeys"] = a.transitive
	}
	for key, value := range role.Outputs.Strs("tagsAll") {
		context["aws:resourcetag/"+strings.ToLower(key)] = []string{value}
		context["iam:resourcetag/"+strings.ToLower(key)] = []string{value}
	}
	return context
}

// startSession makes the credentials of a role.
func startSession(c *standin.Cloud, role *standin.Record, a *assumption) (*assumedRole, error) {
	if longest := time.Duration(role.Inputs.Integer("maxSessionDuration")) * time.Second; a.duration > longest {
		return nil, invalid("The requested DurationSeconds exceeds the MaxSessionDuration set for this role.")
	}
	id, expires := role.Outputs.Str("uniqueId"), c.Now().Add(a.duration)
	made := Begin(c, Temporary{Expires: expires, Role: role.ID, RoleID: id, Session: a.session, Tags: a.tags, Transitive: a.transitive})
	return &assumedRole{
		User:        assumedRoleUser{ID: id + ":" + a.session, Arn: sessionARN(role, a.session)},
		Credentials: newCredentials(made, expires),
	}, nil
}

// SessionOfRole starts a session of a role, as STS does for a job of a pipeline whose
// host has vouched for it: the lab has no such host, so the role's trust policy is not
// asked, but it has to let in somebody by OpenID Connect.
func SessionOfRole(c *standin.Cloud, arn, session string) (sigv4.Credentials, error) {
	defer c.Lock()()
	role := iam.RoleOf(c, arn)
	if role == nil || !strings.Contains(role.Inputs.Str("assumeRolePolicy"), "sts:AssumeRoleWithWebIdentity") {
		return sigv4.Credentials{}, &Error{403, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity on " + arn}
	}
	return Begin(c, Temporary{
		Expires: c.Now().Add(usualSession), Role: role.ID, RoleID: role.Outputs.Str("uniqueId"), Session: session,
	}), nil
}
