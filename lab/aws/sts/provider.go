package sts

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"tombolo/lab/aws/iam"
	"tombolo/lab/standin"
)

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
