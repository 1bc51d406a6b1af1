package sts

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"tombolo/lab/aws/iam"
	"tombolo/lab/aws/sigv4"
	"tombolo/lab/standin"
)

// Accounts are those that one Security Token Service knows. There is at least one, and the
// first stands for all that are not there: it refuses, as AWS does for an account that does
// not exist.
type Accounts []*standin.Cloud

// Of is the account of an ARN.
func (a Accounts) Of(arn string) *standin.Cloud {
	if parts := strings.SplitN(arn, ":", 6); len(parts) == 6 {
		for _, c := range a {
			if c.Account == parts[4] {
				return c
			}
		}
	}
	return a[0]
}

// issuer is the account that gave credentials out.
func (a Accounts) issuer(accessKeyID, sessionToken string) *standin.Cloud {
	for _, c := range a {
		if sessionToken == "" && accessKeyID == UserCredentials(c).AccessKeyID {
			return c
		}
		if _, err := SessionOf(c, sessionToken); sessionToken != "" && err == nil {
			return c
		}
	}
	return a[0]
}

// signer is the account whose credentials signed a request.
func (a Accounts) signer(r *http.Request) *standin.Cloud {
	if s, err := sigv4.Parse(r); err == nil {
		return a.issuer(s.AccessKeyID, s.SessionToken)
	}
	return a[0]
}

// Identify of a request to a service in a region, which a right signature proves.
func (a Accounts) Identify(r *http.Request, body []byte, service, region string) (Caller, error) {
	return identify(a.signer(r), r, body, service, region)
}

// Holder is whoever holds credentials; the first account's user without any.
func (a Accounts) Holder(by sigv4.Credentials) (Caller, error) {
	if by.AccessKeyID == "" {
		return theUser(a[0], a[0].Region), nil
	}
	return callerOf(a.issuer(by.AccessKeyID, by.SessionToken), by)
}

// Assume starts a session of a role, as AssumeRole does for a holder of credentials.
func (a Accounts) Assume(by sigv4.Credentials, role Role) (sigv4.Credentials, error) {
	who, err := callerOf(a.issuer(by.AccessKeyID, by.SessionToken), by)
	if err != nil {
		return sigv4.Credentials{}, err
	}
	result, err := assumeRole(a.Of(role.ARN), who, role.form())
	if err != nil {
		return sigv4.Credentials{}, err
	}
	made := result.Credentials
	return sigv4.Credentials{AccessKeyID: made.AccessKeyID, SecretAccessKey: made.SecretAccessKey, SessionToken: made.SessionToken}, nil
}

// Role is a role that somebody asks for a session of.
type Role struct {
	// ARN of the role, Session its session's name, ExternalID what its trust policy may ask
	// for.
	ARN        string `json:"arn"`
	Session    string `json:"session"`
	ExternalID string `json:"externalId"`
}

func (r Role) form() url.Values {
	form := url.Values{"RoleArn": {r.ARN}, "RoleSessionName": {r.Session}}
	if r.ExternalID != "" {
		form.Set("ExternalId", r.ExternalID)
	}
	return form
}

// providerSession is the name of the provider's sessions where its configuration has none.
const providerSession = "pulumi-aws"

// ProviderARN is the ARN that a provider acts as when its configuration has it assume a
// role; "" when it assumes none. The error is that of the provider: CannotAssumeRoleError of
// hashicorp/aws-sdk-go-base.
func ProviderARN(c *standin.Cloud, config standin.Props) (string, error) {
	wanted := config.Sub("assumeRole")
	role := Role{ARN: wanted.Str("roleArn"), Session: cmp.Or(wanted.Str("sessionName"), providerSession), ExternalID: wanted.Str("externalId")}
	if role.ARN == "" {
		return "", nil
	}
	if _, err := assumeRole(c, theUser(c, c.Region), role.form()); err != nil {
		return "", fmt.Errorf("Cannot assume IAM Role: IAM Role (%s) cannot be assumed.\n\n"+ //nolint:staticcheck // the provider's own words
			"There are a number of possible causes of this - the most common are:\n"+
			"  * The credentials used in order to assume the role are invalid\n"+
			"  * The credentials do not have appropriate permission to assume the role\n"+
			"  * The role ARN is not valid\n\nError: operation error STS: AssumeRole, %w", role.ARN, err)
	}
	defer c.Lock()()
	return sessionARN(iam.RoleOf(c, role.ARN), role.Session), nil
}

// accountOf is the account of an ARN.
func accountOf(arn string) string { return strings.SplitN(arn, ":", 6)[4] }
