package sts

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/iam"
	"tombolo/lab/aws/policy"
	"tombolo/lab/aws/sigv4"
	"tombolo/lab/standin"
)

// clockSkew is how far a signature's time may be from STS's own.
const clockSkew = 15 * time.Minute

// Temporary credentials are kept nowhere: like AWS's, their session token says
// all there is to know, and the account's key vouches for it. So they outlive a
// restart of the lab, and end when they expire.
type Temporary struct {
	AccessKeyID string    `json:"key"`
	Expires     time.Time `json:"expires"`
	// RoleID tells a role from another one that had its name before.
	Role    string `json:"role"`
	RoleID  string `json:"id"`
	Session string `json:"session"`
	// Tags of the session, and which of them go on to a session that is
	// started from this one.
	Tags       map[string]string `json:"tags,omitempty"`
	Transitive []string          `json:"transitive,omitempty"`
}

// Caller is the user or the session that signed a request.
type Caller struct {
	// home is the account that it is of.
	home *standin.Cloud
	// arn and userID are what GetCallerIdentity answers.
	arn, userID string
	// Principal is the ARN of the user or role itself.
	Principal string
	// Role is nil for the user.
	Role       *standin.Record
	Session    string
	tags       map[string]string
	transitive []string
}

// credentials of an access key: the secret follows from the key's id.
func credentials(c *standin.Cloud, accessKeyID string) sigv4.Credentials {
	secret := base64.StdEncoding.EncodeToString(c.Sign("secret access key", []byte(accessKeyID))[:30])
	return sigv4.Credentials{AccessKeyID: accessKeyID, SecretAccessKey: secret}
}

// UserCredentials are those of the account's one user, for good.
func UserCredentials(c *standin.Cloud) sigv4.Credentials {
	return credentials(c, fmt.Sprintf("AKIA%X", c.Sign("access key of the user", nil)[:8]))
}

// Begin a session: make its credentials.
func Begin(c *standin.Cloud, t Temporary) sigv4.Credentials {
	t.AccessKeyID = "ASIA" + rand.Text()[:16]
	out := credentials(c, t.AccessKeyID)
	payload, err := json.Marshal(t)
	if err != nil {
		panic(err) // strings and a time always marshal
	}
	out.SessionToken = base64.StdEncoding.EncodeToString(append(c.Sign("session", payload), payload...))
	return out
}

// SessionOf is the session that a token is of.
func SessionOf(c *standin.Cloud, token string) (Temporary, error) {
	var t Temporary
	data, err := base64.StdEncoding.DecodeString(token)
	if err != nil || len(data) < sha256.Size {
		return t, errors.New("it is no session token")
	}
	mac, payload := data[:sha256.Size], data[sha256.Size:]
	if !hmac.Equal(mac, c.Sign("session", payload)) {
		return t, errors.New("this account did not give it out")
	}
	return t, json.Unmarshal(payload, &t)
}

// Identify of a request to STS, which a right signature proves.
func Identify(c *standin.Cloud, r *http.Request, body []byte) (Caller, error) {
	region, _ := Region(r.Host)
	return identify(c, r, body, "sts", region)
}

// identify is Identify for a request to any service in a region.
func identify(c *standin.Cloud, r *http.Request, body []byte, service, region string) (Caller, error) {
	s, err := sigv4.Parse(r)
	if errors.Is(err, sigv4.ErrUnsigned) {
		return Caller{}, &Error{403, "MissingAuthenticationToken", "Request is missing Authentication Token"}
	}
	if err != nil {
		return Caller{}, &Error{400, "IncompleteSignature", err.Error()}
	}
	var session Temporary
	user := UserCredentials(c)
	if s.AccessKeyID != user.AccessKeyID || s.SessionToken != "" {
		if session, err = SessionOf(c, s.SessionToken); err != nil || session.AccessKeyID != s.AccessKeyID {
			return Caller{}, invalidToken()
		}
	}
	if s.Service != service || s.Region != region {
		return Caller{}, mismatch("Credential should be scoped to service " + service + " in a valid region.")
	}
	if !s.Verify(r, body, credentials(c, s.AccessKeyID).SecretAccessKey) {
		return Caller{}, mismatch("The request signature we calculated does not match the signature you provided. " +
			"Check your AWS Secret Access Key and signing method. Consult the service documentation for details.")
	}
	if err := fresh(c, s.Date); err != nil {
		return Caller{}, err
	}
	if session.AccessKeyID == "" {
		return theUser(c, s.Region), nil
	}
	return assumed(c, session)
}

