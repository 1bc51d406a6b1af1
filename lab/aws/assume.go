package aws

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
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

// assumeRole starts a session of a role for somebody who has credentials. In
// AWS, a trust policy that names a principal of the same account is enough; the
// lab asks for the caller's own permission as well. It has one account, and
// plays clusters that have many: between accounts both are needed.
func (c *Cloud) assumeRole(who caller, form url.Values) (*assumedRole, error) {
	a, err := readAssumption(form)
	if err != nil {
		return nil, err
	}
	for _, key := range who.transitive {
		if _, again := a.tags[key]; again {
			return nil, &stsError{400, "InvalidParameterValue", "One of the specified transitive tag keys can't be set because it conflicts with a transitive tag key from the calling session."}
		}
		a.tags[key] = who.tags[key]
		a.transitive = append(a.transitive, key)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	role := c.roleOf(a.roleARN)
	actions := []string{"sts:AssumeRole"}
	if len(a.tags) > 0 {
		actions = append(actions, "sts:TagSession")
	}
	for _, action := range actions {
		if !c.mayAssume(who, role, a, action) {
			return nil, &stsError{403, "AccessDenied", fmt.Sprintf("User: %s is not authorized to perform: %s on resource: %s", who.arn, action, a.roleARN)}
		}
	}
	if who.role != nil && a.duration > longestChained {
		return nil, invalid("The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining")
	}
	return c.startSession(role, a)
}

// roleOf is the role of an ARN, or nil.
func (c *Cloud) roleOf(arn string) *record {
	if role := c.find(roleType, global, arn); role != nil && role.Outputs.str("arn") == arn {
		return role
	}
	return nil
}

// orphanTrust puts the unique id of a role that goes into the trust policies that
// name it, as IAM does: a later role of the same name is another one, which they
// do not trust until they are written anew.
func orphanTrust(c *call) error {
	before, after := strconv.Quote(c.r.Outputs.str("arn")), strconv.Quote(c.r.Outputs.str("uniqueId"))
	for r := range c.others() {
		document := r.Inputs.str("assumeRolePolicy")
		if !strings.Contains(document, before) {
			continue
		}
		orphan := r.clone()
		orphan.Inputs["assumeRolePolicy"] = strings.ReplaceAll(document, before, after)
		orphan.Outputs["assumeRolePolicy"] = orphan.Inputs["assumeRolePolicy"]
		if err := c.cloud.store.put(orphan); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cloud) mayAssume(who caller, role *record, a *assumption, action string) bool {
	if role == nil {
		return false
	}
	q := inquiry{action: action, resource: a.roleARN, context: c.assumeContext(who, role, a), principals: map[string][]string{
		"AWS": {c.options.Account, strings.Join(slices.Concat(strings.SplitN(who.principal, ":", 6)[:5], []string{"root"}), ":"), who.principal, who.arn},
	}}
	if q.judge(trustPolicy, role.Inputs.str("assumeRolePolicy")) != allowed {
		return false
	}
	if who.role == nil {
		return true // the user is an administrator
	}
	if boundary := who.role.Inputs.str("permissionsBoundary"); boundary != "" && q.judge(identityPolicy, c.policyText(boundary)) != allowed {
		return false
	}
	return q.judge(identityPolicy, c.policiesOf(who.role)...) == allowed
}

// assumeContext are the condition keys of a call of AssumeRole. Source: "Actions,
// resources, and condition keys for AWS Security Token Service" in the Service
// Authorization Reference, and "AWS global condition context keys" in the IAM
// User Guide. Keys about networks are left out: the lab has none.
func (c *Cloud) assumeContext(who caller, role *record, a *assumption) map[string][]string {
	kind := "User"
	if who.role != nil {
		kind = "AssumedRole"
	}
	context := map[string][]string{
		"aws:principalarn": {who.principal}, "aws:principalaccount": {c.options.Account}, "aws:principaltype": {kind}, "aws:userid": {who.userID},
	}
	for key, value := range who.tags {
		context["aws:principaltag/"+strings.ToLower(key)] = []string{value}
	}
	if a.externalID != "" {
		context["sts:externalid"] = []string{a.externalID}
	}
	maps.Copy(context, c.sessionContext(role, a))
	return context
}

// sessionContext are the condition keys about the session that is asked for.
func (c *Cloud) sessionContext(role *record, a *assumption) map[string][]string {
	now := c.now().UTC()
	context := map[string][]string{
		"sts:rolesessionname": {a.session}, "aws:resourceaccount": {c.options.Account}, "aws:securetransport": {"true"},
		"aws:currenttime": {now.Format(time.RFC3339)}, "aws:epochtime": {strconv.FormatInt(now.Unix(), 10)},
	}
	for key, value := range a.tags {
		context["aws:requesttag/"+strings.ToLower(key)] = []string{value}
		context["aws:tagkeys"] = append(context["aws:tagkeys"], key)
	}
	if len(a.transitive) > 0 {
		context["sts:transitivetagkeys"] = a.transitive
	}
	for key, value := range role.Outputs.strs("tagsAll") {
		context["aws:resourcetag/"+strings.ToLower(key)] = []string{value}
		context["iam:resourcetag/"+strings.ToLower(key)] = []string{value}
	}
	return context
}

// policiesOf are the documents of a role's own policies.
func (c *Cloud) policiesOf(role *record) []string {
	var out []string
	for _, inline := range role.Inputs.objects("inlinePolicies") {
		out = append(out, inline.str("policy"))
	}
	for r := range c.each(rolePolicyType, global) {
		if role.means(r.Inputs.str("role")) {
			out = append(out, r.Inputs.str("policy"))
		}
	}
	attached := role.Inputs.list("managedPolicyArns")
	for r := range c.each(attachmentType, global) {
		if role.means(r.Inputs.str("role")) {
			attached = append(attached, r.Inputs.str("policyArn"))
		}
	}
	for _, arn := range attached {
		out = append(out, c.policyText(arn))
	}
	return out
}

// policyText is the document of a managed policy. Of AWS's own, only those of
// administrators are about STS.
func (c *Cloud) policyText(arn string) string {
	if r := c.find(policyType, global, arn); r != nil {
		return r.Inputs.str("policy")
	}
	if strings.HasSuffix(arn, ":aws:policy/AdministratorAccess") || strings.HasSuffix(arn, ":aws:policy/PowerUserAccess") {
		return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:*","Resource":"*"}]}`
	}
	return ""
}

// startSession makes the credentials of a role.
func (c *Cloud) startSession(role *record, a *assumption) (*assumedRole, error) {
	if longest := time.Duration(role.Inputs.integer("maxSessionDuration")) * time.Second; a.duration > longest {
		return nil, invalid("The requested DurationSeconds exceeds the MaxSessionDuration set for this role.")
	}
	id, expires := role.Outputs.str("uniqueId"), c.now().Add(a.duration)
	made := c.begin(temporary{Expires: expires, Role: role.ID, RoleID: id, Session: a.session, Tags: a.tags, Transitive: a.transitive})
	return &assumedRole{
		User:        assumedRoleUser{ID: id + ":" + a.session, Arn: sessionARN(role, a.session)},
		Credentials: newCredentials(made, expires),
	}, nil
}

// sessionARN names a session of a role. It leaves out the role's path.
func sessionARN(role *record, session string) string {
	parts := strings.Split(role.Outputs.str("arn"), ":")
	return fmt.Sprintf("arn:%s:sts::%s:assumed-role/%s/%s", parts[1], parts[4], role.Outputs.str("name"), session)
}
