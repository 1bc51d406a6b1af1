package aws

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
	"time"

	"tombolo/lab/aws/sigv4"
)

// clockSkew is how far a signature's time may be from STS's own.
const clockSkew = 15 * time.Minute

// temporary credentials are kept nowhere: like AWS's, their session token says
// all there is to know, and the account's key vouches for it. So they outlive a
// restart of the lab, and end when they expire.
type temporary struct {
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

// caller is who signed a request.
type caller struct {
	// arn and userID are what GetCallerIdentity answers.
	arn, userID string
	// principal is the ARN of the user or role itself.
	principal string
	// role is nil for the user.
	role       *record
	session    string
	tags       map[string]string
	transitive []string
}

// vouch is the account's signature on something that it gave out.
func (c *Cloud) vouch(purpose string, data []byte) []byte {
	h := hmac.New(sha256.New, c.secret)
	h.Write([]byte(purpose + "\n"))
	h.Write(data)
	return h.Sum(nil)
}

// credentials of an access key: the secret follows from the key's id.
func (c *Cloud) credentials(accessKeyID string) sigv4.Credentials {
	secret := base64.StdEncoding.EncodeToString(c.vouch("secret access key", []byte(accessKeyID))[:30])
	return sigv4.Credentials{AccessKeyID: accessKeyID, SecretAccessKey: secret}
}

// userCredentials are those of the account's one user, for good.
func (c *Cloud) userCredentials() sigv4.Credentials {
	return c.credentials(fmt.Sprintf("AKIA%X", c.vouch("access key of the user", nil)[:8]))
}

// begin a session: make its credentials.
func (c *Cloud) begin(t temporary) sigv4.Credentials {
	t.AccessKeyID = "ASIA" + rand.Text()[:16]
	out := c.credentials(t.AccessKeyID)
	payload, err := json.Marshal(t)
	if err != nil {
		panic(err) // strings and a time always marshal
	}
	out.SessionToken = base64.StdEncoding.EncodeToString(append(c.vouch("session", payload), payload...))
	return out
}

// session that a token is of.
func (c *Cloud) sessionOf(token string) (temporary, error) {
	var t temporary
	data, err := base64.StdEncoding.DecodeString(token)
	if err != nil || len(data) < sha256.Size {
		return t, errors.New("it is no session token")
	}
	mac, payload := data[:sha256.Size], data[sha256.Size:]
	if !hmac.Equal(mac, c.vouch("session", payload)) {
		return t, errors.New("this account did not give it out")
	}
	return t, json.Unmarshal(payload, &t)
}

// caller of a request, which a right signature proves.
func (c *Cloud) caller(r *http.Request, body []byte) (caller, error) {
	s, err := sigv4.Parse(r)
	if errors.Is(err, sigv4.ErrUnsigned) {
		return caller{}, &stsError{403, "MissingAuthenticationToken", "Request is missing Authentication Token"}
	}
	if err != nil {
		return caller{}, &stsError{400, "IncompleteSignature", err.Error()}
	}
	var session temporary
	user := c.userCredentials()
	if s.AccessKeyID != user.AccessKeyID || s.SessionToken != "" {
		if session, err = c.sessionOf(s.SessionToken); err != nil || session.AccessKeyID != s.AccessKeyID {
			return caller{}, invalidToken()
		}
	}
	if region, _ := stsRegion(r.Host); s.Service != "sts" || s.Region != region {
		return caller{}, mismatch("Credential should be scoped to service sts in a valid region.")
	}
	if !s.Verify(r, body, c.credentials(s.AccessKeyID).SecretAccessKey) {
		return caller{}, mismatch("The request signature we calculated does not match the signature you provided. " +
			"Check your AWS Secret Access Key and signing method. Consult the service documentation for details.")
	}
	if err := c.fresh(s.Date); err != nil {
		return caller{}, err
	}
	if session.AccessKeyID == "" {
		arn := c.callerARN(s.Region)
		return caller{arn: arn, userID: userID, principal: arn}, nil
	}
	return c.assumed(session)
}

// userID of the account's one user.
const userID = "AIDATOMBOLOLABUSER000"

func (c *Cloud) fresh(signed time.Time) error {
	const layout = "20060102T150405Z"
	now := c.now().UTC()
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
func (c *Cloud) assumed(t temporary) (caller, error) {
	if !c.now().Before(t.Expires) {
		return caller{}, &stsError{403, "ExpiredToken", "The security token included in the request is expired"}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	role := c.find(roleType, global, t.Role)
	if role == nil || role.Outputs.str("uniqueId") != t.RoleID {
		return caller{}, invalidToken()
	}
	tags := role.Outputs.strs("tagsAll")
	maps.Copy(tags, t.Tags)
	return caller{
		arn: sessionARN(role, t.Session), userID: t.RoleID + ":" + t.Session, principal: role.Outputs.str("arn"),
		role: role, session: t.Session, tags: tags, transitive: slices.Clone(t.Transitive),
	}, nil
}

func invalidToken() error {
	return &stsError{403, "InvalidClientTokenId", "The security token included in the request is invalid"}
}

func mismatch(message string) error { return &stsError{403, "SignatureDoesNotMatch", message} }
