// Package account is what all services of the AWS stand-in have in common: the
// account itself, its regions, its ARNs and ids, and how AWS words its errors.
package account

import (
	"fmt"

	"tombolo/lab/standin"
)

// ARNIn makes an ARN of the account.
func ARNIn(c *standin.Cloud, region, service, resource string) string {
	if service == "iam" {
		region = ""
	}
	return fmt.Sprintf("arn:%s:%s:%s:%s:%s", Partition(region), service, region, c.Account, resource)
}

// ARN makes an ARN in the region of a call.
func ARN(c *standin.Call, service, resource string) string {
	return ARNIn(c.Cloud, c.Region, service, resource)
}

// CallerARN is the ARN of the caller: the one user of the account, or of the account that
// the organisation's users are in.
func CallerARN(c *standin.Cloud, region string) string {
	if c.Caller != "" {
		return c.Caller
	}
	return fmt.Sprintf("arn:%s:iam::%s:user/tombolo", Partition(region), c.Account)
}

// UserID of the account's one user.
const UserID = "AIDATOMBOLOLABUSER000"