// Cloud is the account that the caller is of.
func (who Caller) Cloud() *standin.Cloud { return who.home }

// ARN of the caller, as AWS's refusals name it.
func (who Caller) ARN() string { return who.arn }

// May says whether the caller's own policies allow an action on a resource of its account.
// context are the condition keys that the service adds, in lower case. The user is an
// administrator.
func (who Caller) May(action, resource string, context map[string][]string) bool {
	if who.Role == nil {
		return true
	}
	keys := map[string][]string{
		"aws:principalarn": {who.Principal}, "aws:principalaccount": {who.home.Account}, "aws:principaltype": {"AssumedRole"},
		"aws:userid": {who.userID}, "aws:resourceaccount": {who.home.Account}, "aws:securetransport": {"true"},
	}
	for key, value := range who.tags {
		keys["aws:principaltag/"+strings.ToLower(key)] = []string{value}
	}
	maps.Copy(keys, context)
	return who.allowed(policy.Inquiry{Action: action, Resource: resource, Context: keys})
}

// allowed asks the policies of the caller's role, and its boundary.
func (who Caller) allowed(q policy.Inquiry) bool {
	defer who.home.Lock()()
	if boundary := who.Role.Inputs.Str("permissionsBoundary"); boundary != "" && q.Judge(policy.Identity, iam.PolicyText(who.home, boundary)) != policy.Allowed {
		return false
	}
	return q.Judge(policy.Identity, iam.PoliciesOf(who.home, who.Role)...) == policy.Allowed
}

// callerOf are credentials that somebody holds, as a signed request would prove them.
func callerOf(c *standin.Cloud, by sigv4.Credentials) (Caller, error) {
	user := UserCredentials(c)
	if by == user {
		return theUser(c, c.Region), nil
	}
	session, err := SessionOf(c, by.SessionToken)
	if err != nil || session.AccessKeyID != by.AccessKeyID || by.SecretAccessKey != credentials(c, by.AccessKeyID).SecretAccessKey {
		return Caller{}, invalidToken()
	}
	return assumed(c, session)
}

// UserARN is the ARN of the account's one user.
func UserARN(c *standin.Cloud) string { return theUser(c, c.Region).Principal }

// theUser is the account's one user.
func theUser(c *standin.Cloud, region string) Caller {
	arn := account.CallerARN(c, region)
	return Caller{home: c, arn: arn, userID: account.UserID, Principal: arn}
}

func fresh(c *standin.Cloud, signed time.Time) error {
	const layout = "20060102T150405Z"
	now := c.Now().UTC()
	switch oldest, newest := now.Add(-clockSkew), now.Add(clockSkew); {
	case signed.Before(oldest):
		return mismatch(fmt.Sprintf("Signature expired: %s is now earlier than %s (%s - 15 min.)",
			signed.UTC().Format(layout), oldest.Format(layout), now.Format(layout)))
	case signed.After(newest):
		return mismatch(fmt.Sprintf("Signature not yet current: %s is still later than %s (%s + 15 min.)",
			signed.UTC().Format(layout), newest.Format(layout), now.Format(layout)))
	}
	return nil
}

// assumed is the caller of a session that still goes on, of a role that still
// exists.
func assumed(c *standin.Cloud, t Temporary) (Caller, error) {
	if !c.Now().Before(t.Expires) {
		return Caller{}, &Error{403, "ExpiredToken", "The security token included in the request is expired"}
	}
	defer c.Lock()()
	role := c.Find(iam.RoleType, standin.Global, t.Role)
	if role == nil || role.Outputs.Str("uniqueId") != t.RoleID {
		return Caller{}, invalidToken()
	}
	tags := role.Outputs.Strs("tagsAll")
	maps.Copy(tags, t.Tags)
	return Caller{
		home: c, arn: sessionARN(role, t.Session), userID: t.RoleID + ":" + t.Session, Principal: role.Outputs.Str("arn"),
		Role: role, Session: t.Session, tags: tags, transitive: slices.Clone(t.Transitive),
	}, nil
}

func invalidToken() error {
	return &Error{403, "InvalidClientTokenId", "The security token included in the request is invalid"}
}

func mismatch(message string) error { return &Error{403, "SignatureDoesNotMatch", message} }

// sessionARN names a session of a role. It leaves out the role's path.
func sessionARN(role *standin.Record, session string) string {
	parts := strings.Split(role.Outputs.Str("arn"), ":")
	return fmt.Sprintf("arn:%s:sts::%s:assumed-role/%s/%s", parts[1], parts[4], role.Outputs.Str("name"), session)
}
