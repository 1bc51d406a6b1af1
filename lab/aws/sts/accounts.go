package sts

import (
	"net/http"
	"strings"

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
